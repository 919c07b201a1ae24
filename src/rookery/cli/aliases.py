"""Other words for commands, among them those of earlier versions and of the OpenHands CLI: they
work, and no help lists them."""

from collections.abc import Mapping
from typing import override

import click

WORDS: Mapping[str, tuple[str, ...]] = {
    "attach": ("open",),
    "conversations": ("ps",),
    "force-end": ("cancel", "--force"),
    "history": ("ps",),
    "kill": ("stop", "--now"),
    "list": ("ps",),
    "ls": ("ps",),
    "resume": ("open",),
    "rm": ("remove",),
    "sessions": ("ps",),
    "view": ("show",),
    "web": ("serve",),
}
"""Of `rookery` itself: each with what it stands for."""

ELSEWHERE: Mapping[str, str] = {
    "cloud": "To run in OpenHands Cloud: rookery agents add cloud --cloud, "
    'then rookery run --agent cloud "…"',
    "exit": "There is nothing to exit: sessions run until you stop them (rookery stop).",
    "start": 'To start a session: rookery run "…", or rookery for the terminal interface.',
}
"""Words that stand for no one command, with what to do instead."""

OF_GROUPS: Mapping[str, tuple[str, ...]] = {"ls": ("list",), "rm": ("remove",)}
"""The same in `mcp`, `policy`, `queue`, `agents` and `setup`."""


def spelled_out(words: list[str], known: Mapping[str, tuple[str, ...]]) -> list[str]:
    """A command line with the word that the help lists."""
    return [*known.get(words[0], words[:1]), *words[1:]]


class Verbs(click.Group):
    """A group of commands that know their other words."""

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, spelled_out(args, OF_GROUPS))
