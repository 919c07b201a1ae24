"""Encodes sixels: bands of six lines, a row of characters for each colour in a band. Each character
says which of its six dots have the colour."""

import re
from collections.abc import Iterator, Sequence

_RUN = re.compile(rb"(.)\1{3,254}", re.DOTALL)
_TO_TEXT = bytes((value & 63) + 63 for value in range(256))


def encoded(dots: bytes, width: int, height: int, palette: Sequence[tuple[int, int, int]]) -> bytes:
    """Return the body of the sequence. `dots`: the index of each dot's colour, line by line."""
    pieces = [b'"1;1;%d;%d' % (width, height)]
    for place, colour in enumerate(palette):
        red, green, blue = (round(part * 100 / 255) for part in colour)
        pieces.append(b"#%d;2;%d;%d;%d" % (place, red, green, blue))
    for top in range(0, height, 6):
        lines = [dots[at * width : (at + 1) * width] for at in range(top, min(top + 6, height))]
        pieces.append(b"$".join(_band(lines, width)))
        pieces.append(b"-")
    return b"".join(pieces[:-1])


def _band(lines: Sequence[bytes], width: int) -> Iterator[bytes]:
    colours: dict[int, bytearray] = {}
    for bit, line in enumerate(lines):
        for place in set(line):
            mask = colours.setdefault(place, bytearray(width))
            _mark(mask, line, place, 1 << bit)
    for place, mask in sorted(colours.items()):
        text = bytes(mask).rstrip(b"\0").translate(_TO_TEXT)
        yield b"#%d" % place + _RUN.sub(_counted, text)


def _mark(mask: bytearray, line: bytes, place: int, bit: int) -> None:
    at = line.find(place)
    while at >= 0:
        mask[at] |= bit
        at = line.find(place, at + 1)


def _counted(run: re.Match[bytes]) -> bytes:
    return b"!%d%b" % (len(run[0]), run[1])
