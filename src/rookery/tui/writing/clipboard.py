"""Reading an image from the system's clipboard through a program, since a terminal only pastes
text."""

import asyncio
import os
import shutil
import signal
import sys
from contextlib import suppress
from typing import NamedTuple

from rookery.client.attach import LARGEST, Attachment, mime_of
from rookery.core import units
from rookery.core.json import image_bytes

WITHIN = 5.0
"""Seconds per program."""

KINDS = ("image/png", "image/jpeg", "image/webp", "image/gif")
"""In order of preference."""

_AS_PNG = "the clipboard as «class PNGf»"


class NoImage(Exception):
    """Raised when there is no image; says why, and what helps."""


class Way(NamedTuple):
    """A program that reads the clipboard: the arguments `kinds` list the types, `give` writes one
    of them."""

    program: str
    give: tuple[str, ...]
    kinds: tuple[str, ...] = ()
    hex: bool = False
    """It writes the bytes as AppleScript does."""


_XCLIP = ("-selection", "clipboard", "-o", "-t")
LINUX = (
    Way("wl-paste", ("--no-newline", "--type"), ("--list-types",)),
    Way("xclip", _XCLIP, (*_XCLIP, "TARGETS")),
)
MACOS = (Way("pngpaste", ("-",)), Way("osascript", ("-e", _AS_PNG), hex=True))
HELP = ("install wl-clipboard (Wayland) or xclip (X11)", "install pngpaste")


async def read(platform: str = sys.platform) -> Attachment:
    """Return the complete image. Raises NoImage."""
    here, helps = (MACOS, HELP[1]) if platform == "darwin" else (LINUX, HELP[0])
    ways = [way for way in here if shutil.which(way.program)]
    if not ways:
        raise NoImage(f"Cannot read images from the clipboard: {helps}.")
    # Both may be installed: the one with a display comes first.
    ways.sort(key=lambda way: way.program == "wl-paste" and "WAYLAND_DISPLAY" not in os.environ)
    for way in ways:
        if data := await _image(way):
            return _checked(data)
    raise NoImage("There is no image on the clipboard.")


async def _image(way: Way) -> bytes:
    argv = list(way.give)
    if way.kinds:
        offered = (await _read(way.program, *way.kinds)).decode("utf-8", "replace").split()
        kind = next((kind for kind in KINDS if kind in offered), "")
        if not kind:
            return b""
        argv.append(kind)
    data = await _read(way.program, *argv)
    return _from_hex(data) if way.hex else data


def _checked(data: bytes) -> Attachment:
    if len(data) > LARGEST:
        raise NoImage(f"The clipboard's image is too large; the limit is {units.size(LARGEST)}.")
    kind = mime_of(data, "clipboard")
    if kind not in image_bytes.KINDS:
        raise NoImage("Agents do not accept this kind of image.")
    return Attachment(f"clipboard.{kind.partition('/')[2]}", data, kind)


def _from_hex(text: bytes) -> bytes:
    """Decode `«data PNGf89504E47…»`; b"" if it is anything else."""
    _, marker, rest = text.partition(b"PNGf")
    digits = rest.partition("»".encode())[0].strip()
    try:
        return bytes.fromhex(digits.decode("ascii")) if marker else b""
    except (UnicodeDecodeError, ValueError):
        return b""


async def _read(program: str, *args: str) -> bytes:
    """Return the program's output, or b"" if it failed or timed out."""
    quiet = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *(program, *args),
            stdin=quiet,
            stdout=asyncio.subprocess.PIPE,
            stderr=quiet,
            start_new_session=True,
        )
    except OSError:
        return b""
    assert process.stdout is not None
    try:
        async with asyncio.timeout(WITHIN):
            try:  # as hex an image is twice as long; too long ones are not read to the end
                return await process.stdout.readexactly(3 * LARGEST)
            except asyncio.IncompleteReadError as ended:
                return b"" if await process.wait() else ended.partial
    except TimeoutError:
        return b""
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
