"""Merging the lines of an agent that streams text: consecutive lines that differ only in their text
become one line, and while nothing else arrives, the pipe is read once per window.

Agents send about one token per line. Otherwise each line would be parsed, judged and put through
the chunk window by itself, only to be merged there; and each would wake this process."""

import re
from collections.abc import Callable
from itertools import zip_longest
from typing import NamedTuple

from rookery.core.agent.chunks import CHUNK_KINDS, text_of
from rookery.core.json import lenient, loads
from rookery.wire.lines import Line, LineSplitter, TooLong

MERGED = CHUNK_KINDS - {"user_message_chunk"}
"""A prompt that is said again is known by its whole words."""

STREAMING = 3
"""Reads in a row that brought nothing but text: from then on the pipe is read once a window."""

LARGE = 16 * 1024
HASTE = 100
"""Bytes in one read of an agent that writes faster than a pipe should be left: while this process
rests, a pipe fills up, and holds the agent. It is read on for so many reads."""

MARGIN = 1.1
"""Windows between two reads: what is read is not held a moment longer by the window itself."""

LATE = 3
MAX_LATE_REST = 0.1
"""A process that is woken late is on an overloaded machine: it rests longer, by LATE times its
delay, and at most this many seconds."""

MOST_LOOKS = 100
"""Where so many lines had no form but their own, it is looked for in one of so many."""

PROBE = b"?"
_BEGIN = re.compile(rb'"text"\s*+:\s*+"')
_TEXT = re.compile(rb'[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+')
_HALF = re.compile(rb"\\u[dD][c-fC-F]")


class Form(NamedTuple):
    """A line of text without its text: what stands before it and after it."""

    before: bytes
    after: bytes

    def text_in(self, line: Line) -> bytes | None:
        """Return the text in the line, still escaped; None for a line of another form."""
        before, after = self
        if not isinstance(line, bytes) or not line.startswith(before) or not line.endswith(after):
            return None
        text = line[len(before) : len(line) - len(after)]
        if len(line) < len(before) + len(after) or _TEXT.fullmatch(text) is None:
            return None
        if not text.isascii() and not _is_utf8(text):
            return None
        # The second half of a character would become one with the first.
        return None if _HALF.match(text) else text

    def line(self, texts: list[bytes]) -> bytes:
        return b"".join((self.before, *texts, self.after))

    def is_text(self) -> bool:
        """Tell whether the part left out is the text of a chunk, and nothing else."""
        try:
            message = loads(self.line([PROBE]))
        except (ValueError, RecursionError):
            return False
        if lenient.text(message, "method") != "session/update" or "id" in message:
            return False
        update = lenient.mapping(lenient.mapping(message, "params"), "update")
        return update.get("sessionUpdate") in MERGED and text_of(update) == PROBE.decode()


class ChunkLines(LineSplitter):
    def __init__(self, longest: int, window: float, may_merge: Callable[[], bool]) -> None:
        super().__init__(longest)
        self._window = window
        self._may_merge = may_merge
        self._form: Form | None = None
        self._looked = 0
        """How often a form was looked for since a line had one."""
        self._only_text = 0
        """Reads in a row; below 0: what came was much."""
        self._late = 0.0

    def feed(self, data: bytes) -> list[Line]:
        lines = super().feed(data)
        if not lines:
            return lines
        if not self._may_merge():
            self._only_text = 0
            return lines
        merged, others = self._merged(lines)
        if len(data) >= LARGE:
            self._only_text = STREAMING - HASTE
        elif others:
            self._only_text = min(self._only_text, 0)
        else:
            self._only_text += 1
        return merged

    def rest(self, late: float) -> float:
        self._late += (late - self._late) / 4
        if self._only_text < STREAMING:
            return 0.0
        return min(self._window * MARGIN + self._late * LATE, max(MAX_LATE_REST, self._window))

    def _merged(self, lines: list[Line]) -> tuple[list[Line], bool]:
        """Return the merged lines, and whether any of them was not a line of text."""
        merged, texts, others = list[Line](), list[bytes](), False
        form = self._form
        for line, following in zip_longest(lines, lines[1:]):
            text = None if form is None else form.text_in(line)
            if text is not None:
                self._looked = 0
            else:
                if form is not None and texts:
                    merged.append(form.line(texts))
                    texts = []
                form = self._form = self._look(line, following) or form
                text = None if form is None else form.text_in(line)
            if text is not None:
                texts.append(text)
            else:
                merged.append(line)
                others = True
        if form is not None and texts:
            merged.append(form.line(texts))
        return merged, others

    def _look(self, line: Line, following: Line | None) -> Form | None:
        """Return the form of a line of streamed text if the next line may share it, else None. An
        agent that numbers its lines has none."""
        if not isinstance(line, bytes) or b"_chunk" not in line:
            return None
        self._looked += 1
        begin = _BEGIN.search(line)
        if begin is None or (self._looked > MOST_LOOKS and self._looked % MOST_LOOKS):
            return None
        before = line[: begin.end()]
        if isinstance(following, TooLong) or not (following or before).startswith(before):
            return None
        text = _TEXT.match(line, begin.end())
        form = None if text is None else Form(before, line[text.end() :])
        return form if form is not None and form.is_text() else None


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
