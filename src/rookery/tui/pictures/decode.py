"""Re-encodes one picture, as a program of its own: `python -m rookery.tui.pictures.decode KIND FORM
WIDTH HEIGHT GROUND` reads an agent's bytes and writes a PNG or sixels of at most that size.

A decoder may hang, run out of memory or be exploited by a crafted file: it has little time and
memory, and its output is checked by the process that started it."""

import io
import resource
import sys
import warnings
from typing import TYPE_CHECKING

from rookery.core.json.image_bytes import MOST_PIXELS
from rookery.tui.pictures import sixel

if TYPE_CHECKING:
    from PIL.Image import Image

MEMORY, SECONDS = 1 << 30, 10
COLOURS = 255


def main(kind: str, form: str, width: str, height: str, ground: str) -> None:
    _bound(resource.RLIMIT_AS, MEMORY)
    _bound(resource.RLIMIT_CPU, SECONDS)
    data = sys.stdin.buffer.read()
    image = _opened(data, kind.rpartition("/")[2].upper(), (int(width), int(height)))
    sys.stdout.buffer.write(_sixels(image, ground) if form == "sixel" else _png(image))


def _bound(what: int, most: int) -> None:
    try:
        hard = resource.getrlimit(what)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (least, hard))
    except (OSError, ValueError):  # not every system has each of them
        pass


def _opened(data: bytes, kind: str, size: tuple[int, int]) -> "Image":
    """Return the first frame of a picture, upright, no larger than `size`."""
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    image = Image.open(io.BytesIO(data), formats=(kind,))
    image.draft("RGB", size)  # a JPEG is decoded at the size that is needed
    upright: Image.Image = ImageOps.exif_transpose(image)
    drawn = upright.convert("RGBA")
    drawn.thumbnail(size)
    return drawn


def _png(image: "Image") -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def _sixels(image: "Image", ground: str) -> bytes:
    from PIL import Image

    flat = Image.new("RGBA", image.size, f"#{ground}")
    flat.alpha_composite(image)
    few = flat.convert("RGB").quantize(COLOURS)
    levels = few.getpalette() or []
    palette = list(zip(levels[::3], levels[1::3], levels[2::3], strict=False))
    return sixel.encoded(few.tobytes(), *few.size, palette)


if __name__ == "__main__":
    main(*sys.argv[1:])
