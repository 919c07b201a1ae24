"""Reporting errors as sentences that the user can act on; a bug's traceback goes to a file."""

import errno
import os
import re
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from click import NoSuchOption, UsageError
from click.exceptions import NoArgsIsHelpError

from rookery import agents
from rookery.cli import exits, target
from rookery.cli.output import clean, clean_line, cut
from rookery.client.fleet import Ambiguous, UnknownSession, named
from rookery.client.start import StartError
from rookery.core.json import Json
from rookery.core.refusals import Refused
from rookery.core.view.fleet import NO_TITLE
from rookery.home import paths
from rookery.log.errors import FAULTS, disk_words

if TYPE_CHECKING:
    import click

CRASH_LOG = "crash.log"
CRASH_LOG_BYTES = 1024 * 1024
EXPECTED = (Refused, OSError)
"""Exceptions that a command may raise without a bug."""
ANY_AGENT = 'Any other program that speaks ACP on stdio: rookery run --cmd "program --its-flags"'


def report(error: BaseException) -> int:
    """Report an error on stderr and return the exit code."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    try:
        known = explain(error)
    except Exception:  # noqa: BLE001 - a damaged installation: what it met first is the news
        known = None
    if known is not None:
        message, code = known
        say(f"rookery: {message}")
        return code
    if os.environ.get("ROOKERY_DEBUG"):
        raise error
    say(
        f"rookery: internal error: {type(error).__name__}: {error}\n"
        f"{_keep(error)} Set ROOKERY_DEBUG=1 to see it here. Session data is safe."
    )
    return exits.FAILED


def show(error: "click.ClickException") -> None:
    """Report an error of the command line: what is wrong, then the command's usage."""
    place = error.ctx if isinstance(error, UsageError) else None
    if isinstance(error, NoArgsIsHelpError):
        say(f"rookery: {error.ctx.command_path} needs a command.\n{error.message}")
        return
    say(f"rookery: {_message(error)}")
    if place is not None:
        say(place.get_usage())
        say(f"Try '{place.command_path} {place.help_option_names[0]}' for help.")


LOOSENING = frozenset(
    {
        *(
            "--always-allow",
            "--always-approve",
            "--approve",
            "--approve-all",
            "--confirm",
            "--confirm-destructive",
        ),
        *("--force", "--keep-sessions", "--llm-approve", "--now", "--replace", "--yes", "--yolo"),
        *("--destructive", "--override-with-envs", "--no-critic", "--no-test", "--no-guard"),
        *("--allow-http", "--allowed-host", "--allowed-origin", "--behind-proxy", "--remove"),
        *("--reveal", "--revoke", "--stop", "--empty", "--permanently"),
    }
)
"""Options that are never suggested: they approve, delete or check less. Whoever means one spells
it."""

NEAR = 0.75
"""How much of a word has to be the same for another one to be suggested."""


def _message(error: "click.ClickException") -> str:
    """Return the error's message, with a suggestion only if a similar option is harmless."""
    from difflib import get_close_matches

    if not isinstance(error, NoSuchOption) or error.ctx is None:
        return error.format_message()
    known = [word for each in error.ctx.command.params for word in each.opts]
    harmless = [word for word in known if word.startswith("--") and word not in LOOSENING]
    near = get_close_matches(error.option_name, harmless, 3, NEAR)
    guess = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"There is no option {error.option_name}.{guess}"


_LONG = re.compile(r"(\S{1000})\S+")
"""A word that nobody wants back whole."""


def say(text: str) -> None:
    try:
        print(clean(_LONG.sub(r"\1…", text)), file=sys.stderr, flush=True)
    except (BrokenPipeError, UnicodeEncodeError):
        return


REMEDIES = {"not_in_trash": "To see what is in it: rookery trash"}
"""The remedy to show on a command line, by a refusal's reason."""


def explain(error: BaseException) -> tuple[str, int] | None:
    """Return a known error's message and exit code, or None for a bug."""
    if isinstance(error, Refused):
        remedy = error.remedy or REMEDIES.get(error.reason, "")
        return f"{_message_of(error)}\n{remedy}".rstrip("\n"), error.exit_code
    message = _of_system(error) if isinstance(error, OSError) else ""
    return (message, exits.FAILED) if message else None


def _message_of(error: Refused) -> str:
    """Return a refusal's message with additions that only the command line makes."""
    match error:
        case UnknownSession():
            return _unknown_session(error.name)
        case Ambiguous():
            return f"{error} Which one?\n{_listed(error.candidates)}"
        case agents.registry.UnknownAgent():
            return f"{error}\n{ANY_AGENT}"
        case agents.registry.NotInstalled():
            return f"{error}\n{_ways_out(error.name)}"
        case StartError():
            return f"The session's worker did not start. {error}"
    return error.message


def _of_system(error: OSError) -> str:
    """Return what the system refused, or "" for a bug of ours."""
    place = None if error.filename is None else os.fsdecode(error.filename)
    if error.errno in FAULTS:
        if place in ("stdout", "stderr") or (place is None and _fails(lambda: os.write(1, b"\n"))):
            return f"{place or 'stdout'}: {error.strerror}."
        return disk_words(error, place or paths.home()) + _elsewhere(error)
    if place is not None and error.strerror:
        return f"{place}: {error.strerror}.{_elsewhere(error)}"
    if isinstance(error, FileNotFoundError) and _fails(os.getcwd):
        return "The current directory no longer exists: cd to another one."
    return ""


def _fails(call: Callable[[], object]) -> bool:
    try:
        call()
    except OSError:
        return True
    return False


def _elsewhere(error: OSError) -> str:
    """Return advice for a home that cannot be written to, or ""."""
    home, place = paths.home(), os.fsdecode(error.filename or b"")
    ours = place == home or place.startswith(home + os.sep)
    closed = error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
    return " Set ROOKERY_HOME to a directory that you can write to." if ours and closed else ""


def _ways_out(agent: str) -> str:
    """Return what helps if an agent is not installed."""
    here = install_here(agent)
    demo = "The demo agent needs no installation: rookery run --agent demo"
    return f"{here}\n{demo}" if here else demo


def install_here(agent: str) -> str:
    """Return how to install an agent for Rookery alone, or "" if Rookery cannot install it."""
    line = f"Only for Rookery: rookery agents install {agent}"
    return (
        line if agents.install.can_install(agent) else ""
    )  # what the registry offers is named already


def _unknown_session(name: str) -> str:
    from difflib import get_close_matches

    with suppress(*EXPECTED):
        session = named(name, target.rookery().call("trash")["sessions"])
        return f"Session {session} is in the trash. To restore it: rookery restore {session}"
    known = target.rookery().heads()
    if not known:
        none = f"There is no session {name!r}: there are no sessions yet."
        return f'{none} To start one: rookery run "…"'
    names = {head["id"]: head for head in known} | {head["title"].lower(): head for head in known}
    near = {names[each]["id"]: names[each] for each in get_close_matches(name.lower(), names, 5)}
    if near:
        return f"There is no session {name!r}. Did you mean:\n{_listed(list(near.values()))}"
    return f"There is no session {name!r}. Latest sessions:\n{_listed(known[:5])}"


def _listed(heads: list[Json]) -> str:
    return "\n".join(
        f"  {head['id']}  {cut(clean_line(head['title']) or NO_TITLE, 60)}" for head in heads
    )


def _keep(error: BaseException) -> str:
    """Write the traceback to a file and return the sentence that says where."""
    path = os.path.join(paths.home(), CRASH_LOG)
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    text = "".join(traceback.format_exception(error))
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        fresh = not os.path.exists(path) or os.path.getsize(path) > CRASH_LOG_BYTES
        with open(path, "w" if fresh else "a", errors="backslashreplace") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(f"{stamp} rookery {' '.join(sys.argv[1:2])}\n{text}\n")
    except OSError:
        return "The details could not be saved."
    return f"Details: {path}."


def give_up_stdout() -> None:
    """Redirect stdout to /dev/null: its reader is gone, and Python still flushes."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
