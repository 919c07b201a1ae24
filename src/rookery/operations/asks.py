"""The open questions of agents, which wait for the user."""

from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from rookery.core.json import Json, lenient
from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, read

if TYPE_CHECKING:
    from rookery.core.blocks import Block

Only = Annotated[str, Arg("Those of this session alone.", max_length=64, typed=False)]

OF_THE_ASK = ("message", "schema", "toolCall", "url")


class _Option(TypedDict):
    number: int
    id: str
    name: str
    kind: str


class AskOption(_Option, total=False):
    disabled: Annotated[str, "Why it cannot be chosen."]


class _OpenAsk(TypedDict):
    session: str
    title: str
    agent: str
    cwd: str
    awake: Annotated[bool, "Whether the session has a worker; an answer wakes it."]
    number: Annotated[int, "From 1 within the session, the oldest first."]
    ask: Annotated[str, "Its id, for an answer."]
    kind: Annotated[str | None, "`question`, or what is asked for."]
    at: Annotated[int, "Since when it waits, in milliseconds since the epoch."]
    danger: Annotated[str, "What cannot be undone about it; empty: nothing is known."]
    options: list[AskOption]
    answered: Annotated[bool, "Whether it is answered, and waits for the agent."]
    state: Annotated[dict[str, Any], "The ask as the session's header has it."]
    block: Annotated[dict[str, Any] | None, "As the transcript shows it."]


class OpenAsk(_OpenAsk, total=False):
    always: Annotated[list[str], "Rules that an answer for all time may add."]
    what: Annotated[str, "What will run."]
    called: Annotated[str, "What the agent calls it, if that differs."]
    does: Annotated[list[dict[str, Any]], "All that will run, in full."]
    message: str
    schema: dict[str, Any]
    toolCall: dict[str, Any]
    url: str


class OpenAsks(TypedDict):
    asks: Annotated[list[OpenAsk], "The longest waiting first."]
    skipped: Annotated[list[str], "Sessions that cannot be read."]


@read(
    "Open questions",
    on="rookery",
    group="Look",
    examples=("", "--json | jq -r 'select(.danger == \"\").session'"),
)
def asks(at: At, session_: Only = "") -> OpenAsks:
    """List open questions from all agents. It says how long they wait and how to answer them.

    Sleeping sessions are included: an answer wakes them.
    """
    from rookery.client import fleet
    from rookery.log.errors import LogError

    if session_:
        head = fleet.head_of_session(at.home, session_)
        if head is None:
            raise fleet.UnknownSession(session_)
        return {"asks": _open_asks(at.home, head), "skipped": []}
    found, skipped = list[Any](), list[str]()
    for head in fleet.heads(at.home):
        try:
            found += _open_asks(at.home, head) if head["asks"] else []
        except (LogError, OSError):
            skipped.append(head["id"])
            continue
        skipped += [head["id"]] if head.get("damaged") else []
    return {"asks": sorted(found, key=lambda each: each["at"]), "skipped": skipped}


def _open_asks(home: str, head: Json) -> list[Any]:
    """A session's asks, oldest first. Raises LogError."""
    from rookery.client.reading import excerpt
    from rookery.core.agent.names import agent_name
    from rookery.core.blocks.document import join
    from rookery.home import paths
    from rookery.log.errors import LogError
    from rookery.log.reader import Reader

    session = str(head["id"])
    with Reader.open(paths.session_dir(home, session)) as log:
        document = excerpt(log).document
        header, blocks = document.header, dict(document.blocks)
        if not header["id"]:
            raise LogError(f"The log of {session} has lost its first event.")
        for ask in header["asks"].values():
            if ask["block"] not in blocks:  # from an earlier turn
                n = int(ask["block"].partition(".")[0])
                earlier = excerpt(log, log.first_seq(n + 1) - 1).document
                blocks |= join(earlier, document).blocks
    known = {"session": session, "title": head["title"], "agent": agent_name(header)}
    known |= {"cwd": header["cwd"], "awake": head["awake"]}
    return [
        {**known, "number": number, **_shown({**ask, "id": name}, blocks.get(ask["block"]))}
        for number, (name, ask) in enumerate(header["asks"].items(), 1)
    ]


def _shown(ask: Json, block: "Block | None") -> Json:
    from rookery.core.asks.asks import options_of

    disabled = [action.get("disabled", "") for action in block["actions"]] if block else []
    options = [
        {"number": number, "id": option["optionId"], "name": lenient.text(option, "name")}
        | {"kind": lenient.text(option, "kind")}
        | ({"disabled": why} if (why := dict(enumerate(disabled, 1)).get(number)) else {})
        for number, option in enumerate(options_of(ask), 1)
    ]
    about: Json = {"ask": ask["id"], "kind": ask.get("kind"), "at": ask["at"]}
    about |= {"danger": lenient.text(ask, "danger"), "options": options}
    about |= {"answered": "given" in ask, "state": ask, "block": block}
    about |= {"always": each} if (each := lenient.texts(ask, "alwaysChoices")) else {}
    about |= _runs(block) if block else {}
    return about | {key: ask[key] for key in OF_THE_ASK if key in ask}


def _runs(block: "Block") -> Json:
    from rookery.core.blocks import asks as asking

    items = [
        {"what": item.what, "call": item.call, "text": item.text}
        | ({"old": item.part["old"], "new": item.part["new"]} if item.part else {})
        for item in asking.items(block)
    ]
    what = items[0]["text"] if items else block["title"]
    return {"what": what, "called": block.get("called", ""), "does": items}
