"""Images of the system's clipboard, through the program that is there: real scripts on PATH."""

import os
from pathlib import Path

import pytest

from rookery.client.attach import LARGEST, Attachment
from rookery.tui.writing import clipboard
from tests.tui import gallery
from tests.tui.test_keys import showing

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def tool(place: Path, name: str, script: str) -> Path:
    """A program; where it lies."""
    programs = place / "programs"
    programs.mkdir(exist_ok=True)
    path = programs / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return programs


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where only the programs of a test are found, beside those of every system."""
    (tmp_path / "programs").mkdir()
    (tmp_path / "image.png").write_bytes(PNG)
    kept = [name for name in ("cat", "sleep", "head", "printf") if Path("/bin", name).exists()]
    for name in kept:
        os.symlink(f"/bin/{name}", tmp_path / "programs" / name)
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def refusal(platform: str = "linux") -> str:
    with pytest.raises(clipboard.NoImage) as caught:
        await clipboard.read(platform)
    return str(caught.value)


WAYLAND = (
    'case "$*" in --list-types) echo text/html; echo image/png;; *image/png) cat image.png;; esac'
)
X11 = 'case "$*" in *TARGETS) echo TARGETS; echo image/png;; *"-t image/png") cat image.png;; esac'


@pytest.mark.parametrize(("name", "script"), [("wl-paste", WAYLAND), ("xclip", X11)])
async def test_an_image_is_recognised_by_its_kind(here: Path, name: str, script: str) -> None:
    tool(here, name, script)
    assert await clipboard.read("linux") == Attachment("clipboard.png", PNG, "image/png")


async def test_macos_images_come_as_bytes_or_as_applescript_text(here: Path) -> None:
    tool(
        here,
        "osascript",
        f"[ \"$2\" = 'the clipboard as «class PNGf»' ] && echo '«data PNGf{PNG.hex().upper()}»'",
    )
    assert (await clipboard.read("darwin")).data == PNG
    tool(here, "osascript", "echo 'execution error' >&2; exit 1")
    assert await refusal("darwin") == "There is no image on the clipboard."
    tool(here, "pngpaste", "cat image.png")
    assert (await clipboard.read("darwin")).data == PNG


async def test_a_program_without_a_display_gives_way_to_the_other(here: Path) -> None:
    tool(here, "wl-paste", "echo 'no compositor' >&2; exit 1")
    assert await refusal() == "There is no image on the clipboard."
    tool(here, "xclip", X11)
    assert (await clipboard.read("linux")).data == PNG


async def test_without_a_program_the_error_says_what_to_install(here: Path) -> None:
    assert "install wl-clipboard (Wayland) or xclip (X11)" in await refusal("linux")
    assert "install pngpaste" in await refusal("darwin")


async def test_data_that_is_no_image_is_refused(here: Path) -> None:
    tool(here, "wl-paste", "echo text/plain")
    assert await refusal() == "There is no image on the clipboard."
    tool(here, "wl-paste", 'case "$*" in --list-types) echo image/png;; *) echo BM-no-png;; esac')
    assert "do not accept this kind of image" in await refusal()
    flood = f"head -c {LARGEST + 1} /dev/zero"
    tool(here, "wl-paste", f'case "$*" in --list-types) echo image/png;; *) {flood};; esac')
    assert "too large" in await refusal()


async def test_a_hanging_program_is_ended(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard, "WITHIN", 0.2)
    tool(here, "wl-paste", "echo $$ > pid; sleep 1000")
    assert await refusal() == "There is no image on the clipboard."
    with pytest.raises(ProcessLookupError):
        os.kill(int((here / "pid").read_text()), 0)


# --- on the screen -----------------------------------------------------------------------------

PASTED = Attachment("clipboard.png", PNG, "image/png")


async def test_an_agent_that_takes_no_image_gets_none() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        takes = {"promptCapabilities": {"image": False}}
        app.window.header = app.window.header.with_(capabilities=takes)
        await pilot.press("ctrl+v")
        await pilot.pause()
        assert [each.message for each in app._notifications] == ["▲ claude does not accept images."]
        app.desk.attached(app.session, [PASTED], pasted="/tmp/a.png")
        await pilot.pause()
        assert app.composer.text == "/tmp/a.png"  # it may look at the file by itself
        assert not app.composer.has_files


async def test_text_copied_here_is_pasted_if_there_is_no_image() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        app.desk.pasted(app.session, "There is no image on the clipboard.")
        await pilot.pause()
        assert [each.message for each in app._notifications] == [
            "▲ There is no image on the clipboard."
        ]
        app.copy_to_clipboard("some words")
        app.desk.pasted(app.session, "There is no image on the clipboard.")
        await pilot.pause()
        assert app.composer.text == "some words"


async def test_a_prompts_number_of_files_is_bounded() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        for _ in range(9):
            app.desk.attached(app.session, [PASTED])
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert len(app.files) == 8
        assert "the limit is 8" in next(iter(app._notifications)).message
