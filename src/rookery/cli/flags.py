"""Flags that more than one command has, and how they are handed on to one that reads its own."""

from collections.abc import Callable
from typing import Any

import click

type Command = Callable[..., Any]

override = click.option(
    "--override-with-envs",
    "override",
    is_flag=True,
    help="Let LLM_MODEL, LLM_API_KEY and LLM_BASE_URL override the saved model.",
)
verbose = click.option(
    "--verbose",
    is_flag=True,
    help="Print the whole transcript, not only the answer, even in a pipe.",
)
line = click.option("--cmd", "line", metavar='"…"', help="Any program that speaks ACP on stdio.")


def check_output(*, as_json: bool, verbose: bool) -> None:
    if as_json and verbose:
        raise click.UsageError("--json and --verbose cannot be combined.")


def again(command: Command) -> Command:
    """Of who speaks ACP on stdio: what the client's first thread is to be."""
    for option in (
        click.option("--last", is_flag=True, help="Continue the directory's latest session."),
        click.option("--resume", metavar="ID", help="Continue this session in the first thread."),
    ):
        command = option(command)
    return command


def spelled(**given: str | bool | None) -> list[str]:
    """As they were written: `--resume ID`, `--last`; what was not given is left out."""
    words: list[str] = []
    for name, value in given.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif value:
            words += [flag, value]
    return words
