"""QR codes of addresses, so that nobody has to type one on a phone."""

import segno

QUIET = 2
"""Light squares around it in a terminal; readers manage with fewer than the standard's four."""


class TooLong(Exception):
    """Raised when the text does not fit."""


def code(text: str, border: int) -> list[bytes]:
    """Return the rows of the code, where 1 is dark, within a light border. Raises TooLong."""
    try:
        made = segno.make_qr(text.encode(), error="l")
    except segno.DataOverflowError as error:
        raise TooLong(str(error)) from None
    return [bytes(row) for row in made.matrix_iter(border=border)]


def drawn(text: str) -> str:
    """Render the code, two rows to a line, light on dark, as most terminals are. Raises TooLong."""
    rows = code(text, QUIET)
    rows += [bytes(len(rows))] * (len(rows) % 2)
    signs = {(0, 0): "█", (0, 1): "▀", (1, 0): "▄", (1, 1): " "}
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return "\n".join("".join(signs[pair] for pair in zip(*two, strict=True)) for two in pairs)
