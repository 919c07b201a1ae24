"""The same search on another machine, by its daemon."""

from rookery.client.daemon.errors import RemoteError
from rookery.client.daemon.remote import Door
from rookery.search.query import Answer, Filters, Hit
from rookery.search.snippets import Snippet
from rookery.search.update import Progress


def query(door: Door, words: str, filters: Filters, limit: int) -> tuple[Progress, Answer]:
    """Paths are those of that machine. Raises RemoteError."""
    given = filters._asdict() | {"limit": limit, "since": filters.since or None}
    given["in"] = given.pop("directory")
    said = door.json("GET", "/api/search", query={"q": words, **given})
    hits = [
        Hit(
            **{key: row[key] for key in Hit._fields if key != "snippet"},
            snippet=Snippet(row["text"], tuple((start, end) for start, end in row["marks"])),
        )
        for row in said["hits"]
    ]
    return Progress(done=said["whole"]), Answer(hits, said["more"], said["problem"])


def answer(door: Door, words: str, limit: int) -> Answer:
    """Why there is none is its problem."""
    try:
        return query(door, words, Filters(), limit)[1]
    except RemoteError as error:
        return Answer([], problem=error.sentences)
