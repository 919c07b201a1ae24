"""Every page of help, as it is printed."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from rookery.cli import app
from rookery.cli.commands import ALL, TOPIC, TOPICS
from tests.golden.files import Golden

WIDTH = 96
ROOT = Path(__file__).resolve().parents[2]


def context(command: click.Command, parent: click.Context | None, name: str) -> click.Context:
    """As click makes one when the command is called."""
    given = {"terminal_width": WIDTH, **command.context_settings}
    return click.Context(command, parent=parent, info_name=name, **given)


def pages(place: click.Context) -> Iterator[str]:
    """Of a command and of those in it."""
    command = place.command
    hidden = [each for each in command.params if isinstance(each, click.Option) and each.hidden]
    words = [", ".join([*each.opts, *each.secondary_opts]) for each in hidden]
    more = f"\nNot listed: {', '.join(words)}\n" if words else ""
    yield f"$ {place.command_path} --help\n{place.get_help()}\n{more}"
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            yield from pages(context(each, place, name))


def every_page() -> dict[str, str]:
    root = context(app.rookery, None, "rookery")
    assert isinstance(root.command, app.Table)
    found = {"help/rookery.txt": f"$ rookery --help\n{root.get_help()}\n"}
    for topic in (ALL, *TOPICS):
        root.meta[TOPIC] = topic
        found[f"help/list-{topic}.txt"] = f"$ rookery help {topic}\n{root.get_help()}\n"
    for name in (*root.command.list_commands(root), *sorted(app.PLUMBING)):
        command = root.command.get_command(root, name)
        assert command is not None
        found[f"help/{name}.txt"] = "\n".join(pages(context(command, root, name)))
    return found


def test_every_page_of_help_is_as_it_was(golden: Golden) -> None:
    """In a process of its own: a command keeps the first help option that it made."""
    code = "import json; from tests.golden import test_help as t; print(json.dumps(t.every_page()))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    golden.hold(json.loads(done.stdout), "help")
