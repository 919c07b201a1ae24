"""Every page of help, as it is printed."""

from collections.abc import Iterator

import click
import pytest

from rookery.cli import app
from rookery.cli.commands import ALL, TOPIC, TOPICS
from tests.golden.files import Golden

WIDTH = 96


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


@pytest.fixture
def root() -> click.Context:
    return context(app.rookery, None, "rookery")


def test_every_page_of_help_is_as_it_was(root: click.Context, golden: Golden) -> None:
    assert isinstance(root.command, app.Table)
    found = {"help/rookery.txt": f"$ rookery --help\n{root.get_help()}\n"}
    for topic in (ALL, *TOPICS):
        root.meta[TOPIC] = topic
        found[f"help/list-{topic}.txt"] = f"$ rookery help {topic}\n{root.get_help()}\n"
    for name in (*root.command.list_commands(root), *sorted(app.PLUMBING)):
        command = root.command.get_command(root, name)
        assert command is not None
        found[f"help/{name}.txt"] = "\n".join(pages(context(command, root, name)))
    golden.hold(found, "help")
