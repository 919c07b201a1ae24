"""`make install`: installs Rookery from a checkout, or updates the existing installation, with the
program that installed it.

A distribution of ours under its old name is removed first: both own the same files, so removing the
old one later would delete the new one's command. The other project called `rookery` is left alone.
Nothing here touches Rookery's home."""

import argparse
import os
import shlex
import shutil
import subprocess
import sys

from rookery.installation import commands
from rookery.installation.commands import Command
from rookery.installation.distribution import EXTRAS, NAME, OLD_NAME, Installation, Source
from rookery.installation.environments import (
    COMMAND,
    bin_folder,
    command_of,
    commands_on_path,
    everywhere,
)


class Refusal(Exception):
    """Rookery was not installed; the message says why and what to do."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="scripts/install", description="Install Rookery.")
    parser.add_argument("checkout", help="the folder with pyproject.toml")
    parser.add_argument("--extras", default="", help=f"of {', '.join(EXTRAS)}")
    parser.add_argument("--python", default="", help="a version such as 3.13, for a new tool of uv")
    given = parser.parse_args(arguments)
    extras = [each for each in given.extras.replace(",", " ").split() if each]
    if unknown := [each for each in extras if each not in EXTRAS]:
        parser.error(f"no such extra: {', '.join(unknown)}. There are {', '.join(EXTRAS)}.")
    try:
        install(Source("checkout", os.path.abspath(given.checkout)), extras, given.python)
    except Refusal as refusal:
        say(str(refusal))
        return 1
    except KeyboardInterrupt:
        say("Interrupted. Run the same again to finish it.")
        return 130
    return 0


def install(source: Source, extras: list[str], python: str = "") -> None:
    """Install or update Rookery. Raises Refusal."""
    uv = commands.uv(source)
    known = everywhere(uv)
    # What `make setup` made is for working on Rookery.
    apart = [each for each in known if not each.prefix.startswith(source.place + os.sep)]
    ours = [each for each in apart if not each.foreign]
    others = [each for each in apart if each.foreign]
    for other in others:
        say(f"Left alone: another project called {OLD_NAME} {other.version}, in {other.prefix}.")
    if not ours:
        _check_free(_new_tool(source), uv, others, source, extras)
        line = [uv, "tool", "install", *(["--python", python] if python else [])]
        _run([*line, commands.requirement(source, extras)])
    else:
        # In one environment both names may stand: what is left of the new one is installed anew.
        for prefix in dict.fromkeys(each.prefix for each in ours):
            _renew([each for each in ours if each.prefix == prefix], source, extras)
    _report(uv, source, replaced=bool(ours))


def move_commands(here: list[Installation], source: Source, extras: list[str]) -> list[Command]:
    """Return the commands that move one environment to the new name with its own extras and
    these."""
    last = here[-1]  # the old name, if it is there
    return commands.install(last, _all(here, extras), source, fresh=True)


def _all(here: list[Installation], extras: list[str]) -> set[str]:
    return {*extras, *(extra for each in here for extra in each.extras)}


def _renew(here: list[Installation], source: Source, extras: list[str]) -> None:
    *before, final = move_commands(here, source, extras)
    if here[-1].is_old:
        # Before the old one is removed, pip or uv shows that the new one can be installed.
        wanted = here[-1]._replace(extras=tuple(_all(here, extras)))
        before.insert(0, commands.rehearsal(wanted, source))
    for command in before:
        _run(command)
    try:
        _run(final)
    except Refusal as refusal:
        if not here[-1].is_old:
            raise
        line = shlex.join(final)
        raise Refusal(
            f"{refusal}\nThe earlier build is removed, your sessions are kept. To finish: {line}"
        ) from refusal


def _new_tool(source: Source) -> Installation:
    return Installation(NAME, "", "uv tool", "", "", source, ())


def _check_free(
    tool: Installation, uv: str, others: list[Installation], source: Source, extras: list[str]
) -> None:
    """Raise Refusal if the command's place is taken."""
    place = os.path.join(bin_folder(tool, uv), COMMAND)
    if not os.path.lexists(place):
        return
    real = os.path.realpath(place)
    owner = next((each for each in others if real.startswith(each.prefix + os.sep)), None)
    remove = f" Remove it ({commands.uninstall_line(owner)}), or" if owner else " Move it, or"
    apart = os.path.expanduser("~/rookery-acp")
    wanted = shlex.quote(commands.requirement(source, extras))
    raise Refusal(
        f"{place} is another project's command, and was left alone.{remove} install Rookery into an"
        f" environment of its own:\n  python3 -m venv {shlex.quote(apart)} &&"
        f" {shlex.quote(apart)}/bin/pip install {wanted}"
    )


def _run(command: Command) -> None:
    """Run a command, showing its output as it comes. Raises Refusal."""
    say(f"$ {shlex.join(command)}")
    try:
        status = subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode
    except OSError as error:
        raise Refusal(f"{command[0]} cannot be started: {error.strerror}.") from error
    if status:
        raise Refusal(f"Rookery was not installed: {os.path.basename(command[0])} says why, above.")


def _report(uv: str, source: Source, *, replaced: bool) -> None:
    """Report what was installed. Raises Refusal if the command does not work."""
    ours = [
        each
        for each in everywhere(uv)
        if each.name == NAME and not each.prefix.startswith(source.place + os.sep)
    ]
    if not ours:
        raise Refusal("Rookery was installed, but cannot be found: is its Python on PATH?")
    first = next(iter(commands_on_path()), "")
    chosen = next((each for each in ours if _is_command_of(first, each)), ours[0])
    run = subprocess.run([command_of(chosen), "--version"], check=False, stdout=subprocess.PIPE)
    if run.returncode:
        raise Refusal(f"Rookery was installed, but {command_of(chosen)} does not start.")
    folder = bin_folder(chosen, uv)
    say(f"Installed: {run.stdout.decode().strip()}, in {folder}, with {', '.join(chosen.extras)}.")
    if replaced:
        say("Your sessions are kept. If rookery serve is running: rookery serve --restart")
    if _is_command_of(first, chosen):
        say("Next: rookery")
    elif folder in os.environ.get("PATH", "").split(os.pathsep):
        say(f"{first} comes first on your PATH and is another program. Next: {folder}/{COMMAND}")
    else:
        shell = " (uv tool update-shell adds it permanently)" if shutil.which("uv") else ""
        say(f"{folder} is not on your PATH{shell}. Next:")
        say(f'  export PATH={shlex.quote(folder)}:"$PATH"')
        say("  rookery")


def _is_command_of(place: str, installation: Installation) -> bool:
    return bool(place) and os.path.realpath(place) == os.path.realpath(command_of(installation))


def say(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
