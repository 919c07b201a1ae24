"""Events as rows of text: what was said, by whom, and at which event.

The pieces of a message make one row, as do the updates of a call that follow each other: a word
that came in two pieces is found. A long text makes several rows. Where a row begins and ends
depends on the log alone, so an index that is made again is the same.
"""

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

MOST = 256
"""Events of a row."""

LONGEST = 1024 * 1024
"""Characters of one event: of a longer one, the beginning and the end are searched."""

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


class Said(NamedTuple):
    """What one event says."""

    key: tuple[str, str]
    """Of the message, call or terminal that it belongs to."""
    role: str
    text: str
    flows: bool = False
    """Whether the text goes on where that of the event before ended, perhaps inside a word."""


class Row(NamedTuple):
    """What is found as one."""

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
        """The event that has this character."""
        return max((place for place in self.places if place[0] <= offset), default=(0, self.seq))[1]


class Rows:
    """Takes events in order; returns the rows that are complete."""

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
                said = said_by(event.update)
                if said and said.flows and said.text and not said.text[-1].isspace():
                    self._cut = said.key
                break

    def take(self, events: Iterable[Event]) -> list[Row]:
        found: list[Row] = []
        for event in events:
            update = event.update
            kind = update.get("sessionUpdate")
            said = said_by(update) if isinstance(kind, str) else None
            if said is not None and self._texts and self._goes_on(said):
                if said.text:
                    self._add(event, said, found)
                elif said.flows and taken_back(update):
                    self._texts, self._ready = [], []
            elif said is not None and said.text:
                self._close(found)
                self._begin(event, said)
            elif kind not in ASIDES:
                self._close(found)
            if not self._texts:
                self.covered = event.seq
        return found

    def _goes_on(self, said: Said) -> bool:
        """What has no name is alone, unless it flows."""
        return said.key == self._key and (said.flows or bool(said.key[1]))

    def finish(self, last: int) -> list[Row]:
        """No more of the row that is still open will come, and `last` is the last event."""
        found: list[Row] = []
        self._close(found)
        self.covered = max(self.covered, last)
        return found

    def _begin(self, event: Event, said: Said) -> None:
        text = said.text
        if self._cut == said.key:
            text = text[len(_head(text)) :]
        self._cut = None
        self._key, self._role, self._flows = said.key, said.role, said.flows
        self._seq, self._part, self._at = event.seq, 0, event.at
        self._texts, self._places, self._size = [text], [(0, event.seq)], len(text)
        self.covered = event.seq - 1
        if self._size >= 2 * SIZE:
            self._split(text)

    def _split(self, text: str) -> None:
        """The parts of a long text; the last of them may go on."""
        place = 0
        while len(text) - place >= 2 * SIZE:
            blank = _BLANK.search(text, place + SIZE, place + 2 * SIZE)
            end = blank.end() if blank else place + SIZE
            self._texts = [text[place:end]]
            self._ready.append(self._row())
            self._part, place = self._part + 1, end
        self._texts, self._size = [text[place:]], len(text) - place

    def _add(self, event: Event, said: Said, found: list[Row]) -> None:
        if self._size < SIZE and len(self._places) < MOST and len(said.text) < 2 * SIZE:
            if not said.flows:
                self._texts.append("\n")
                self._size += 1
            self._places.append((self._size, event.seq))
            self._texts.append(said.text)
            self._size += len(said.text)
            return
        if said.flows and not self._texts[-1][-1:].isspace() and (head := _head(said.text)):
            self._texts.append(head)
            self._cut = said.key
        self._close(found)
        self._begin(event, said)

    def _close(self, found: list[Row]) -> None:
        if self._texts:
            found += [*self._ready, self._row()]
            self._ready, self._texts, self._places = [], [], []

    def _row(self) -> Row:
        text = plain("".join(self._texts))
        places = tuple(self._places)
        return Row(self._seq, self._part, self._at, self._role, text, places, self._key)


def plain(text: str) -> str:
    """Without escape sequences and secrets."""
    return masked(_ESCAPES.sub("", text) if "\x1b" in text else text)


def _head(text: str) -> str:
    """The rest of a word that began in the piece before."""
    blank = _BLANK.search(text, 0, HEAD)
    return text[: blank.start()] if blank else text[:HEAD]


# --- one event -----------------------------------------------------------------------------------


def said_by(update: Json) -> Said | None:
    """None: it says nothing."""
    look = _KINDS.get(update["sessionUpdate"]) if "sessionUpdate" in update else None
    said = look(update) if look else None
    if said is not None and "\x1b" in said.text:
        said = said._replace(text=_ESCAPES.sub("", said.text))
    if said is not None and len(said.text) > LONGEST:
        half = LONGEST // 2
        return said._replace(text=said.text[:half] + "\n" + said.text[-half:])
    return said


def _chunk(update: Json) -> Said | None:
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
        return Said((kind, name), role, text, flows=True)
    return Said((kind + ":", name), role, _joined([content]))


_CHUNKS = {
    "user_message_chunk": "prompt",
    "agent_message_chunk": "answer",
    "agent_thought_chunk": "thought",
    "compaction_summary_chunk": "other",
}


def _child(update: Json) -> Said | None:
    """A sub-agent's words are no answer of the agent's."""
    inner = lenient.mapping(update, "update")
    found = said_by(inner) if kind_of(inner) in children.FOLDED else None
    if found is None:
        return None
    key = (f"{children.key_of(update)} {found.key[0]}", found.key[1])
    return found._replace(key=key, role="tool" if found.role == "tool" else "other")


def _message(update: Json) -> Said | None:
    content = update.get("content")
    text = words_of(content if isinstance(content, list) else [content])
    key = (update["sessionUpdate"], lenient.text(update, "messageId"))
    return Said(key, "other", text, flows="chunk" in key[0]) if text else None


def _prompt(update: Json) -> Said:
    given = lenient.sequence(update, "prompt")
    rest = [each for each in given if lenient.text(each, "type") != "text"]
    text = words_of(given)
    return Said(("_prompt", ""), "prompt", f"{text}\n{_joined(rest)}" if rest else text)


def _tool(update: Json) -> Said:
    return Said(("tool", key_of(update)), "tool", of_call(update))


def of_call(call: Json) -> str:
    """The words of a call, whichever agent sent it: its title, places, input, content, output."""
    told = terminals.told(call) if "_meta" in call else None
    content = [_content(each) for each in lenient.sequence(call, "content")]
    given = (call.get("title"), call.get("locations"), call.get("rawInput"), content)
    said = (*given, told.text if told else None, call.get("rawOutput"))
    return _joined([each for each in said if each])


def _content(item: Any) -> Any:
    """Of a diff only what changed: whole files come often."""
    if isinstance(item, dict) and item.get("type") == "diff":
        old, new = item.get("oldText"), item.get("newText")
        if isinstance(old, str) and isinstance(new, str):
            cut = parts.diff("", old, new)
            return [item.get("path"), cut["old"], cut["new"]]
    return item


def _terminal(update: Json) -> Said:
    command, text = lenient.text(update, "command"), lenient.text(update, "text")
    said = f"{command}\n{text}" if command else text
    return Said(("terminal", lenient.text(update, "id")), "tool", said, flows=not command)


def _ask(update: Json) -> Said | None:
    if update.get("state") != "asked":
        said = reason_of(update.get("outcome"))
        return Said(("answer", lenient.text(update, "id")), "prompt", said) if said else None
    call = lenient.mapping(update, "toolCall")
    key = ("tool", key_of(call)) if call else ("ask", lenient.text(update, "id"))
    text = _joined([update.get("message"), update.get("reason"), update.get("danger")])
    of = of_call(call) if call else _joined([lenient.mapping(update, "schema").get("properties")])
    return Said(key, "other", f"{text}\n{of}" if text and of else text or of)


def _words(*keys: str) -> Callable[[Json], Said | None]:
    """Of an update whose words have these keys."""

    def look(update: Json) -> Said | None:
        text = _joined([update.get(key) for key in keys])
        return Said((update["sessionUpdate"], ""), "other", text) if text else None

    return look


def _raw(update: Json) -> Said | None:
    return None if is_aside(update) else _words("why", "value")(update)


_KINDS: dict[Any, Callable[[Json], Said | None]] = {
    **dict.fromkeys(_CHUNKS, _chunk),
    "_prompt": _prompt,
    "tool_call": _tool,
    "tool_call_update": _tool,
    "_terminal": _terminal,
    "_ask": _ask,
    CHILD: _child,
    "subagent_update": _words("title", "description"),
    **dict.fromkeys(("session_message", "session_message_chunk"), _message),
    "_raw": _raw,
    "_session": _words("title"),
    "session_info_update": _words("title"),
    "plan": _words("entries"),
    "plan_update": _words("plan"),
    "notice": _words("title", "text", "message", "description"),
    "_notice": _words("title", "text", "message", "description"),
    "_turn": _words("error", "detail", "message"),
    "_rejected": _words("message", "reason"),
    "_critic": _words("detail", "feedback", "items", "message"),
    "_rate_limit": _words("message"),
}


def _joined(values: list[Any]) -> str:
    """All texts in JSON values, each on a line of its own, and none that was there before: an agent
    sends an output as content and as raw output."""
    found: dict[str, None] = {}
    long = ""
    for text in _leaves(values):
        if text in found or (len(text) > SHORT and text in long):
            continue
        found[text] = None
        if len(text) > SHORT and len(long) < 8 * SIZE:
            long += f"\n{text}"
    return "\n".join(found)


def _leaves(values: list[Any]) -> list[str]:
    found: list[str] = []
    heap, left = values[::-1], LEAVES
    while heap and left > 0:
        value = heap.pop()
        if isinstance(value, str):
            if value:
                found.append(value)
                left -= 1
        elif isinstance(value, dict):
            heap += [value[key] for key in reversed(value) if key not in UNSAID]
            left -= 1
        elif isinstance(value, list):
            heap += reversed(value)
            left -= 1
    return found
