"""`logs`: what an agent and its worker wrote to stderr, for when something does not work."""

import os
import time
from typing import TYPE_CHECKING

import click

from rookery.cli import target
from rookery.cli.flags import results, sessions_argument
from rookery.cli.output import Screen, clean_output, standard
from rookery.cli.session.send import head_line
from rookery.home import paths
from rookery.home.log_rotation import BEFORE

if TYPE_CHECKING:
    from rookery.client.daemon.remote import Door

PAUSE = 0.25
"""Seconds between two looks at a log that is followed."""
SLOWER = 1.0
"""The same for one on another machine."""
MOST = 1024 * 1024
OF = {paths.AGENT_LOG: "agent", paths.WORKER_LOG: "worker"}


@click.command()
@sessions_argument
@click.option("--agent", "which", flag_value=paths.AGENT_LOG, help="Only the agent's stderr.")
@click.option("--worker", "which", flag_value=paths.WORKER_LOG, help="Only the worker's stderr.")
@click.option("-f", "--follow", is_flag=True, help="Keep printing new lines.")
@results("Print one JSON object per line.")
def logs(sessions: tuple[str, ...], which: str | None, follow: bool) -> None:
    """Print what the agents and workers of sessions wrote to stderr.

    \b
    rookery logs 3f2a
    rookery logs 3f2a --agent -f
    """
    if follow and len(sessions) > 1:
        raise click.UsageError("--follow takes one session.")
    screen = standard()
    for place, session in enumerate(sessions):
        if len(sessions) > 1:
            head_line(screen, session, first=not place)
        _print_logs(screen, session, which, follow=follow)


def _print_logs(screen: Screen, session: str, which: str | None, *, follow: bool) -> None:
    directory = paths.session_dir(paths.home(), session)
    names = [which] if which else [paths.AGENT_LOG, paths.WORKER_LOG]
    files: list[_File] | list[_Distant]
    if door := target.door():
        files = [_Distant(door, session, name) for name in names]
    else:
        logs = [os.path.join(directory, name) for name in names]
        files = [_File(path, path + BEFORE) for path in logs]
    found = False
    while True:
        for file in files:
            if lines := file.news():
                of = {"session": session, "log": OF[os.path.basename(file.path)]}
                for line in lines.splitlines():
                    screen.result({**of, "text": line})
                if len(files) > 1 and not file.titled:
                    screen.line(screen.paint.faint(f"== {os.path.basename(file.path)} =="))
                shown = clean_output(lines.removesuffix("\n"), colour=screen.paint.colour)
                screen.line("\n".join(shown))
                found = file.titled = True
        if not follow:
            break
        if not door and not os.path.isdir(directory):
            screen.note("The session is gone.")
            break
        time.sleep(SLOWER if door else PAUSE)
    if not found and not follow:
        screen.note("The logs are empty.")


class _Distant:
    """A log on another machine: at most its last MiB."""

    def __init__(self, door: "Door", session: str, name: str) -> None:
        self.path = name
        self.titled = False
        self._door = door
        self._address = f"/api/sessions/{session}/logs/{OF[name]}"
        self._place = ""

    def news(self) -> str:
        """What was not read yet."""
        answer = self._door.get(self._address, {"bytes": MOST, "after": self._place})
        self._place = answer.place
        return answer.body.decode("utf-8", "replace")


class _File:
    """A log that may be missing, grow, or be put aside for a new one."""

    def __init__(self, path: str, *before: str) -> None:
        """`before`: what was put aside."""
        self.path = path
        self.titled = False
        self._read = 0
        self._inode = 0
        self._before = list(map(_File, before))

    def news(self) -> str:
        """What was not read yet; first what was put aside."""
        before, self._before = self._before, []
        return "".join([each.news() for each in before] + [self._rest()])

    def _rest(self) -> str:
        try:
            with open(self.path, "rb") as file:
                inode = os.fstat(file.fileno()).st_ino
                if inode != self._inode or os.fstat(file.fileno()).st_size < self._read:
                    self._inode, self._read = inode, 0
                file.seek(self._read)
                data = file.read()
        except FileNotFoundError:
            return ""
        self._read += len(data)
        return data.decode("utf-8", "replace")
