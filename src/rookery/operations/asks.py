"""The agents' open questions, which wait for the user."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from rookery.core.json import Json
from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, command, read

if TYPE_CHECKING:
    from rookery.core.ask import Ask as Asked
    from rookery.core.blocks import Block

Ask = Annotated[
    str, Arg("The ask's id, from the header.", max_length=500, pattern=r"\S", reason="no_ask")
]
Nonce = Annotated[
    str, Arg("The ask's nonce; left out: that of the open ask with this id.", max_length=200)
]
Chosen = Annotated[
    str,
    Arg(
        "One of its options, by its id, or y (allow once), n (reject), a (always) or d (later).",
        max_length=500,
    ),
]
Reason = Annotated[str, Arg("The reason, sent to the agent.", max_length=100_000)]
Confirm = Annotated[bool, Arg("Allow what cannot be undone.")]
Always = Annotated[
    bool | int, Arg("Allow it and save a rule: true, or the number of the rule, from 1.", 0, 1000)
]
Action = Annotated[Literal["", "accept", "decline", "cancel"], Arg("For a form.")]
Content = Annotated[dict[str, Any] | None, Arg("The form's fields, with `accept`.")]
Cancel = Annotated[bool, Arg("Answer a permission request with no option.")]
Defer = Annotated[bool, Arg("Leave it open for later.")]

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
    rows, skipped = list[Any](), list[str]()
    for head in fleet.heads(at.home):
        try:
            rows += _open_asks(at.home, head) if head["asks"] else []
        except (LogError, OSError):
            skipped.append(head["id"])
            continue
        skipped += [head["id"]] if head.get("damaged") else []
    return {"asks": sorted(rows, key=lambda each: each["at"]), "skipped": skipped}


def _open_asks(home: str, head: Json) -> list[Any]:
    """Return a session's asks, oldest first. Raises LogError."""
    from rookery.client.reading import excerpt
    from rookery.core.agent.names import agent_name
    from rookery.core.ask import asks_of
    from rookery.core.blocks.document import join
    from rookery.home import paths
    from rookery.log.errors import LogError
    from rookery.log.reader import Reader

    session = str(head["id"])
    with Reader.open(paths.session_dir(home, session)) as log:
        document = excerpt(log).document
        header, blocks = document.header, dict(document.blocks)
        if not header.id:
            raise LogError(f"The log of {session} has lost its first event.")
        asks = asks_of(header).values()
        for ask in asks:
            if ask.block not in blocks:  # from an earlier turn
                n = int(ask.block.partition(".")[0])
                earlier = excerpt(log, log.first_seq(n + 1) - 1).document
                blocks |= join(earlier, document).blocks
    known = {"session": session, "title": head["title"], "agent": agent_name(header)}
    known |= {"cwd": header.cwd, "awake": head["awake"]}
    return [
        {**known, "number": number, **_shown(ask, blocks.get(ask.block))}
        for number, ask in enumerate(asks, 1)
    ]


def _shown(ask: "Asked", block: "Block | None") -> Json:
    disabled = [action.get("disabled", "") for action in block["actions"]] if block else []
    options = [
        {"number": number, "id": option.id, "name": option.name, "kind": option.kind}
        | ({"disabled": why} if (why := dict(enumerate(disabled, 1)).get(number)) else {})
        for number, option in enumerate(ask.options, 1)
    ]
    about: Json = {"ask": ask.id, "kind": ask.kind or None, "at": ask.at or 0}
    about |= {"danger": ask.danger, "options": options}
    about |= {"answered": ask.given is not None, "state": ask.raw, "block": block}
    about |= {"always": ask.always_choices} if ask.always_choices else {}
    about |= _runs(block) if block else {}
    return about | {key: ask.raw[key] for key in OF_THE_ASK if key in ask.raw}


def _runs(block: "Block") -> Json:
    from rookery.core.blocks import asks as asking

    items = [
        {"what": item.what, "call": item.call, "text": item.text}
        | ({"old": item.part["old"], "new": item.part["new"]} if item.part else {})
        for item in asking.items(block)
    ]
    what = items[0]["text"] if items else block["title"]
    return {"what": what, "called": block.get("called", ""), "does": items}


def _meant(at: At, command: Json) -> Json:
    """Return the command with the ask's current nonce, and with a real option in place of a letter
    for its meaning; an option whose id is that letter takes precedence. Raises Refused."""
    from rookery.core.ask import ask_of
    from rookery.core.asks.asks import MEANINGS, Refusal, meant
    from rookery.core.refusals import Refused
    from rookery.home import paths
    from rookery.log.reader import Reader

    with Reader.open(paths.session_dir(at.home, at.session)) as log:
        ask = ask_of(log.header(), command["ask"])
    if ask is None:
        return command
    command = command | ({} if command.get("nonce") else {"nonce": ask.nonce})
    letter = command.get("option")
    if letter not in MEANINGS or letter in [each.id for each in ask.options]:
        return command
    answer = meant(ask, letter)
    if isinstance(answer, Refusal):
        raise Refused(answer.reason, answer.message, "Choose one of its options.")
    return {key: value for key, value in command.items() if key != "option"} | answer


@command(
    "Answer a question",
    group="Start and talk",
    on="session",
    listed=False,
    typed=False,
    role="answer",
    completes=_meant,
)
def answer(  # noqa: PLR0913, PLR0917 - an answer may have all of these
    ask: Ask,
    nonce: Nonce = "",
    option: Chosen = "",
    reason: Reason = "",
    confirm: Confirm = False,
    always: Always = False,
    action: Action = "",
    content: Content = None,
    cancel: Cancel = False,
    defer: Defer = False,
) -> Json:
    """Answer an agent's question: one of its options, or the fields of its form. The first answer
    counts."""
    fields: Json = {"nonce": nonce, "option": option, "reason": reason, "confirm": confirm}
    fields |= {"always": always, "action": action, "content": content}
    fields |= {"cancel": cancel, "defer": defer}
    return {"do": "answer", "ask": ask} | {key: fields[key] for key in fields if fields[key]}
