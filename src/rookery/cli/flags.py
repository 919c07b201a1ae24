"""Options that more than one command has, and the one way to ask for confirmation."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rookery.cli.output.screen import Screen

type Command = Callable[..., Any]

override = click.option(
    "--override-with-envs",
    "override",
    is_flag=True,
    help="Let LLM_MODEL, LLM_API_KEY and LLM_BASE_URL override the saved model.",
)
line = click.option("--cmd", "line", metavar='"…"', help="Any program that speaks ACP on stdio.")
yes = click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
attach = click.option(
    "--attach",
    "files",
    multiple=True,
    metavar="FILE",
    help="Attach an image or another file. Repeatable.",
)
destructive = click.option(
    "--confirm-destructive",
    "destructive",
    is_flag=True,
    help="With --approve all: also allow destructive actions.",
)


def as_json(words: str) -> Callable[[Command], Command]:
    return click.option("--json", "as_json", is_flag=True, help=words)


def verbose(words: str) -> Callable[[Command], Command]:
    return click.option("--verbose", is_flag=True, help=words)


def approve(words: str) -> Callable[[Command], Command]:
    return click.option("--approve", type=click.Choice(["all", "reject", "ask"]), help=words)


def check_output(*, as_json: bool, verbose: bool) -> None:
    if as_json and verbose:
        raise click.UsageError("--json and --verbose cannot be combined.")


def critic(command: Command) -> Command:
    """For the rest of the session."""
    off = click.option("--no-critic", is_flag=True, help="Turn the critic off for this session.")
    on = click.option(
        "--refine", is_flag=True, help="Send poor verdicts of the critic back to the agent."
    )
    return off(on(command))


def first_thread(command: Command) -> Command:
    """Which session an ACP client's first thread continues."""
    resume = click.option(
        "--resume", metavar="ID", help="Continue this session in the first thread."
    )
    last = click.option("--last", is_flag=True, help="Continue the directory's latest session.")
    return resume(last(command))


def spelled(**given: str | bool | None) -> list[str]:
    """As they were written: `--resume ID`, `--last`; what was not given is left out."""
    words: list[str] = []
    for name, value in given.items():
        if value:
            words.append("--" + name.replace("_", "-"))
            words += [] if value is True else [value]
    return words


def in_terminal() -> bool:
    """Whether the user can be asked."""
    return sys.stdin is not None and sys.stdin.isatty()


def confirmed(screen: "Screen", question: str, done: str, *, as_json: bool) -> bool:
    """Ask in a terminal; a script has to pass --yes. `done`: deleted, removed."""
    if as_json or not in_terminal():
        screen.note(f"Nothing was {done}. To go ahead, pass --yes.")
        return False
    if click.confirm(question, err=True):
        return True
    screen.note(f"Nothing was {done}.")
    return False
