"""Detects a file's encoding. Whichever is chosen encodes back to the same bytes."""

import codecs
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatch

UTF_8 = "utf-8"
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins as UTF-16's does
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
WESTERN = ("cp1252", "latin-1")
"""All bytes are characters of the second one."""
OTHERS = (
    *("cp1251", "gb18030", "cp932", "euc_jp", "cp949", "big5", "koi8_r"),
    *("cp1250", "cp1253", "cp1254", "cp1255", "cp1256"),
)
"""The likely encodings of a file if most letters of its words are not ASCII, the likeliest
first."""
SAMPLE = 64 * 1024
FEW = 8
"""Bytes that are not ASCII: fewer tell nothing."""

_DECLARED = re.compile(
    rb"""(?:coding|charset)["']?\s*[:=]\s*["']?"""
    rb"((?:iso|latin|cp|windows|koi|mac|shift|sjis|euc|gb|big5|ibm|tis)[-\w]*)",
    re.IGNORECASE,
)
_WORD = re.compile(rb"[A-Za-z]*[\x80-\xff][A-Za-z\x80-\xff]*")


def detect(data: bytes) -> tuple[str, bytes]:
    """Return a file's encoding, and its byte order mark. Decode and encode with `errors`."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark) and (encoding == UTF_8 or _is_in(encoding, data[len(mark) :])):
            return encoding, mark
    if _is_in(UTF_8, data) or b"\0" in data or _is_damaged_utf_8(data):
        return UTF_8, b""
    declared = _DECLARED.search(data[:1024])
    for encoding in (*([declared[1].decode("ascii")] if declared else ()), *_probable(data)):
        if _is_in(encoding, data):
            return encoding, b""
    return WESTERN[-1], b""


def errors(encoding: str) -> str:
    """Return how to decode invalid bytes, which occur in UTF-8 alone."""
    return "surrogateescape" if encoding == UTF_8 else "strict"


def _is_in(encoding: str, data: bytes) -> bool:
    try:
        return data.decode(encoding).encode(encoding) == data
    except (UnicodeError, LookupError, AssertionError):
        return False


def _is_damaged_utf_8(data: bytes) -> bool:
    """Tell whether more of its bytes beyond ASCII are UTF-8 than are not."""
    letters = [each for each in data.decode(UTF_8, "surrogateescape") if each > "\x7f"]
    broken = sum("\udc80" <= each <= "\udcff" for each in letters)
    return broken < sum(byte > 0x7F for byte in data) - broken


def _probable(data: bytes) -> tuple[str, ...]:
    """Return the likely encodings. In Western text, most letters are ASCII."""
    sample = data[: data.rfind(b"\n", 0, SAMPLE) + 1] if len(data) > SAMPLE else data
    word_bytes = b"".join(_WORD.findall(sample))
    foreign = sum(byte > 0x7F for byte in word_bytes)
    if foreign < FEW or len(word_bytes) > 2 * foreign:
        return WESTERN
    import charset_normalizer

    matches = charset_normalizer.from_bytes(sample, cp_isolation=[*OTHERS])
    best = min(matches, key=lambda each: (each.chaos, -each.coherence, _rank(each)), default=None)
    return (*([best.encoding] if best else ()), *WESTERN)


def _rank(match: "CharsetMatch") -> int:
    return OTHERS.index(match.encoding)
