"""Pictures drawn in the terminal: the real program in terminals that the test plays."""

import hashlib
import os
import re
import signal
import subprocess
from base64 import b64decode
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat

from rookery.core.json import Json
from tests.export.sessions import chunk, home_of, prompt, session, tool, turn
from tests.tui.terminals import ITERM2, KITTY, PLAIN, XTERM, Played, Player, Screen, of_sixels

SESSION = "a1b2c3"
COLUMN = 35
"""Where a card's details begin, beside the session list."""


def colourful(wide: int, high: int) -> Image.Image:
    across, down = Image.linear_gradient("L").resize((wide, high)), Image.linear_gradient("L")
    down = down.rotate(90).resize((wide, high))
    return Image.merge("RGB", (across, down, Image.new("L", (wide, high), 90)))


def file_of(image: Image.Image, kind: str = "PNG") -> bytes:
    out = BytesIO()
    image.save(out, kind)
    return out.getvalue()


SMALL = colourful(200, 100)
LARGE = colourful(2000, 1000)
"""Larger than the terminal."""


def block(data: bytes, image: Image.Image, name: str = "shot.png") -> Json:
    kept = {"blob": hashlib.sha256(data).hexdigest(), "bytes": len(data), "name": name}
    size = {"width": image.width, "height": image.height}
    return {"type": "image", "mimeType": "image/png", **kept, **size}


def screenshot(*blocks: Json) -> Json:
    content = [{"type": "content", "content": each} for each in blocks]
    return tool("s1", "Screenshot", "other", content=content)


def home_with(place: Path, *images: Image.Image, kind: str = "PNG", before: int = 0) -> str:
    """A session with a screenshot, and lines of text before it."""
    files = [file_of(image, kind) for image in images]
    blocks = [block(data, image) for data, image in zip(files, images, strict=True)]
    lines = "\n\n".join(f"Line {number}" for number in range(before))
    updates = (chunk(lines) if before else prompt("Go on."), screenshot(*blocks), turn("idle"))
    begin = (session(cwd=str(place)), prompt("Take a screenshot."), turn("running"))
    return home_of(place, *begin, *updates, blobs=files)


def alike(one: Image.Image, other: Image.Image, most: float = 6.0) -> bool:
    """Whether they differ by little, on the whole."""
    small = other.convert("RGB").resize(one.size)
    means = ImageStat.Stat(ImageChops.difference(one.convert("RGB"), small)).mean
    return max(means) < most


def grid(rows: int, columns: int, top: int, left: int) -> dict[tuple[int, int], tuple[int, int]]:
    cells = [(row, column) for row in range(rows) for column in range(columns)]
    return {(top + row, left + column): (row, column) for row, column in cells}


def whole(shown: Screen) -> bool:
    """Whether each picture that is placed has been sent."""
    return bool(shown.places()) and shown.places().keys() == shown.pictures().keys()


def caption_row(shown: Screen) -> int:
    return next(row for row in range(40) if "▣" in shown.line(row))


def opened(home: str, player: Player | None, **environment: str) -> Played:
    return Played(home, player, "open", SESSION, **environment)


def to_transcript(terminal: Played) -> None:
    """With Shift+Tab; its cursor stands at the left of the last card."""
    terminal.until(lambda screen: "Screenshot" in screen.text, "the session")
    terminal.type("\x1b[Z")
    marks = [(row, 31) for row in range(40)]
    terminal.until(
        lambda screen: any(screen.cells[at].text == "▌" for at in marks if at in screen.cells),
        "the cursor",
    )


def leave(terminal: Played) -> Screen:
    terminal.type("\x11")
    return terminal.rest()


# --- in the transcript ---------------------------------------------------------------------------


@pytest.mark.parametrize("colours", ["truecolor", ""])
def test_kitty_shows_a_picture_between_the_lines(tmp_path: Path, colours: str) -> None:
    with opened(home_with(tmp_path, SMALL), KITTY, COLORTERM=colours) as terminal:
        shown = terminal.until(whole, "the picture")
        ((number, cells),) = shown.places().items()
        assert cells == grid(5, 20, caption_row(shown) + 1, COLUMN)
        image = shown.pictures()[number]
        assert image.size == SMALL.size
        assert ImageChops.difference(image.convert("RGB"), SMALL).getbbox() is None
        assert "v to view, o to open" in shown.text
        assert "Write here" in shown.text, "no answer was typed"
        assert leave(terminal).pictures() == {}, "nothing stays in the terminal"


def test_a_picture_is_asked_for_after_the_first_screen(tmp_path: Path) -> None:
    with opened(home_with(tmp_path, SMALL), KITTY) as terminal:
        shown = terminal.until(whole, "the picture")
        before = shown.everything[: shown.everything.index("\x1b_G")]
        assert "Write here" in before
        assert shown.asked == [">0q", "kitty", "16t", "c"], "once"


@pytest.mark.parametrize("kind", ["JPEG", "GIF", "WEBP"])
def test_every_kind_reaches_kitty_as_png(tmp_path: Path, kind: str) -> None:
    with opened(home_with(tmp_path, SMALL, kind=kind), KITTY) as terminal:
        shown = terminal.until(whole, "the picture")
        (image,) = shown.pictures().values()
        assert (image.format, image.size) == ("PNG", SMALL.size)
        assert alike(SMALL, image, most=12)


def test_a_large_picture_is_sent_small(tmp_path: Path) -> None:
    """At most twelve lines, and no more dots than those have."""
    with opened(home_with(tmp_path, LARGE), KITTY) as terminal:
        shown = terminal.until(whole, "the picture")
        ((number, cells),) = shown.places().items()
        assert cells == grid(12, 48, caption_row(shown) + 1, COLUMN)
        assert shown.pictures()[number].size == (480, 240)
        assert alike(SMALL, shown.pictures()[number])


def test_a_picture_scrolls_with_its_text(tmp_path: Path) -> None:
    with opened(home_with(tmp_path, SMALL, before=40), KITTY) as terminal:
        shown = terminal.until(whole, "the picture")
        top = caption_row(shown)
        to_transcript(terminal)
        terminal.type("g")
        terminal.until(lambda screen: not screen.places() and "Line 3" in screen.text, "the start")
        terminal.type("G")
        place = grid(5, 20, top + 1, COLUMN)
        terminal.until(lambda screen: [*screen.places().values()] == [place], "the end")
        assert len(shown.pictures()) == 1, "sent once"


def is_stopped(pid: int) -> bool:
    about = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, check=True)
    return about.stdout.strip().startswith(b"T")


def test_a_suspended_program_leaves_nothing_and_comes_back_with_it(tmp_path: Path) -> None:
    with opened(home_with(tmp_path, SMALL), KITTY) as terminal:
        shown = terminal.until(whole, "the picture")
        os.kill(terminal.process.pid, signal.SIGTSTP)
        terminal.until(lambda screen: not screen.pictures(), "the end of the picture")
        terminal.until(lambda screen: screen.everything.endswith("\x1b[?1004l"), "its last word")
        terminal.until(lambda _: is_stopped(terminal.process.pid), "the stop")
        os.kill(terminal.process.pid, signal.SIGCONT)
        terminal.until(whole, "the picture again")
        assert len(shown.pictures()) == 1


# --- in a window ---------------------------------------------------------------------------------


def view(terminal: Played) -> None:
    to_transcript(terminal)
    terminal.type("v")


def test_kitty_shows_a_picture_in_a_window(tmp_path: Path) -> None:
    with opened(home_with(tmp_path, LARGE), KITTY) as terminal:
        view(terminal)
        placed = {"a": "p", "c": "98", "r": "25", "C": "1"}
        shown = terminal.until(
            lambda screen: any(placed.items() <= keys.items() for keys, _ in screen.graphics),
            "the picture",
        )
        number = next(int(keys["i"]) for keys, _ in shown.graphics if keys.get("a") == "p")
        assert shown.pictures()[number].size == (980, 490)
        assert "shot.png · image/png · 2,000 × 1,000" in shown.text
        terminal.type("\x1b")
        terminal.until(lambda screen: number not in screen.pictures(), "the end of it")
        terminal.until(whole, "the transcript")
        terminal.type("v")
        terminal.until(lambda screen: "2,000 × 1,000" in screen.text, "the window again")
        assert leave(terminal).pictures() == {}, "nothing stays in the terminal"


def test_iterm2_shows_a_picture_in_a_window(tmp_path: Path) -> None:
    with opened(home_with(tmp_path, SMALL), ITERM2) as terminal:
        view(terminal)
        shown = terminal.until(lambda screen: bool(screen.drawn), "the picture")
        row, column, said = shown.drawn[0]
        head, _, payload = said.partition(":")
        assert "inline=1" in head
        assert "width=20;height=5" in head
        image = Image.open(BytesIO(b64decode(payload)))
        assert ImageChops.difference(image.convert("RGB"), SMALL).getbbox() is None
        assert (row, column) == (2, 40), "below the heading, in the middle"
        assert not shown.places()
        terminal.type("\x1b")
        terminal.until(
            lambda screen: (
                "Take a screenshot." in screen.text
                and all(screen.line(line).strip() for line in range(1, 4))
            ),
            "the transcript, and text where the picture was",
        )


def test_sixels_show_a_picture_in_a_window(tmp_path: Path) -> None:
    with opened(home_with(tmp_path, LARGE), XTERM) as terminal:
        view(terminal)
        shown = terminal.until(lambda screen: bool(screen.drawn), "the picture")
        row, column, said = next(each for each in shown.drawn if ">|" not in each[2])
        image = of_sixels(said)
        assert image.width <= 980
        assert alike(LARGE.resize(image.size), image)
        assert row * 20 + image.height <= 39 * 20, "nothing scrolls"
        assert column > 0


def test_a_window_fits_the_terminal_again(tmp_path: Path) -> None:
    with opened(home_with(tmp_path, LARGE), ITERM2) as terminal:
        view(terminal)
        shown = terminal.until(lambda screen: bool(screen.drawn), "the picture")
        terminal.resize(20, 60)
        terminal.until(lambda screen: "height=1" in screen.drawn[-1][2][:80], "a smaller one")
        found = re.search(r"width=(\d+);height=(\d+)", shown.drawn[-1][2])
        assert found is not None
        assert int(found[1]) <= 58
        assert int(found[2]) <= 17


def test_the_next_picture_of_a_block(tmp_path: Path) -> None:
    with opened(home_with(tmp_path, SMALL, colourful(100, 100)), ITERM2) as terminal:
        view(terminal)
        terminal.until(lambda screen: "1 of 2" in screen.text and screen.drawn, "the first")
        terminal.type("\x1b[C")
        terminal.until(lambda screen: "2 of 2" in screen.text, "the second")
        terminal.until(lambda screen: "width=10;height=5" in screen.drawn[-1][2], "its picture")


# --- where nothing can be drawn ------------------------------------------------------------------


def untouched(shown: Screen, left: Sequence[str] = ()) -> None:
    """Nothing was drawn, and nothing typed."""
    assert not shown.places()
    assert not shown.pictures()
    assert all("1337" not in said and "q" not in said for _, _, said in shown.drawn), left


def test_a_terminal_that_draws_nothing_keeps_the_caption(tmp_path: Path) -> None:
    with opened(home_with(tmp_path, SMALL), PLAIN) as terminal:
        shown = terminal.until(lambda screen: "c" in screen.asked, "the question")
        to_transcript(terminal)
        terminal.type("v")
        terminal.until(lambda screen: "This terminal draws no pictures." in screen.text, "a word")
        untouched(shown)
        terminal.type("\x1b")
        terminal.until(lambda screen: "Write here" in screen.text, "an empty composer")


def test_answers_that_come_late_are_not_typed(tmp_path: Path) -> None:
    with opened(home_with(tmp_path, SMALL), None) as terminal:
        shown = terminal.until(lambda screen: "c" in screen.asked, "the question")
        untouched(shown)
        terminal.type("\x1bP>|kitty(0.41.0)\x1b\\\x1b_Gi=31;OK\x1b\\typed\x1b[6;20;10t\x1b[?62;4c")
        terminal.until(lambda screen: "│ typed  " in screen.text, "the prompt")
        terminal.until(whole, "the picture, late")


@pytest.mark.parametrize(
    "environment",
    [{"TERM": "linux"}, {"TMUX": "/tmp/tmux"}, {"TERM_PROGRAM": "Apple_Terminal"}],
)
def test_a_terminal_that_would_print_the_question_is_not_asked(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with opened(home_with(tmp_path, SMALL), KITTY, **environment) as terminal:
        terminal.until(lambda screen: "Screenshot" in screen.text, "the session")
        to_transcript(terminal)
        terminal.type("v")
        shown = terminal.until(lambda screen: "draws no pictures" in screen.text, "a word")
        assert shown.asked == []
        untouched(shown)


def test_pictures_can_be_turned_off(tmp_path: Path) -> None:
    home = home_with(tmp_path, SMALL)
    (Path(home) / "config.toml").write_text("[interface]\npictures = false\n")
    with opened(home, KITTY) as terminal:
        terminal.until(lambda screen: "Screenshot" in screen.text, "the session")
        to_transcript(terminal)
        terminal.type("v")
        shown = terminal.until(lambda screen: "draws no pictures" in screen.text, "a word")
        assert shown.asked == []


def test_a_damaged_picture_keeps_its_caption(tmp_path: Path) -> None:
    """Where it was given cells, they are taken back; its name is no command."""
    data = file_of(SMALL)[:-900]
    shot = screenshot(block(data, SMALL, name="a\x1b_Ga=d\x1b\\.png"))
    begin = (session(cwd=str(tmp_path)), prompt("Take a screenshot."), turn("running"))
    home = home_of(tmp_path, *begin, shot, turn("idle"), blobs=[data])
    with opened(home, KITTY) as terminal:
        to_transcript(terminal)
        terminal.type("v")
        terminal.until(lambda screen: "cannot be drawn" in screen.text, "what the window says")
        terminal.type("\x1b")
        terminal.until(lambda screen: "cannot be drawn" not in screen.text, "the transcript")
        shown = terminal.until(lambda screen: not screen.places(), "no cells")
        assert shown.pictures() == {}
        assert all(keys.get("a") == "q" for keys, _ in shown.graphics)
