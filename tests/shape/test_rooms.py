"""How much each room may hold. A room is a row of the table in ARCHITECTURE.md. Its number only
falls, unless a record in docs/decisions says why it rose."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "rookery"

LINES = {
    "core": 24_070,
    "log": 5_808,
    "worker": 10_138,
    "wire": 4_726,
    "home": 7_071,
    "operations": 22_143,
    "agent": 21_927,
    "cli": 14_670,
    "tui": 16_487,
    "acp": 5_437,
    "daemon": 12_225,
    "export": 1_805,
}
"""Lines of Python, all counted."""
NO_ROOM = {"__init__.py", "__main__.py", "build.py"}


@cache
def rooms() -> dict[str, list[str]]:
    """Return the folders of each room, as the table in ARCHITECTURE.md names them."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \*\*(\w+)\*\* \| .* \| (`.*`) \|$", page, re.MULTILINE)
    return {room: re.findall(r"`([\w/]+)`", folders) for room, folders in rows}


@cache
def files_of_rooms() -> dict[str, list[Path]]:
    """Return the files of each room; those of none are under "". A folder that is named counts
    before the one around it."""
    named = {folder: room for room, folders in rooms().items() for folder in folders}
    found: dict[str, list[Path]] = {room: [] for room in ("", *rooms())}
    for path in SOURCES.rglob("*.py"):
        around = map(str, path.relative_to(SOURCES).parents)
        found[next((named[each] for each in around if each in named), "")].append(path)
    return found


def lines_of(room: str) -> int:
    return sum(path.read_text(encoding="utf-8").count("\n") for path in files_of_rooms()[room])


def test_there_are_twelve_rooms() -> None:
    assert list(rooms()) == list(LINES)


def test_every_file_is_in_a_room() -> None:
    assert {path.name for path in files_of_rooms()[""]} == NO_ROOM


@pytest.mark.parametrize("room", LINES)
def test_a_room_does_not_grow(room: str) -> None:
    now = lines_of(room)
    assert now <= LINES[room], (
        f"{room}/ has {now} lines, at most {LINES[room]}: take something out, or record in "
        "docs/decisions why it needs more, and raise the number"
    )


def test_the_page_names_files_that_exist() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)+(?:\.py|/)?)`", page)) - {"session/prompt"}
    missing = [
        each
        for each in sorted(named)
        if not any((SOURCES / f"{each}{end}").exists() for end in ("", ".py"))
        and not (ROOT / each).exists()
    ]
    assert not missing
