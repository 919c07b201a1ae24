"""QR codes for the terminal, so that no URL has to be typed on a phone (ISO 18004: bytes,
level L)."""

from collections.abc import Iterator, Sequence
from itertools import product, zip_longest

type Square = list[list[int]]

VERSIONS = range(1, 41)
CORRECTION = (
    *(7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28),
    *(28, 28, 30, 30, 26, 28, *(30,) * 14),
)
"""Bytes of error correction in a block, for each version at level L."""
BLOCKS = (
    *(1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14),
    *(15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25),
)
"""The number of blocks, for each version at level L."""
MASKS = (
    lambda r, c: (r + c) % 2,
    lambda r, _c: r % 2,
    lambda _r, c: c % 3,
    lambda r, c: (r + c) % 3,
    lambda r, c: (r // 2 + c // 3) % 2,
    lambda r, c: r * c % 2 + r * c % 3,
    lambda r, c: (r * c % 2 + r * c % 3) % 2,
    lambda r, c: ((r + c) % 2 + r * c % 3) % 2,
)
FREE = -1
QUIET = 2
"""Light squares around it; readers manage with fewer than the standard's four."""


class TooLong(Exception):
    """Raised when the text does not fit."""


def drawn(text: str) -> str:
    """Render the code, two rows to a line, light on dark, as most terminals are. Raises TooLong."""
    square = code(text.encode())
    size = len(square) + 2 * QUIET
    light = [[1] * size for _ in range(size + size % 2)]
    for row, column in product(range(len(square)), repeat=2):
        light[row + QUIET][column + QUIET] = 1 - square[row][column]
    signs = {(1, 1): "█", (1, 0): "▀", (0, 1): "▄", (0, 0): " "}
    pairs = zip(light[::2], light[1::2], strict=True)
    return "\n".join("".join(signs[pair] for pair in zip(*two, strict=True)) for two in pairs)


def code(data: bytes) -> Square:
    """Return the squares of the code, where 1 is dark. Raises TooLong."""
    version = next((n for n in VERSIONS if len(data) <= _capacity(n)), 0)
    if not version:
        raise TooLong(f"A QR code holds {_capacity(VERSIONS[-1])} bytes; this has {len(data)}.")
    codewords = _codewords(version, data)
    tried = len(MASKS) if version < 10 else 2  # every mask can be read; comparing takes long
    return min((_masked(version, codewords, mask) for mask in range(tried)), key=_penalty)


# --- data and its correction -------------------------------------------------------------------


def _sizes(version: int) -> list[int]:
    """Return the bytes of data in each block: the squares outside the fixed patterns, less the
    correction."""
    aligned, count = len(_aligned(version)), BLOCKS[version - 1]
    squares = (16 * version + 128) * version + 64
    if aligned:
        squares -= (25 * aligned - 10) * aligned - 55
    if version >= 7:
        squares -= 36
    room = squares // 8 - CORRECTION[version - 1] * count
    longer = room % count
    return [room // count] * (count - longer) + [room // count + 1] * longer


def _length_bits(version: int) -> int:
    return 8 if version < 10 else 16


def _capacity(version: int) -> int:
    """Return how many bytes of text fit."""
    return (sum(_sizes(version)) * 8 - 4 - _length_bits(version)) // 8


def _codewords(version: int, data: bytes) -> list[int]:
    correction, sizes = CORRECTION[version - 1], _sizes(version)
    room = sum(sizes)
    bits = f"0100{len(data):0{_length_bits(version)}b}" + "".join(f"{byte:08b}" for byte in data)
    bits += "0" * min(4, room * 8 - len(bits))
    bits += "0" * (-len(bits) % 8)
    codewords = [int(bits[at : at + 8], 2) for at in range(0, len(bits), 8)]
    codewords += [(0xEC, 0x11)[n % 2] for n in range(room - len(codewords))]
    blocks, at = [], 0
    for size in sizes:
        blocks.append(codewords[at : at + size])
        at += size
    checks = [_correction(block, correction) for block in blocks]
    return [*_interleaved(blocks), *_interleaved(checks)]


def _interleaved(blocks: Sequence[Sequence[int]]) -> Iterator[int]:
    for row in zip_longest(*blocks):
        yield from (word for word in row if word is not None)


def _times(a: int, b: int) -> int:
    """Multiply in the field of 256 elements that QR codes use."""
    product = 0
    while b:
        if b & 1:
            product ^= a
        a = (a << 1) ^ (0x11D if a & 0x80 else 0)
        b >>= 1
    return product


def _correction(block: Sequence[int], count: int) -> list[int]:
    """Return the Reed-Solomon correction: the remainder of a division."""
    divisor, root = [1], 1
    for _ in range(count):
        shifted = [*divisor, 0]
        for at, each in enumerate(divisor):
            shifted[at + 1] ^= _times(each, root)
        divisor, root = shifted, _times(root, 2)
    rest = [*block, *([0] * count)]
    for at in range(len(block)):
        factor = rest[at]
        for offset, each in enumerate(divisor):
            rest[at + offset] ^= _times(each, factor)
    return rest[len(block) :]


# --- the square --------------------------------------------------------------------------------


def _masked(version: int, codewords: Sequence[int], mask: int) -> Square:
    square = _fixed(version)
    size = len(square)
    _write_format(square, mask)
    if version >= 7:
        _write_version(square, version)
    bits = iter("".join(f"{word:08b}" for word in codewords))
    # The column of the timing pattern is passed over.
    columns = [*range(size - 1, 7, -2), *range(5, 0, -2)]
    upward = True
    for right in columns:
        for step in range(size):
            row = size - 1 - step if upward else step
            for column in (right, right - 1):
                if square[row][column] == FREE:
                    bit = int(next(bits, "0"))
                    square[row][column] = bit ^ (not MASKS[mask](row, column))
        upward = not upward
    return square


def _fixed(version: int) -> Square:
    size = 17 + 4 * version
    square = [[FREE] * size for _ in range(size)]
    for row, column in ((0, 0), (0, size - 7), (size - 7, 0)):
        _draw_finder(square, row, column)
    for at in range(8, size - 8):
        square[6][at] = square[at][6] = 1 - at % 2
    places = _aligned(version)
    finders = {(6, 6), (6, size - 7), (size - 7, 6)}
    for row, column in product(places, repeat=2):
        if (row, column) not in finders:
            for down, right in product(range(-2, 3), repeat=2):
                square[row + down][column + right] = int(max(abs(down), abs(right)) != 1)
    square[size - 8][8] = 1
    return square


def _aligned(version: int) -> list[int]:
    """Return the positions of the alignment patterns, in rows and in columns."""
    if version == 1:
        return []
    count = version // 7 + 2
    apart = (version * 8 + count * 3 + 5) // (count * 4 - 4) * 2
    last = 4 * version + 10
    return [6, *sorted(last - apart * at for at in range(count - 1))]


def _draw_finder(square: Square, top: int, left: int) -> None:
    size = len(square)
    for row, column in product(range(-1, 8), repeat=2):
        if 0 <= top + row < size and 0 <= left + column < size:
            ring = max(abs(row - 3), abs(column - 3))
            square[top + row][left + column] = int(ring in (0, 1, 3))


def _remainder(value: int, divisor: int, bits: int) -> int:
    rest = value << bits
    while rest.bit_length() > bits:
        rest ^= divisor << (rest.bit_length() - bits - 1)
    return value << bits | rest


def _write_format(square: Square, mask: int) -> None:
    """Write the format of level L (01) with the mask."""
    size = len(square)
    word = _remainder(0b01 << 3 | mask, 0x537, 10) ^ 0x5412
    bits = [word >> at & 1 for at in range(15)]
    around = [
        *((row, 8) for row in (0, 1, 2, 3, 4, 5, 7, 8)),
        *((8, c) for c in (7, 5, 4, 3, 2, 1, 0)),
    ]
    beside = [*((8, size - 1 - at) for at in range(8)), *((size - 7 + at, 8) for at in range(7))]
    for places in (around, beside):
        for bit, (row, column) in zip(bits, places, strict=True):
            square[row][column] = bit


def _write_version(square: Square, version: int) -> None:
    size, word = len(square), _remainder(version, 0x1F25, 12)
    for at in range(18):
        row, column = at // 3, size - 11 + at % 3
        square[row][column] = square[column][row] = word >> at & 1


def _penalty(square: Square) -> int:
    """Return how hard the code is to read: long runs, squares of one shade, and an uneven share of
    dark."""
    size = len(square)
    lines = ["".join(map(str, line)) for line in (*square, *zip(*square, strict=True))]
    runs = sum(len(run) - 2 for line in lines for run in _runs(line) if len(run) >= 5)
    looks = sum(line.count("10111010000") + line.count("00001011101") for line in lines)
    fields = sum(
        square[r][c] == square[r][c + 1] == square[r + 1][c] == square[r + 1][c + 1]
        for r, c in product(range(size - 1), repeat=2)
    )
    dark = sum(map(sum, square))
    return runs + 40 * looks + 3 * fields + 10 * int(abs(dark * 20 / size / size - 10))


def _runs(line: str) -> list[str]:
    return line.replace("01", "0 1").replace("10", "1 0").split()
