"""Other words for commands, among them those of earlier versions: they work, and no help lists
them."""

from collections.abc import Mapping
from typing import override

import click

WORDS: Mapping[str, tuple[str, ...]] = {
    "attach": ("open",),
    "force-end": ("cancel", "--force"),
    "kill": ("stop", "--now"),
    "list": ("ps",),
    "ls": ("ps",),
    "resume": ("retry",),
    "rm": ("remove",),
}
"""Of `rookery` itself: each with what it stands for."""

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
