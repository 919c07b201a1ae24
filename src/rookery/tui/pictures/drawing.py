"""Converts an agent's bytes into a picture that is safe to send to a terminal."""

import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from threading import Lock

from rookery.core.json.image_bytes import look_at

LARGEST = 12 * 1024 * 1024
"""Bytes of a picture that is drawn."""
LARGEST_AS_IT_IS = 4 * 1024 * 1024
"""Bytes of one that is sent as it came."""
LARGEST_DRAWN = 24 * 1024 * 1024
SECONDS = 20.0

_one = Lock()
"""A transcript full of pictures starts one decoder after the other."""


def drawn(data: bytes, how: str, size: tuple[int, int], ground: str) -> bytes | None:
    """Return a PNG or sixels of at most `size` pixels; None if it cannot be drawn. `ground`: the
    background colour, as six digits. Takes a while: do not call it on the screen's thread."""
    picture = look_at(data)
    if picture is None or picture.refusal or len(data) > LARGEST:
        return None
    if not can_decode():
        return as_it_is(data, picture.kind, how)
    line = [sys.executable, "-P", "-m", "rookery.tui.pictures.decode"]
    form = "sixel" if how == "sixel" else "png"
    line += [picture.kind, form, str(size[0]), str(size[1]), ground]
    with _one:
        try:
            done = subprocess.run(
                line, input=data, capture_output=True, timeout=SECONDS, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return None
    return done.stdout if 0 < len(done.stdout) <= LARGEST_DRAWN else None


def as_it_is(data: bytes, kind: str, how: str) -> bytes | None:
    """Return the bytes unchanged if terminals decode this kind themselves, else None."""
    fits = len(data) <= LARGEST_AS_IT_IS
    return data if fits and (how == "iterm2" or (how == "kitty" and kind == "image/png")) else None


@cache
def can_decode() -> bool:
    """Tell whether Pillow is installed; Rookery's own agent brings it."""
    return find_spec("PIL") is not None
