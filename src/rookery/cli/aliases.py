"""Aliases of commands, among them the names used by earlier versions and by the OpenHands CLI: they
work, but no help lists them."""

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
"""Aliases of `rookery`'s own commands, each with the arguments it stands for."""

ELSEWHERE: Mapping[str, str] = {
    "cloud": "To run in OpenHands Cloud: rookery agents add cloud --cloud, "
    'then rookery run --agent cloud "…"',
    "exit": "There is nothing to exit: sessions run until you stop them (rookery stop).",
    "start": 'To start a session: rookery run "…", or rookery for the terminal interface.',
}
"""Words that stand for no one command, with what to do instead."""

OF_GROUPS: Mapping[str, tuple[str, ...]] = {"ls": ("list",), "rm": ("remove",)}
"""The same in `mcp`, `policy`, `queue`, `agents` and `setup`."""


def spelled_out(argv: list[str], known: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the command line with an alias replaced by the command that the help lists."""
    return [*known.get(argv[0], argv[:1]), *argv[1:]]


class Verbs(click.Group):
    """A group of commands that also accepts their aliases."""

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, spelled_out(args, OF_GROUPS))
