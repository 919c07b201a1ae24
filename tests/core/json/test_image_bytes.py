"""Kinds and sizes of pictures against files that Pillow wrote, and against damaged ones."""

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from rookery.core.json.image_bytes import Picture, look_at, type_of

WRITTEN = [
    ("PNG", {}),
    ("JPEG", {}),
    ("JPEG", {"progressive": True}),
    ("JPEG", {"comment": b"\xff\xc0" * 300}),  # looks like a frame, and is none
    ("GIF", {}),
    ("WEBP", {}),
    ("WEBP", {"lossless": True}),
    ("WEBP", {"exif": b"Exif\0\0MM\0*\0\0\0\x08\0\0"}),  # with an extended header
]


def drawn(form: str, wide: int = 123, high: int = 45, **options: object) -> bytes:
    out = BytesIO()
    Image.new("RGB", (wide, high), (11, 122, 133)).save(out, form, **options)
    return out.getvalue()


@pytest.mark.parametrize(("form", "options"), WRITTEN)
def test_a_picture_is_known_with_its_size(form: str, options: dict[str, object]) -> None:
    data = drawn(form, **options)
    assert look_at(data) == Picture(f"image/{form.lower()}", 123, 45)
    for end in range(0, min(len(data), 800), 7):  # wherever it was cut off
        assert look_at(data[:end]) in (None, Picture(f"image/{form.lower()}", 123, 45))


@pytest.mark.parametrize(
    "data",
    [
        b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        b"<script>alert(1)</script>",
        b"BM\x1e\0\0\0",
        b"\x89PNG\r\n\x1a\n" + b"\0" * 40,
        b"RIFF1234WEBPVP8 ",
        b"GIF89a\0\0\0\0",
        b"\xff\xd8\xff",
        b"",
    ],
)
def test_what_is_none_or_has_no_size_is_no_picture(data: bytes) -> None:
    assert look_at(data) is None


def test_a_small_file_of_a_huge_picture_is_refused() -> None:
    out = BytesIO()
    Image.new("1", (10_000, 10_000)).save(out, "PNG")
    assert len(out.getvalue()) < 100_000
    found = look_at(out.getvalue())
    assert found is not None
    assert found.refusal == "too large to show: 10,000 × 10,000"
    screen = look_at(drawn("PNG", 7_680, 4_320))
    assert screen is not None
    assert screen.refusal == ""


@given(st.sampled_from([b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b""]), st.binary())
def test_any_bytes_have_a_kind_or_none(start: bytes, rest: bytes) -> None:
    found = look_at(start + rest)
    assert found is None or found.kind == type_of(start + rest)
