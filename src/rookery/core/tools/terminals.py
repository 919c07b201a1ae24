"""The fold's memory of terminals, and the output of calls outside the protocol's own content.

A call names its terminal in its content, perhaps before the terminal is announced, while it runs,
or after its end. Whichever comes second makes the link.

Agents that run commands by themselves send the output in `_meta` of the call: `terminal_output` or
`terminal_output_delta` (each a further piece), then `terminal_exit` (codex, pi, claude if we offer
it). It becomes a terminal below the call, under a name that no terminal of the worker has. Results
of MCP tools and exit codes may be in `rawOutput`."""

import re
from typing import Any, NamedTuple

from rookery.core.header import Header
from rookery.core.json import Json, lenient

KEPT = 200
"""Terminals that are remembered; later news of a forgotten one starts a new block."""

LONGEST_NAME = 200

type Known = list[Any]
"""[the terminal's block or None, "named" | "running" | "ended", its call's block or None]"""


def started(terminals: Json, name: str, block: str, call: str | None) -> Json:
    """Add a terminal that has started. `call`: the block of its call, as the worker says."""
    before = terminals.get(name)
    return keep(terminals, name, [block, "running", call or (before[2] if before else None)])


def ended(terminals: Json, name: str) -> Json:
    known = terminals.get(name)
    return {**terminals, name: [known[0], "ended", known[2]]} if known else terminals


def named(terminals: Json, call: Json, block: str) -> Json:
    """Link the terminals that a call names to the call's block."""
    for name in names_in(call):
        known: Known = terminals.get(name) or [None, "named", None]
        if known[2] != block:
            terminals = keep(terminals, name, [known[0], known[1], block])
    return terminals


def running(terminals: Json) -> Json:
    """Return the terminals that are still running when a turn begins."""
    return {name: known for name, known in terminals.items() if known[1] == "running"}


def are_running(header: Header) -> bool:
    """Return whether a command is not known to have ended; one whose worker was killed never is."""
    return bool(running(header.terminals))


def block_of(terminals: Json, name: str) -> str | None:
    """Return the block that shows a terminal's output; None if it has none, or has ended."""
    known = terminals.get(name)
    return known[0] if known and known[1] == "running" else None


def moved(before: Json, after: Json) -> list[tuple[str, str]]:
    """Return the blocks of terminals whose call became known, each with that call's block."""
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
    """Add or update one terminal; the oldest is dropped when there are too many."""
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
"""The states of a call that has ended."""


class TerminalNews(NamedTuple):
    """An update of an agent's own terminal."""

    name: str
    """As the header knows it."""
    text: str
    over: bool
    code: int | None
    signal: str

    @property
    def says_something(self) -> bool:
        return bool(self.text or self.code is not None or self.signal)


def terminal_news(call: Json) -> TerminalNews | None:
    """Parse a terminal's output and exit from `_meta` of a call's update; None if there is none. A
    terminal without a name gets the call's id."""
    meta = lenient.mapping(call, "_meta")
    parts = [meta[key] for key in KEYS if isinstance(meta.get(key), dict)]
    if not parts:
        return None
    named = [lenient.text(each, "terminal_id") for each in parts]
    name = next((each for each in named if each), lenient.text(call, "toolCallId"))
    pieces = [lenient.text(meta[key], "data") for key in PIECES if key in meta]
    text = next((each for each in pieces if each), "")
    left = meta.get("terminal_exit")
    over = isinstance(left, dict)
    code, signal = lenient.integer(left, "exit_code"), lenient.text(left, "signal")
    return TerminalNews(MARK + name[:LONGEST_NAME], text, over, code, signal[:40])


# --- in the header --------------------------------------------------------------------------------


def after(known: Json, call: Json, owner: str, fresh: str) -> Json:
    """Return the terminals after an update of a call. `owner`: the call's block; `fresh`: the id of
    a block that this event would make."""
    news = terminal_news(call)
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


def _is_anothers(call: Json, news: TerminalNews, terminal: Known) -> bool:
    """Whether a call continues the terminal of an earlier call. One named after the call itself is
    new: an agent may count its calls from 1 again in each turn."""
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
    """Return the exit code of a command from where opencode and OpenHands put it."""
    raw = lenient.mapping(call, "rawOutput")
    code = lenient.integer(lenient.mapping(raw, "metadata"), "exit")
    observed = lenient.mapping(raw, "observation")
    return lenient.integer(observed, "exit_code") if code is None else code


def exit_in_words(call: Json, pattern: str) -> int | None:
    """Return the exit code in a command's output, where some agents write it."""
    if not pattern or lenient.text(call, "status") not in ENDED:
        return None
    content = [lenient.mapping(each, "content") for each in lenient.mappings(call, "content")]
    matches = [re.search(pattern, lenient.text(each, "text")) for each in content]
    return next((int(each[1]) for each in matches if each), None)


def result(call: Json) -> list[Json]:
    """Return content for a call that has none, from the result of an MCP tool or its error."""
    if lenient.sequence(call, "content"):
        return []
    raw = lenient.mapping(call, "rawOutput")
    given = lenient.mapping(raw, "result")
    blocks = [each for each in lenient.mappings(given, "content") if lenient.text(each, "type")]
    if not blocks and (message := lenient.text(lenient.mapping(raw, "error"), "message")):
        blocks = [{"type": "text", "text": message}]
    return [{"type": "content", "content": each} for each in blocks]
