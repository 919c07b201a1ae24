"""What is sent as one prompt: words from the command line or a pipe, and attached files."""

import sys
from typing import TYPE_CHECKING, NamedTuple

import click

from rookery.core.json import Json

if TYPE_CHECKING:
    from rookery.client.attach import Attachment


def text_of(words: tuple[str, ...], *, optional: bool = False) -> str:
    """The prompt: the words, with `-` standing for stdin; stdin alone if it is piped to us.

    `optional`: there is something else to send.
    """
    if not words and (sys.stdin is None or sys.stdin.isatty()):
        if optional:
            return ""
        raise click.UsageError('Nothing to send: pass a text, or "-" to read stdin.')
    text = " ".join(_stdin() if word == "-" else word for word in words) if words else _stdin()
    if not text.strip() and not optional:
        raise click.UsageError("The prompt is empty.")
    return text


def after_name(name: str | None, words: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """`--worktree TEXT`: what has spaces is no name, neither is all that there is to send, nor the
    first of several words: only `--worktree=NAME` is sure."""
    alone = not words and sys.stdin is not None and sys.stdin.isatty()
    stated = any(each.startswith("--worktree=") for each in sys.argv[1:])
    if name and not stated and (alone or len(name.split()) > 1 or len(words) > 1):
        return "", (name, *words)
    return name, words


class Message(NamedTuple):
    """What is sent as one prompt."""

    text: str
    attachments: "list[Attachment]"

    def blocks(self) -> list[Json]:
        """Its content blocks, without the files."""
        return [{"type": "text", "text": self.text}] if self.text.strip() else []


def message_of(words: tuple[str, ...], files: tuple[str, ...]) -> Message:
    """Raises click.BadParameter for a file that cannot be attached, before anything is sent."""
    found: list[Attachment] = []
    if files:
        from rookery.client.attach import Unattachable, load

        try:
            found = load(files)
        except Unattachable as error:
            raise click.BadParameter(str(error), param_hint="--attach") from None
    return Message(text_of(words, optional=bool(found)), found)


def _stdin() -> str:
    if sys.stdin is None:
        raise click.UsageError("stdin is closed.")
    return sys.stdin.buffer.read().decode("utf-8", "replace").rstrip("\n")
