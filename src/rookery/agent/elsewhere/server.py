"""The client of an agent server: its health, and requests about one conversation."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from rookery.agent.elsewhere.requests import Requests
from rookery.agent.process.place import Place
from rookery.core.json import Json, lenient
from rookery.models.secrets import Secret

HEADER = ("X-Session-API-Key", "")
SUBDIRECTORIES = "/api/file/search_subdirs"
PLUGINS = (".agents/plugins", ".openhands/plugins")
PAGE = 100
"""Events in an answer: the server's most."""


class AgentServer(Requests):
    def __init__(self, place: Place, url: str, key: Secret) -> None:
        super().__init__(place, url, key, HEADER)
        self.key = key

    def check(self) -> Json:
        """Check the key and return what the server reports about itself. Raises ActionableError."""
        if self.get("/api/conversations/count", missing=True) is None:
            raise self.foreign()
        reply = self.get("/server_info", missing=True)
        if not isinstance(reply, dict):
            raise self.foreign()
        return reply

    def uptime(self) -> float:
        """Return the server's uptime in seconds. Raises ActionableError."""
        return float(lenient.number(self.get("/server_info"), "uptime") or 0)

    def conversation(self, id: str) -> Json | None:
        """Return a conversation; None if the server has none with this id."""
        reply = self.get(f"/api/conversations/{id}", missing=True)
        return reply if isinstance(reply, dict) else None

    def plugins(self, directory: str) -> str:
        """Return where plugins lie that the server would run with a conversation in this directory;
        "" if nowhere. It looks in the directory and in its repository, which may be any of its
        parents."""
        places = [PurePosixPath(directory), *PurePosixPath(directory).parents]
        for folder in (str(place / name) for place in places for name in PLUGINS):
            asked: Json = {"path": folder, "limit": 1}
            if self.get(SUBDIRECTORIES, missing=True, also=(400,), params=asked) is not None:
                return folder
        return ""

    def tell(self, id: str, what: str, body: Json | None = None) -> Any:
        return self.post(f"/api/conversations/{id}/{what}", body)

    def events(self, id: str, since: str = "") -> Iterator[Json]:
        """Yield event `since` and those after it, in order; all if that event is not known."""
        asked: Json = {"limit": PAGE, "sort_order": "TIMESTAMP"}
        page = since
        while True:
            more = {"page_id": page} if page else {}
            reply = self.get(f"/api/conversations/{id}/events/search", params=asked | more)
            yield from lenient.mappings(reply, "items")
            before, page = page, lenient.text(reply, "next_page_id")
            if not page or page == before:
                return
