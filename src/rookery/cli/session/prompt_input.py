"""Reading a prompt: text from the command line or a pipe, and attached files."""

import sys
from typing import NamedTuple

import click

from rookery.client.attach import Attachment, Unattachable, load
from rookery.core.json import Json


def text_of(args: tuple[str, ...], *, optional: bool = False) -> str:
    """Return the prompt's text: the arguments, with `-` standing for stdin; stdin alone if it is
    piped to us.

    `optional`: there is something else to send."""
    if not args and (sys.stdin is None or sys.stdin.isatty()):
        if optional:
            return ""
        raise click.UsageError('Nothing to send: pass a text, or "-" to read stdin.')
    text = " ".join(_stdin() if word == "-" else word for word in args) if args else _stdin()
    if not text.strip() and not optional:
        raise click.UsageError("The prompt is empty.")
    return text


def after_name(name: str | None, args: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """Return the worktree's name and the prompt's arguments of `--worktree TEXT`. A text with
    spaces is no name, nor is one that is all there is to send, nor one before several arguments:
    only `--worktree=NAME` is certain."""
    alone = not args and sys.stdin is not None and sys.stdin.isatty()
    stated = any(each.startswith("--worktree=") for each in sys.argv[1:])
    if name and not stated and (alone or len(name.split()) > 1 or len(args) > 1):
        return "", (name, *args)
    return name, args


class Message(NamedTuple):
    """The content of one prompt."""

    text: str
    attachments: "list[Attachment]"

    def blocks(self) -> list[Json]:
        """Return its content blocks, without the files."""
        return [{"type": "text", "text": self.text}] if self.text.strip() else []


def message_of(args: tuple[str, ...], files: tuple[str, ...]) -> Message:
    """Return the message. Raises click.BadParameter for a file that cannot be attached, before
    anything is sent."""
    attachments: list[Attachment] = []
    if files:
        try:
            attachments = load(files)
        except Unattachable as error:
            raise click.BadParameter(str(error), param_hint="--attach") from None
    return Message(text_of(args, optional=bool(attachments)), attachments)


def _stdin() -> str:
    if sys.stdin is None:
        raise click.UsageError("stdin is closed.")
    return sys.stdin.buffer.read().decode("utf-8", "replace").rstrip("\n")
