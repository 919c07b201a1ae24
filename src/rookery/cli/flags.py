"""Options and arguments that several commands share, and the one way to ask for confirmation.

A session is named by its id, prefix or title, an agent by its name."""

import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from rookery import agents as known_agents
from rookery import models
from rookery.cli import errors, exits, target
from rookery.cli.output import Screen, clean_line
from rookery.cli.output.screen import AS_JSON, wants_json
from rookery.core.argv import APPROVING
from rookery.core.policy import approvals
from rookery.core.settings.sandbox import KINDS
from rookery.core.view.fleet import is_hidden
from rookery.home import paths

if TYPE_CHECKING:
    from rookery.agents.registry import Agent
    from rookery.core.json import Json

type Command = Callable[..., Any]

APPROVALS = tuple(name.replace("-", "_") for name in APPROVING)
"""The approval flags as names of a command's parameters."""

flag = partial(click.option, is_flag=True)
text = partial(click.option, default="")
several = partial(click.option, multiple=True)

_LLM = "Let LLM_MODEL, LLM_API_KEY and LLM_BASE_URL override the saved model."
override = flag("--override-with-envs", "override", help=_LLM)
_CAGE = "Keep the agent in its directories. Safe to combine with --approve all."
sandbox = click.option("--sandbox", type=click.Choice(KINDS), help=_CAGE)
line = click.option("--cmd", "line", metavar='"…"', help="Any program that speaks ACP on stdio.")
yes = click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
_FILES = "Attach an image or another file. Repeatable."
key_stdin = flag("--key-stdin", help="Read the key from stdin.")
key_env = text("--key-env", metavar="VARIABLE", help="Read the key from this variable.")
attach = several("--attach", "files", metavar="FILE", help=_FILES)
_APPROVE = (
    "How to answer the agent: approve all (default), only what is not risky, reject, or wait for "
    "you."
)
OUTCOME = "Print the outcome as JSON."
_ALSO = "With --approve all: also allow destructive actions."
destructive = flag("--confirm-destructive", "destructive", help=_ALSO)
_UNTRUSTED = "Continue without the project's hooks if you have not trusted them."
without_hooks = flag("--without-hooks", help=_UNTRUSTED)


def as_json(help_text: str) -> Callable[[Command], Command]:
    """Add `--json` to a command that writes JSON itself, such as events as they come."""
    return flag("--json", "as_json", help=help_text)


def results(help_text: str = OUTCOME) -> Callable[[Command], Command]:
    """Add `--json` to a command that passes objects to `Screen.result`: they are printed instead of
    its other results, and the user is asked nothing."""
    return flag("--json", expose_value=False, callback=_choose_json, help=help_text)


def _choose_json(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    context.meta[AS_JSON] = value or context.meta.get(AS_JSON, False)  # also before a verb


def verbose(help_text: str) -> Callable[[Command], Command]:
    return flag("--verbose", help=help_text)


def approve(help_text: str = _APPROVE) -> Callable[[Command], Command]:
    values = click.Choice(["all", "risky", "reject", "ask"])
    return click.option("--approve", type=values, help=help_text)


def check_output(*, as_json: bool, verbose: bool) -> None:
    if as_json and verbose:
        raise click.UsageError("--json and --verbose cannot be combined.")


def critic(command: Command) -> Command:
    """Add the flags that control the critic for the rest of the session."""
    off = flag("--no-critic", help="Turn the critic off for this session.")
    on = flag("--refine", help="Send poor verdicts of the critic back to the agent.")
    return off(on(command))


def elsewhere(command: Command) -> Command:
    """Add the options for where the conversations of Rookery's own agent are."""
    remote = click.option("--remote", metavar="URL", help="Run on this OpenHands agent server.")
    cloud = flag("--cloud", help="Run in OpenHands Cloud (or the one at --remote).")
    return remote(cloud(command))


def first_thread(command: Command) -> Command:
    """Add the options for which session an ACP client's first thread continues."""
    resume = text("--resume", metavar="ID", help="Continue this session in the first thread.")
    last = click.option("--last", is_flag=True, help="Continue the directory's latest session.")
    return resume(last(command))


def approving(command: Command) -> Command:
    """Add the flags for how new sessions ask for approval, and the earlier ones, hidden."""
    for name, value in reversed(APPROVING.items()):
        more = approvals.BY_ID[value].more
        help_text = f"{more[:1].upper()}{more[1:]}."
        hidden = name in approvals.OLDER_FLAGS
        command = flag(f"--{name}", help=help_text, hidden=hidden)(command)
    return command


def usual(option: str) -> str:
    """Return the current name of an approval flag."""
    value = approvals.OLDER_FLAGS.get(option.removeprefix("--"))
    return f"--{approvals.BY_ID[value].flag}" if value else option


def approval(given: Mapping[str, Any]) -> tuple[str, str]:
    """Return the chosen id and flag, or empty strings. Raises UsageError for two."""
    chosen = {name: value for name, value in APPROVING.items() if given.get(name.replace("-", "_"))}
    if len(set(chosen.values())) > 1:
        values = dict.fromkeys(chosen.values())
        one, other = [f"--{approvals.BY_ID[value].flag}" for value in values][:2]
        raise click.UsageError(f"{one} and {other} cannot be combined.")
    return next(((value, f"--{name}") for name, value in chosen.items()), ("", ""))


def spelled(**given: str | bool | None) -> list[str]:
    """Return options as they were written: `--resume ID`, `--last`; without those not given."""
    argv: list[str] = []
    for name, value in given.items():
        if value:
            argv.append("--" + name.replace("_", "-"))
            argv += [] if value is True else [value]
    return argv


def in_terminal() -> bool:
    """Tell whether the user can be asked."""
    return at_keyboard() and not wants_json()


def at_keyboard() -> bool:
    """Tell whether a secret can be typed."""
    return sys.stdin is not None and sys.stdin.isatty()


class Unconfirmed(click.ClickException):
    """Raised if a script did not pass --yes: nothing was changed."""

    exit_code = exits.USAGE


def confirm(screen: "Screen", question: str, verb: str, *, as_json: bool = False) -> None:
    """Ask in a terminal; a script has to pass --yes. `verb`: remove it, install it. Raises
    Unconfirmed, Exit."""
    if as_json or not in_terminal():
        raise Unconfirmed(f"Dry run. Re-run with --yes to {verb}.")
    if not click.confirm(question, err=True):
        screen.note("Nothing was changed.")
        raise click.exceptions.Exit(exits.CANCELLED)


# ---------------------------------------------------------------- names


def find_session(_context: click.Context, _parameter: click.Parameter, value: Any) -> Any:
    if value is None or value == ():
        return value
    find = target.rookery().find
    if isinstance(value, tuple):
        return tuple(dict.fromkeys(find(name) for name in value))
    return find(value)


def complete_sessions(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete sessions: before anything is typed, only those that lists show, or for `unarchive`
    the others."""
    put_away, now = context.info_name == "unarchive", time.time() * 1000

    def known() -> list["Json"]:
        heads = target.rookery().heads(hidden=put_away or bool(incomplete))
        return [head for head in heads if incomplete or is_hidden(head, now) == put_away]

    return _completed(known, incomplete)


def trashed() -> list["Json"]:
    """Return the sessions in the trash."""
    heads: list[Json] = target.rookery().call("trash")["sessions"]
    return heads


def complete_trashed(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    return _completed(trashed, incomplete)


def _completed(known: "Callable[[], list[Json]]", incomplete: str) -> list[CompletionItem]:
    items = []
    try:
        heads = known()
    except errors.EXPECTED:
        return []
    for head in heads:
        title = clean_line(head["title"])
        if head["id"].startswith(incomplete):
            items.append(CompletionItem(head["id"], help=title or head["agent"]))
        elif incomplete and title.startswith(incomplete) and " " not in title:
            items.append(CompletionItem(title, help=head["id"]))
    return items


def complete_models(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    saved, _ = models.profiles.look(paths.home())
    return [CompletionItem(name) for name in saved.profiles if name.startswith(incomplete)]


def complete_agents(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    try:
        agents = target.agents()
    except errors.EXPECTED:
        return []
    return [
        CompletionItem(each["name"], help=None if each["own"] else each["title"])
        for each in agents
        if each["name"].startswith(incomplete)
    ]


def agent_of_command(
    line: str, environment: Mapping[str, str] | None = None, node_path: str = ""
) -> "Agent":
    """Return the agent that --cmd starts. Raises click.BadParameter."""
    try:
        return known_agents.registry.from_command(line, environment, node_path)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--cmd") from None


session_argument = click.argument(
    "session", callback=find_session, shell_complete=complete_sessions
)
"""Passed to the command as the session's id."""

sessions_argument = click.argument(
    "sessions",
    nargs=-1,
    required=True,
    metavar="SESSION...",
    callback=find_session,
    shell_complete=complete_sessions,
)
