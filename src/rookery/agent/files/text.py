r"""A file's text as a model reads it, and its bytes again after an edit.

1. The model's text has "\n" at the end of each line, no byte order mark, and U+FFFD for each byte
   that is no text.
2. If the file's encoding and its one kind of line end turn that text into the file's own bytes,
   they turn the edited text into the new ones.
3. Otherwise (mixed line ends, broken bytes) both texts are aligned: what is in both keeps its
   bytes, and new lines get the line end that most lines have."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from rookery.agent.files import encodings

REPLACED = "\ufffd"
MARK = "\ufeff"
MAX_PAIRS = 4_000_000
"""Pairs of characters, or of lines, to compare: with more, only the equal ends are aligned."""

_END = re.compile("\r\n|\r|\n")
_UNIT = re.compile("\r\n|.", re.DOTALL)
"""A single character as the model sees it."""
_RAW_LINE = re.compile("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_LINE = re.compile("[^\n]*\n|[^\n]+")
_ESCAPED = re.compile("[\udc80-\udcff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class NotEncodable(ValueError):
    """The edited text has a character that the file's encoding lacks; tells the model so."""


class Text:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._encoding, self._mark = encodings.detect(data)
        body = data[len(self._mark) :]
        self._raw = body.decode(self._encoding, encodings.errors(self._encoding))
        self.text = _seen(self._raw)
        counted = Counter(_END.findall(self._raw)).most_common(1)
        self._end = counted[0][0] if counted else "\n"

    def encode(self, text: str) -> bytes:
        """Return the file's bytes with another text. Raises NotEncodable."""
        text = with_plain_ends(text)
        if self._mark:
            text = text.removeprefix(MARK)
        if match := _SURROGATE.search(text):
            raise NotEncodable(f"The text contains {match[0]!r}, half of a character.")
        plain = self.text.replace("\n", self._end)
        if self._mark + self._bytes(plain) == self._data:
            return self._mark + self._bytes(text.replace("\n", self._end))
        return self._mark + self._bytes(_aligned(self._raw, text, self._end))

    def _bytes(self, raw: str) -> bytes:
        try:
            return raw.encode(self._encoding, encodings.errors(self._encoding))
        except UnicodeEncodeError as error:
            lacking = raw[error.start]
            raise NotEncodable(
                f"The file's encoding is {self._encoding}, which has no {lacking!r} "
                f"(U+{ord(lacking):04X}). Use other characters, or convert the file to UTF-8 first."
            ) from None


def with_plain_ends(text: str) -> str:
    """Return a model's text with the plain line ends that it was shown."""
    return text.replace("\r\n", "\n")


def _seen(raw: str) -> str:
    return _END.sub("\n", _ESCAPED.sub(REPLACED, raw))


def _aligned(raw: str, text: str, end: str) -> str:
    """Return `text` with the bytes that it shares with `raw`."""
    lines, wanted = _RAW_LINE.findall(raw), _LINE.findall(text)
    parts = []
    for same, old, new in _blocks([_seen(line) for line in lines], wanted):
        before = "".join(lines[old])
        parts.append(before if same else _aligned_letters(before, "".join(wanted[new]), end))
    return "".join(parts)


def _aligned_letters(raw: str, text: str, end: str) -> str:
    units: list[str] = _UNIT.findall(raw)
    return "".join(
        "".join(units[old]) if same else text[new].replace("\n", end)
        for same, old, new in _blocks(_seen(raw), text)
    )


def _blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[bool, slice, slice]]:
    """Yield where two sequences are equal and where they differ, in order."""
    least = min(len(old), len(new))
    head = next((at for at in range(least) if old[at] != new[at]), least)
    tail = next(
        (at for at in range(least - head) if old[-1 - at] != new[-1 - at]),
        least - head,
    )
    last, end = len(old) - tail, len(new) - tail
    yield True, slice(head), slice(head)
    if (last - head) * (end - head) > MAX_PAIRS:
        yield False, slice(head, last), slice(head, end)
    else:
        matcher = SequenceMatcher(None, old[head:last], new[head:end], autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            yield tag == "equal", slice(head + i1, head + i2), slice(head + j1, head + j2)
    yield True, slice(last, len(old)), slice(end, len(new))
