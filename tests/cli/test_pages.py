"""Every `rookery …` line in README.md and docs: its commands and options exist."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click

from rookery.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
COMMENT = re.compile(r" {2,}.*| # .*| [|>] .*| && .*")


def lines_of(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"(?ms)^```\w*\n(.*?)^```", text)
    lines = [
        line.removeprefix("here$ ").removeprefix("box$ ") for line in "".join(blocks).split("\n")
    ]
    for line in [*lines, *re.findall(r"`([^`\n]+)`", text)]:
        if re.match(r"rookery( |$)(?!=)", line):
            yield COMMENT.sub("", line)


def options_of(command: click.Command) -> set[str]:
    options = [each for each in command.params if isinstance(each, click.Option)]
    return {
        "-h",
        "--help",
        *(name for each in options for name in (*each.opts, *each.secondary_opts)),
    }


def unknown_words(line: str, root: click.Group) -> list[str]:
    """Options and commands of the line that there are not."""
    command: click.Command = root
    known, unknown = options_of(root), []
    for word in shlex.split(re.sub(r"[\[\]…]", "", line))[1:]:
        if word == "--":
            break
        if re.match(r"--?[a-z]", word):
            if isinstance(command, click.Group) and command.name == "race":
                known |= options_of(command.commands["start"])  # which may be left out
            unknown += [word] if word.partition("=")[0].rstrip(".,:;") not in known else []
        elif isinstance(command, click.Group):
            found = command.get_command(click.Context(command), word)
            if found is not None:
                command, known = found, known | options_of(found)
            elif command is root and word.islower() and not line.startswith("rookery -"):
                unknown.append(word)
    return unknown


def test_every_command_in_the_pages_exists() -> None:
    root = next(each for each in vars(app).values() if isinstance(each, click.Group))
    lines = [(page.name, line) for page in PAGES for line in lines_of(page)]
    assert len(lines) > 300
    wrong = [(*where, found) for where in lines if (found := unknown_words(where[1], root))]
    assert wrong == []
