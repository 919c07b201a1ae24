"""`update`: installs the latest build the way this one was installed, then replaces the workers and
the daemon of the old build."""

import os
import shlex
import subprocess
from collections.abc import Sequence

import click

from rookery.build import DIFFERS, NEWER, OLDER, SAME, build, described, parts
from rookery.cli import exits, flags
from rookery.cli.commands.other.uninstall import HOW
from rookery.cli.output import Screen, clean_line, standard
from rookery.client import guard, warm_agent
from rookery.client.daemon import local as daemon
from rookery.client.update import checkout, workers
from rookery.client.update.available import (
    SHOWN,
    Offer,
    Unavailable,
    look,
    quiet_environment,
    rehearse,
)
from rookery.client.update.difference import between
from rookery.core.json import dumps
from rookery.core.json.safe_text import count
from rookery.core.refusals import Refused
from rookery.daemon.process import lifecycle
from rookery.home import paths
from rookery.installation import commands
from rookery.installation.distribution import NAME, Installation, former, running
from rookery.processes.search_path import for_python

QUESTIONS = {OLDER: "This build is older. Install it anyway?", SAME: "Move it now?"}
ORDERS = {NEWER: "newer", OLDER: "older", DIFFERS: "another", SAME: "the same"}


@click.command()
@click.argument("path", default="", metavar="[PATH]")
@flags.flag("--check", help="Only say whether there is an update, and what is new in it.")
@flags.flag("--restart-daemon", help="Restart a --background daemon afterwards.")
@flags.yes
@flags.as_json("With --check: print JSON.")
@click.option("--updated-from", "before", default="", hidden=True)
def update(
    path: str, check: bool, yes: bool, restart_daemon: bool, as_json: bool, before: str
) -> int:
    """Update Rookery with the program that installed it, keeping the extras.

    It comes from where this one came from: the upstream of a checkout, a git address, an index.
    PATH is a wheel or a checkout to take instead. Running turns go on; each session gets a worker
    of the new build once it is idle.

    \b
    rookery update --check
    rookery update
    rookery update ./dist/rookery_acp-0.2.0-py3-none-any.whl
    """
    screen, home = standard(), paths.home()
    guard.require_person(home, "update Rookery")
    if before:
        return _finish(screen, home, before, restart=restart_daemon, ask=not yes)
    if as_json and not check:
        raise click.UsageError("--json needs --check.")
    installation = running()
    offer = look(installation, path)
    if as_json:
        screen.line(dumps(_to_json(installation, offer)))
        return exits.DONE
    _write(screen, installation, offer)
    if offer.order == SAME and not installation.is_old and not former(installation):
        screen.note(offer.note or "This is the latest build.")
        return exits.DONE
    steps = _steps(installation, offer)
    if check:
        line = shlex.join(["rookery", "update", *([path] if path else [])])
        screen.note(f"To {'go back to it' if offer.order == OLDER else 'update'}: {line}")
        return exits.DONE
    for step in steps:
        screen.note(f"  {shlex.join(step)}")
    if not yes:
        if not flags.in_terminal():
            raise click.UsageError("Nothing was changed. To go ahead, pass --yes.")
        if not click.confirm(QUESTIONS.get(offer.order, "Update now?"), err=True):
            screen.note("Nothing was changed.")
            return exits.CANCELLED
    _install(installation, offer, steps)
    options = ["--yes"] if yes else []
    options += ["--restart-daemon"] if restart_daemon else []
    python = commands.python_after(installation)
    argv = [python, "-P", "-m", "rookery", "update", "--updated-from", build(), *options]
    try:
        os.execve(python, argv, for_python(os.environ))  # what follows is the new build's
    except OSError as error:
        raise click.ClickException(
            f"Updated, but {python} cannot be run ({error.strerror}). Try: rookery doctor"
        ) from error


def _to_json(installation: Installation, offer: Offer) -> dict[str, object]:
    return {
        "installed": build(),
        "installer": installation.installer,
        "source": installation.source._asdict(),
        "extras": list(installation.extras),
        "available": offer.build,
        "order": offer.order,
        "news": list(offer.news),
        "commands": [shlex.join(step) for step in _steps(installation, offer)],
    }


def _write(screen: Screen, installation: Installation, offer: Offer) -> None:
    origin = installation.source.place or (
        "an index" if installation.source.kind == "index" else ""
    )
    how = HOW[installation.installer] + (f", from {paths.with_tilde(origin)}" if origin else "")
    screen.line(f"{'Installed':<10} {described(build())} · {how}")
    if offer.build and offer.order != SAME:
        place = offer.source.place
        other = f" · {paths.with_tilde(place)}" if place != installation.source.place else ""
        screen.line(f"{'Available':<10} {described(offer.build)}, {ORDERS[offer.order]}{other}")
    for number, subject in enumerate(offer.news[:SHOWN]):
        screen.line(f"{'' if number else 'New':<10} {clean_line(subject)}")
    if len(offer.news) > SHOWN:
        screen.line(f"{'':<10} and {count(len(offer.news) - SHOWN, 'more commit')}")
    if installation.is_old or former(installation):
        screen.line(f"{'Name':<10} the distribution is called {NAME} now; it is moved")


def _steps(installation: Installation, offer: Offer) -> list[list[str]]:
    place = offer.source.place
    pull = [checkout.fast_forward_line(place)] if offer.pull else []
    script = os.path.join(place, "scripts", "setup")
    own = offer.source.kind == "editable" and installation.prefix == os.path.join(place, ".venv")
    if own and os.access(script, os.X_OK):
        return [*pull, [script]]
    return pull + (commands.update(installation, offer.source) if installation.name else [])


def _install(installation: Installation, offer: Offer, steps: Sequence[Sequence[str]]) -> None:
    """Run the steps. Raises ClickException, which says what still works."""
    # pipx and a change of name remove what is there before they install.
    risky = installation.name and (
        installation.is_old or former(installation) or installation.installer == "pipx"
    )
    kept = "The installed build is unchanged."
    for number, step in enumerate(steps):
        if risky and step[0] != "git":
            try:
                rehearse(installation, offer.source)
            except Unavailable as error:
                raise click.ClickException(f"{error}\n{kept}") from error
            risky = False
        status = _pull(offer) if step[0] == "git" else _run(step)
        if status:
            raise click.ClickException(
                f"{shlex.join(step)} failed (exit {status}). "
                f"{_left(installation, offer, steps, number)}"
            )


def _pull(offer: Offer) -> int:
    """Fast-forward the checkout; return 0 if it is where its upstream is."""
    try:
        click.echo(clean_line(checkout.fast_forward(offer.source.place)), err=True)
    except checkout.Failed as error:
        click.echo(clean_line(str(error)), err=True)
        return 1
    return 0


def _run(step: Sequence[str]) -> int:
    """Run a step, whose output the user sees, and return its exit code. Raises ClickException if it
    cannot be run."""
    try:
        env = quiet_environment()
        return subprocess.run(step, cwd="/", env=env, stdout=2, check=False).returncode
    except OSError as error:
        raise click.ClickException(
            f"{step[0]} cannot be run ({error.strerror}); it is what installed Rookery. "
            f"Install it, or run this yourself: {shlex.join(step)}"
        ) from error


def _left(
    installation: Installation, offer: Offer, steps: Sequence[Sequence[str]], failed: int
) -> str:
    """Return what is installed after a step that failed, and what to do."""
    rest = " && ".join(shlex.join(step) for step in steps[failed:])
    if failed == 0:
        return "The installed build is unchanged. See its output above, then run this again."
    if steps[failed - 1][:1] == ["git"]:
        back = f"git -C {shlex.quote(offer.source.place)} reset --keep {parts(build()).commit}"
        again = f"To try again: {rest}"
        return again if installation.source.kind != "editable" else f"{again}\nTo go back: {back}"
    return f"The old distribution is removed already. To install the new one: {rest}"


# ---------------------------------------------------------------- with the new build


def _finish(screen: Screen, home: str, before: str, *, restart: bool, ask: bool) -> int:
    """Finish the update; this runs in the build that was just installed."""
    again = before == build()
    screen.line(
        f"Installed again: {described(build())}"
        if again
        else f"Updated: {described(before)} → {described(build())}"
    )
    warm_agent.end(home)
    older = workers.older(home)
    busy = workers.put_to_sleep(home, older)
    if slept := len(older) - len(busy):
        screen.line(f"Put to sleep: {count(slept, 'idle session')}. The next prompt wakes them.")
    for session in busy:
        screen.line(f"{session} is busy: it changes to the new build once it is idle.")
    _restart_daemon(screen, home, restart=restart, ask=ask)
    if busy:
        workers.watch(home)
    return exits.DONE


def _restart_daemon(screen: Screen, home: str, *, restart: bool, ask: bool) -> None:
    record = daemon.record(home)
    message = between(record) if record else ""
    if record is None or not message:
        return
    if not restart and ask and record.get("background") and flags.in_terminal():
        screen.note(message)
        restart = click.confirm("Restart the daemon now? Sessions keep running.", err=True)
        message = "It still runs the old build."
    if not restart:
        screen.note(message)
        return
    try:
        lifecycle.check(home)
        lifecycle.restart(home)
    except Refused as refusal:
        raise click.ClickException(f"Updated; the daemon was not restarted. {refusal}") from refusal
    screen.line("The daemon is restarted with the new build.")
