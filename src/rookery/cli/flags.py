"""Flags that more than one command has, and how they are handed on to one that reads its own."""

from collections.abc import Callable
from typing import Any

import click

type Command = Callable[..., Any]

override = click.option(
    "--override-with-envs",
    "override",
    is_flag=True,
    help="LLM_MODEL, LLM_API_KEY, LLM_BASE_URL go over the saved model.",
)
verbose = click.option(
    "--verbose",
    is_flag=True,
    help="In a pipe, too: the whole transcript on stdout, not the answer alone.",
)
line = click.option("--cmd", "line", metavar='"…"', help="Any program that speaks ACP on stdio.")


def check_output(*, as_json: bool, verbose: bool) -> None:
    if as_json and verbose:
        raise click.UsageError("--json and --verbose exclude each other.")


def again(command: Command) -> Command:
    """Of who speaks ACP on stdio: what the client's first thread is to be."""
    for option in (
        click.option(
            "--last", is_flag=True, help="Continue the latest session of the directory there."
        ),
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
