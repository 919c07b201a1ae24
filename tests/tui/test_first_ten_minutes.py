"""README.md, followed to the letter in a real terminal by someone who knows no key that the screen
does not show: the first ten minutes."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from tests.tui.tmux import Tmux

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

PRESSED = {"Enter": "Enter", "F2": "F2", "Ctrl+N": "C-n", "Ctrl+Q": "C-q"}
"""By tmux's names."""

STEPS = [
    ("Enter", "Enter starts a tour", ["wants to edit greeting.py", "▌ ┃"]),
    ("y", "y  allow once", ["That is how an agent's edit"]),
    ("Ctrl+N", "Ctrl+N, then Enter", ["Enter starts another session", "new session"]),
    ("Enter", "Enter starts another session", ["wants to edit nest.py", "▌ ┃"]),
    ("F2", "F2 y F2 y", ["All birds are home", "▌ ┃"]),
    ("y", "y  allow once", ["That was the tour", "● idle"]),
    ("F2", "F2 next ask", ["wants to edit nest.py", "▌ ┃"]),
    ("y", "y  allow once", ["Thank you.", "● idle"]),
    ("Ctrl+Q", "", ["To come back: rookery open"]),
    ("Enter", "Enter opens “", ["Show me a second session", "● idle"]),
]
"""A key of README.md, what the screen shows of it before (that F1 lists it is enough: ""), and
after."""


def keys_of_readme() -> list[str]:
    section = README.split("## The first ten minutes", 1)[1].split("\n## ", 1)[0]
    steps = re.findall(r"^\d\. (.*)$", section, re.MULTILINE)
    return [key for step in steps for key in re.findall(r"\*\*(.+?)\*\*", step)]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "size",
    [
        pytest.param((80, 24), id="80x24"),
        pytest.param((200, 60), id="200x60", marks=pytest.mark.long),
    ],
)
def test_the_first_ten_minutes_are_as_the_readme_says(
    home: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    assert [key for key, _, _ in STEPS] == keys_of_readme()
    *first, back = STEPS
    with Tmux(home, size=size, cwd=tmp_path, seconds=100) as screen:
        for key, before, after in first:
            follow(screen, key, before, after)
    with Tmux(home, size=size, cwd=tmp_path, seconds=100) as screen:
        follow(screen, *back)


def follow(screen: Tmux, key: str, before: str, after: list[str]) -> None:
    assert not before or key in before
    screen.wait_for(before)
    if key == "y":
        screen.press_until(key, after[0])  # an ask that has just come takes no key
    else:
        screen.press(PRESSED[key])
    screen.wait_for(*after)


def test_the_readme_begins_with_install_and_run() -> None:
    (install, run) = README.partition("```sh\n")[2].partition("```")[0].splitlines()
    assert install.split()[:2] == ["make", "install"]
    assert run.split()[0] == "rookery"
    assert README.index(install) < README.index("\n## ")


def test_the_extras_of_the_readme_are_those_of_the_package() -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.findall(r"install '\.\[([a-z,]+)\]'", README)
    assert len(named) >= 3
    for extras in named:
        assert set(extras.split(",")) <= known["optional-dependencies"].keys()


def test_the_base_install_says_how_to_get_the_terminal_interface(
    home: Path, tmp_path: Path
) -> None:
    """A real interpreter that finds the base requirements and nothing else."""
    import click
    import tomlkit

    packages = tmp_path / "packages"
    packages.mkdir()
    for module in (click, tomlkit):
        place = Path(str(module.__file__)).parent
        (packages / place.name).symlink_to(place)
    path = f"PYTHONPATH={ROOT / 'src'}:{packages}"
    wide = (300, 30)  # however long the clone's path is
    with Tmux(home, "env", path, sys.executable, "-S", "-m", "rookery", size=wide) as screen:
        screen.wait_for("There are no sessions yet", "-m pip install", f"{ROOT}[tui]")
