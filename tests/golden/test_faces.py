"""What faces offer by name: slash commands and keys of the terminal interface, and the words that a
shell completes. (Those of the page: tests/page/test_menus.py.)"""

import re
from collections.abc import Iterable
from pathlib import Path

from textual.binding import Binding

from rookery.tui.keys.bindings import PLACES
from rookery.tui.writing import commands
from tests.cli.driving import rookery
from tests.golden.files import FOLDER, Golden, answered

COMPLETION = "faces/completion.txt"


def slash(each: commands.Command) -> str:
    return f"/{each.name} {each.hint}".rstrip() + f": {each.about}"


def keys() -> Iterable[str]:
    for place, bindings in PLACES:
        yield f"\n{place}:"
        for each in bindings:
            assert isinstance(each, Binding)
            quiet = "" if each.show else " (not in the last line)"
            yield f"{each.id} {each.key}: {each.tooltip or each.description}{quiet}"


def test_the_terminal_interface_offers_what_it_did(golden: Golden) -> None:
    here, there = commands.known(None), commands.known(None, here=False)
    other = [f"/{name}: as /{each.name}" for name, each in commands.ALSO.items()]
    lines = ["Slash commands:", *map(slash, here.values())]
    lines += ["\nNot listed:", *other, "\nNot for another machine:"]
    lines += [f"/{name}" for name in here if name not in there]
    golden.hold({"faces/terminal.txt": "\n".join([*lines, *keys()]) + "\n"})


def completed(line: str) -> str:
    words = line.removesuffix("|")
    place = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    done = rookery(_ROOKERY_COMPLETE="titled_complete", **place)
    assert done.err == "", line
    rows = [line.removeprefix("plain\t").split("\t") for line in done.out.splitlines()]
    text = "\n".join("  ".join(row).rstrip() for row in rows)
    return re.sub(r"\b[0-9a-f]{10}\b", "ID", text)


def test_a_shell_completes_what_it_did(home: Path, golden: Golden) -> None:
    rookery("new", "--agent", "demo", "--title", "New")
    text = (FOLDER / COMPLETION).read_text(encoding="utf-8")
    golden.hold({COMPLETION: answered(text, completed)})
