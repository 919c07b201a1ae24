"""The fold's memory of terminals, and what a call brought beside the protocol's own content.

A call names its terminal in its content, and may do so before the terminal is announced, while it
runs, or after its end. Whichever comes second makes the link.

Agents that run commands by themselves send the output in `_meta` of the call: `terminal_output` or
`terminal_output_delta` (each a further piece), then `terminal_exit` (codex, pi, claude where that
is offered). It becomes a terminal below the call, under a name that no terminal of the worker has.
Results of MCP tools and exit codes may stand in `rawOutput`.
"""

import re
from typing import Any, NamedTuple

from rookery.core.json import Json, lenient

KEPT = 200
"""Terminals that are remembered; later news of a forgotten one starts a new block."""

LONGEST_NAME = 200

type Known = list[Any]
"""[the terminal's block or None, "named" | "running" | "ended", its call's block or None]"""


def started(terminals: Json, name: str, block: str, call: str | None) -> Json:
    """`call`: the block of the call that the worker itself says it belongs to."""
    before = terminals.get(name)
    return keep(terminals, name, [block, "running", call or (before[2] if before else None)])


def ended(terminals: Json, name: str) -> Json:
    known = terminals.get(name)
    return {**terminals, name: [known[0], "ended", known[2]]} if known else terminals


def named(terminals: Json, call: Json, block: str) -> Json:
    """After a call has said which terminals are its own."""
    for name in names_in(call):
        known: Known = terminals.get(name) or [None, "named", None]
        if known[2] != block:
            terminals = keep(terminals, name, [known[0], known[1], block])
    return terminals


def running(terminals: Json) -> Json:
    """Those that go on when a turn begins."""
    return {name: known for name, known in terminals.items() if known[1] == "running"}


def are_running(header: Json) -> bool:
    """Whether a command has not been seen to end; one whose worker was killed never is."""
    return bool(running(header["_terminals"]))


def block_of(terminals: Json, name: str) -> str | None:
    """Where news of a terminal goes; None: it has no block yet, or has ended."""
    known = terminals.get(name)
    return known[0] if known and known[1] == "running" else None


def moved(before: Json, after: Json) -> list[tuple[str, str]]:
    """The terminals' blocks whose call became known, with that call's block."""
    if before is after:
        return []
    both = [(before[name], known) for name, known in after.items() if name in before]
    same = [(old, new) for old, new in both if new[0] and new[2] and old[0] == new[0]]
    return [(new[0], new[2]) for old, new in same if old[2] != new[2]]


def names_in(call: Json) -> list[str]:
    parts = lenient.mappings(call, "content")
    names = [lenient.text(part, "terminalId") for part in parts if part.get("type") == "terminal"]
    return [name for name in names if 0 < len(name) <= LONGEST_NAME][:KEPT]


def keep(terminals: Json, name: str, known: Known) -> Json:
    """After one more, or other news of one; the oldest goes where there are too many."""
    rest = {key: value for key, value in terminals.items() if key != name}
    if len(rest) >= KEPT:
        del rest[next(iter(rest))]
    return {**rest, name: known}


MARK = "~"
"""Before an agent's name for a terminal of its own."""

SUFFIX = "$"
"""After the id of the event that made a block: the call's own block may have that id."""

PIECES = ("terminal_output_delta", "terminal_output")
KEYS = ("terminal_info", *PIECES, "terminal_exit")
ENDED = ("completed", "failed")
"""Of a call."""


class Told(NamedTuple):
    """News of an agent's own terminal."""

    name: str
    """As the header knows it."""
    text: str
    over: bool
    code: int | None
    signal: str

    @property
    def says_something(self) -> bool:
        return bool(self.text or self.code is not None or self.signal)


def told(call: Json) -> Told | None:
    """What an update of a call tells of a terminal in `_meta`; without a name, it is the call's."""
    meta = lenient.mapping(call, "_meta")
    found = [meta[key] for key in KEYS if isinstance(meta.get(key), dict)]
    if not found:
        return None
    named = [lenient.text(each, "terminal_id") for each in found]
    name = next((each for each in named if each), lenient.text(call, "toolCallId"))
    pieces = [lenient.text(meta[key], "data") for key in PIECES if key in meta]
    text = next((each for each in pieces if each), "")
    left = meta.get("terminal_exit")
    over = isinstance(left, dict)
    code, signal = lenient.integer(left, "exit_code"), lenient.text(left, "signal")
    return Told(MARK + name[:LONGEST_NAME], text, over, code, signal[:40])


# --- in the header --------------------------------------------------------------------------------


def after(known: Json, call: Json, owner: str, fresh: str) -> Json:
    """The terminals after an update of a call. `owner`: the call's block; `fresh`: the id of a
    block that this event would make."""
    news = told(call)
    before = known.get(news.name) if news else None
    if news and before and before[0] and (before[2] == owner or _is_anothers(call, news, before)):
        state = "ended" if news.over else before[1]
        known = _with(known, news.name, [before[0], state, before[2]])
    elif news and news.says_something:
        state = "ended" if news.over else "running"
        known = _with(known, news.name, [fresh + SUFFIX, state, owner])
    if lenient.text(call, "status") in ENDED:
        for name in running_of(known, owner):
            known = ended(known, name)
    return known


def _is_anothers(call: Json, news: Told, terminal: Known) -> bool:
    """Whether a call goes on with the terminal of one before it. What is named for the call itself
    is a new one: an agent may count its calls from 1 again in each turn."""
    return bool(terminal[1] == "running" and news.name != MARK + lenient.text(call, "toolCallId"))


def _with(known: Json, name: str, terminal: Known) -> Json:
    return known if known.get(name) == terminal else keep(known, name, terminal)


def running_of(known: Json, owner: str) -> list[str]:
    return [
        name
        for name, (_, state, call) in known.items()
        if state == "running" and call == owner and name.startswith(MARK)
    ]


# --- what the call's raw output says --------------------------------------------------------------


def exit_code(call: Json) -> int | None:
    """The code that a command ended with, where opencode and OpenHands have it."""
    raw = lenient.mapping(call, "rawOutput")
    code = lenient.integer(lenient.mapping(raw, "metadata"), "exit")
    observed = lenient.mapping(raw, "observation")
    return lenient.integer(observed, "exit_code") if code is None else code


def exit_in_words(call: Json, pattern: str) -> int | None:
    """The code in what a command brought, where its agent writes it there and nowhere else."""
    if not pattern or lenient.text(call, "status") not in ENDED:
        return None
    content = [lenient.mapping(each, "content") for each in lenient.mappings(call, "content")]
    found = [re.search(pattern, lenient.text(each, "text")) for each in content]
    return next((int(each[1]) for each in found if each), None)


def result(call: Json) -> list[Json]:
    """The content of a call that states none, from the result of an MCP tool or its error."""
    if lenient.sequence(call, "content"):
        return []
    raw = lenient.mapping(call, "rawOutput")
    given = lenient.mapping(raw, "result")
    found = [each for each in lenient.mappings(given, "content") if lenient.text(each, "type")]
    if not found and (said := lenient.text(lenient.mapping(raw, "error"), "message")):
        found = [{"type": "text", "text": said}]
    return [{"type": "content", "content": each} for each in found]
