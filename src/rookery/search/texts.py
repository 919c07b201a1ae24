"""Converting events to rows of text to index: the text, who wrote it, and at which event.

The pieces of a message make one row, as do consecutive updates of a call: a word that came in two
pieces is matched. A long text makes several rows. Where a row begins and ends depends on the log
alone, so an index that is built again is the same."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from rookery.core.agent import children, message_blocks
from rookery.core.agent.chunks import CHILD
from rookery.core.agent.ingest import is_aside, taken_back
from rookery.core.agent.prompt import words_of
from rookery.core.asks.asks import reason_of
from rookery.core.blocks import parts
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.json.secrets import masked
from rookery.core.tools import terminals
from rookery.core.tools.calls import key_of
from rookery.core.turn import retries
from rookery.core.vendors.profiles import SYSTEM_PROMPTS

OTHER = "other"
"""Plans, asks, notices, titles."""
ROLES = ("prompt", "answer", "thought", "tool", OTHER)
"""Who said it. `tool`: calls, commands, their output, and paths."""

SIZE = 8192
"""Characters of a row, about; of a text of its own that is twice as long, each part."""

MAX_EVENTS = 256
"""How many events one row can have."""

MAX_EVENT_LENGTH = 1024 * 1024
"""How many characters of one event are indexed: of a longer one, the beginning and the end."""

SHORT = 16
"""Characters of a text that is not looked for in others."""

HEAD = 200
"""Characters of a word that came in two pieces."""

ASIDES = frozenset({"usage_update", "session_info_update", "available_commands_update"})
"""Kinds that may come in the middle of a message."""

UNSAID = frozenset(
    {
        *("type", "id", "toolCallId", "messageId", "terminalId", "sessionUpdate", "sessionId"),
        *("status", "kind", "mimeType", "data", "blob", "kept", "hash", "_meta", "encoding"),
    }
)
"""Keys whose values are no words."""

LEAVES = 5000
"""Texts of one JSON value, at most."""

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\"
    r"|\x1b[ -/]*[0-~]"
)
_BLANK = re.compile(r"\s")


class Passage(NamedTuple):
    """The text of one event."""

    key: tuple[str, str]
    """Of the message, call or terminal that it belongs to."""
    role: str
    text: str
    flows: bool = False
    """Whether the text goes on where that of the event before ended, perhaps inside a word."""


class Row(NamedTuple):
    """A unit of search: text that is indexed and matched as one."""

    seq: int
    part: int
    """Which, of several rows that one event makes."""
    at: int
    role: str
    text: str
    places: tuple[tuple[int, int], ...]
    """Where in the text each event begins, and its seq."""
    key: tuple[str, str]

    def seq_at(self, offset: int) -> int:
        """Return the event that contains this character."""
        return max((place for place in self.places if place[0] <= offset), default=(0, self.seq))[1]


class Rows:
    """Converts events, taken in order, to rows; returns each row once it is complete."""

    def __init__(self, before: Sequence[Event] = ()) -> None:
        """`before`: the events before the first. Only the end of the last message counts."""
        self.covered = 0
        """Up to this event, everything is in rows that are complete."""
        self._key = ("", "")
        self._role, self._seq, self._part, self._at, self._flows = "", 0, 0, 0, False
        self._ready: list[Row] = []
        """Parts of the event that has the open row."""
        self._texts: list[str] = []
        self._places: list[tuple[int, int]] = []
        self._size = 0
        self._cut: tuple[str, str] | None = None
        """The message whose last word came in two pieces, and was searched with the first."""
        for event in reversed(before):
            if event.update.get("sessionUpdate") not in ASIDES:
                passage = said_by(event.update)
                if passage and passage.flows and passage.text and not passage.text[-1].isspace():
                    self._cut = passage.key
                break

    def take(self, events: Iterable[Event]) -> list[Row]:
        rows: list[Row] = []
        for event in events:
            update = event.update
            kind = update.get("sessionUpdate")
            passage = said_by(update) if isinstance(kind, str) else None
            if passage is not None and self._texts and self._goes_on(passage):
                if passage.text:
                    self._add(event, passage, rows)
                elif passage.flows and taken_back(update):
                    self._texts, self._ready = [], []
            elif passage is not None and passage.text:
                self._close(rows)
                self._begin(event, passage)
            elif kind not in ASIDES:
                self._close(rows)
            if not self._texts:
                self.covered = event.seq
        return rows

    def _goes_on(self, passage: Passage) -> bool:
        """Whether the text continues the open row; text without a name stands alone, unless it
        flows."""
        return passage.key == self._key and (passage.flows or bool(passage.key[1]))

    def finish(self, last: int) -> list[Row]:
        """Close the row that is still open, since no more of it will come. `last` is the last
        event."""
        rows: list[Row] = []
        self._close(rows)
        self.covered = max(self.covered, last)
        return rows

    def _begin(self, event: Event, passage: Passage) -> None:
        text = passage.text
        if self._cut == passage.key:
            text = text[len(_head(text)) :]
        self._cut = None
        self._key, self._role, self._flows = passage.key, passage.role, passage.flows
        self._seq, self._part, self._at = event.seq, 0, event.at
        self._texts, self._places, self._size = [text], [(0, event.seq)], len(text)
        self.covered = event.seq - 1
        if self._size >= 2 * SIZE:
            self._split(text)

    def _split(self, text: str) -> None:
        """Split a long text into parts; the last of them may continue."""
        place = 0
        while len(text) - place >= 2 * SIZE:
            blank = _BLANK.search(text, place + SIZE, place + 2 * SIZE)
            end = blank.end() if blank else place + SIZE
            self._texts = [text[place:end]]
            self._ready.append(self._row())
            self._part, place = self._part + 1, end
        self._texts, self._size = [text[place:]], len(text) - place

    def _add(self, event: Event, passage: Passage, rows: list[Row]) -> None:
        if self._size < SIZE and len(self._places) < MAX_EVENTS and len(passage.text) < 2 * SIZE:
            if not passage.flows:
                self._texts.append("\n")
                self._size += 1
            self._places.append((self._size, event.seq))
            self._texts.append(passage.text)
            self._size += len(passage.text)
            return
        if passage.flows and not self._texts[-1][-1:].isspace() and (head := _head(passage.text)):
            self._texts.append(head)
            self._cut = passage.key
        self._close(rows)
        self._begin(event, passage)

    def _close(self, rows: list[Row]) -> None:
        if self._texts:
            rows += [*self._ready, self._row()]
            self._ready, self._texts, self._places = [], [], []

    def _row(self) -> Row:
        text = plain("".join(self._texts))
        places = tuple(self._places)
        return Row(self._seq, self._part, self._at, self._role, text, places, self._key)


def plain(text: str) -> str:
    """Return the text without escape sequences and secrets."""
    return masked(_ESCAPES.sub("", text) if "\x1b" in text else text)


def _head(text: str) -> str:
    """Return the rest of a word that began in the piece before."""
    blank = _BLANK.search(text, 0, HEAD)
    return text[: blank.start()] if blank else text[:HEAD]


# --- one event -----------------------------------------------------------------------------------


def said_by(update: Json) -> Passage | None:
    """Return the text of an update; None if it has none."""
    look = _KINDS.get(update["sessionUpdate"]) if "sessionUpdate" in update else None
    passage = look(update) if look else None
    if passage is not None and "\x1b" in passage.text:
        passage = passage._replace(text=_ESCAPES.sub("", passage.text))
    if passage is not None and len(passage.text) > MAX_EVENT_LENGTH:
        half = MAX_EVENT_LENGTH // 2
        return passage._replace(text=passage.text[:half] + "\n" + passage.text[-half:])
    return passage


def _chunk(update: Json) -> Passage | None:
    content = update.get("content")
    if not isinstance(content, dict):
        return None
    kind, name = message_blocks.key_of(update)
    role = _CHUNKS[kind]
    if content.get("type") == "text":
        text = lenient.text(content, "text")
        if "_meta" in update and (taken_back(update) or retries.is_own(update)):
            text = ""
        if role == "thought" and text.startswith(SYSTEM_PROMPTS):  # no thought of the agent's
            text = ""
        return Passage((kind, name), role, text, flows=True)
    return Passage((kind + ":", name), role, _joined([content]))


_CHUNKS = {
    "user_message_chunk": "prompt",
    "agent_message_chunk": "answer",
    "agent_thought_chunk": "thought",
    "compaction_summary_chunk": "other",
}


def _child(update: Json) -> Passage | None:
    """Return a sub-agent's text, which does not count as an answer of the agent's."""
    inner = lenient.mapping(update, "update")
    passage = said_by(inner) if kind_of(inner) in children.FOLDED else None
    if passage is None:
        return None
    key = (f"{children.key_of(update)} {passage.key[0]}", passage.key[1])
    return passage._replace(key=key, role="tool" if passage.role == "tool" else "other")


def _message(update: Json) -> Passage | None:
    content = update.get("content")
    text = words_of(content if isinstance(content, list) else [content])
    key = (update["sessionUpdate"], lenient.text(update, "messageId"))
    return Passage(key, "other", text, flows="chunk" in key[0]) if text else None


def _prompt(update: Json) -> Passage:
    given = lenient.sequence(update, "prompt")
    rest = [each for each in given if lenient.text(each, "type") != "text"]
    text = words_of(given)
    return Passage(("_prompt", ""), "prompt", f"{text}\n{_joined(rest)}" if rest else text)


def _tool(update: Json) -> Passage:
    return Passage(("tool", key_of(update)), "tool", of_call(update))


def of_call(call: Json) -> str:
    """Return the text of a call, whichever agent sent it: title, places, input, content, output."""
    terminal = terminals.terminal_news(call) if "_meta" in call else None
    content = [_content(each) for each in lenient.sequence(call, "content")]
    given = (call.get("title"), call.get("locations"), call.get("rawInput"), content)
    parts = (*given, terminal.text if terminal else None, call.get("rawOutput"))
    return _joined([each for each in parts if each])


def _content(item: Any) -> Any:
    """Return the content, but of a diff only what changed: whole files come often."""
    if isinstance(item, dict) and item.get("type") == "diff":
        old, new = item.get("oldText"), item.get("newText")
        if isinstance(old, str) and isinstance(new, str):
            cut = parts.diff("", old, new)
            return [item.get("path"), cut["old"], cut["new"]]
    return item


def _terminal(update: Json) -> Passage:
    command, text = lenient.text(update, "command"), lenient.text(update, "text")
    content = f"{command}\n{text}" if command else text
    return Passage(("terminal", lenient.text(update, "id")), "tool", content, flows=not command)


def _ask(update: Json) -> Passage | None:
    if update.get("state") != "asked":
        reason = reason_of(update.get("outcome"))
        return Passage(("answer", lenient.text(update, "id")), "prompt", reason) if reason else None
    call = lenient.mapping(update, "toolCall")
    key = ("tool", key_of(call)) if call else ("ask", lenient.text(update, "id"))
    text = _joined([update.get("message"), update.get("reason"), update.get("danger")])
    of = of_call(call) if call else _joined([lenient.mapping(update, "schema").get("properties")])
    return Passage(key, "other", f"{text}\n{of}" if text and of else text or of)


def _fields(*keys: str) -> Callable[[Json], Passage | None]:
    """Return a function that takes the text from these keys of an update."""

    def look(update: Json) -> Passage | None:
        text = _joined([update.get(key) for key in keys])
        return Passage((update["sessionUpdate"], ""), "other", text) if text else None

    return look


def _raw(update: Json) -> Passage | None:
    return None if is_aside(update) else _fields("why", "value")(update)


_KINDS: dict[Any, Callable[[Json], Passage | None]] = {
    **dict.fromkeys(_CHUNKS, _chunk),
    "_prompt": _prompt,
    "tool_call": _tool,
    "tool_call_update": _tool,
    "_terminal": _terminal,
    "_ask": _ask,
    CHILD: _child,
    "subagent_update": _fields("title", "description"),
    **dict.fromkeys(("session_message", "session_message_chunk"), _message),
    "_raw": _raw,
    "_session": _fields("title"),
    "session_info_update": _fields("title"),
    "plan": _fields("entries"),
    "plan_update": _fields("plan"),
    "notice": _fields("title", "text", "message", "description"),
    "_notice": _fields("title", "text", "message", "description"),
    "_turn": _fields("error", "detail", "message"),
    "_rejected": _fields("message", "reason"),
    "_critic": _fields("detail", "feedback", "items", "message"),
    "_rate_limit": _fields("message"),
}


def _joined(values: list[Any]) -> str:
    """Join all texts in JSON values, each on a line of its own, without repetitions: an agent sends
    an output both as content and as raw output."""
    lines: dict[str, None] = {}
    long = ""
    for text in _leaves(values):
        if text in lines or (len(text) > SHORT and text in long):
            continue
        lines[text] = None
        if len(text) > SHORT and len(long) < 8 * SIZE:
            long += f"\n{text}"
    return "\n".join(lines)


def _leaves(values: list[Any]) -> list[str]:
    leaves: list[str] = []
    heap, left = values[::-1], LEAVES
    while heap and left > 0:
        value = heap.pop()
        if isinstance(value, str):
            if value:
                leaves.append(value)
                left -= 1
        elif isinstance(value, dict):
            heap += [value[key] for key in reversed(value) if key not in UNSAID]
            left -= 1
        elif isinstance(value, list):
            heap += reversed(value)
            left -= 1
    return leaves
