"""Git, run in a directory that an agent works in. Its configuration may be the agent's: no program
named there is run, except those that the user trusts (`drivers`) and, for a commit on the user's
behalf, hooks."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from rookery.client.work_tree import drivers
from rookery.git import places, shadow
from rookery.git.places import Place
from rookery.git.program import NoGit
from rookery.home import paths
from rookery.processes import roots, tree
from rookery.processes.lineage import MARK, home_tag

SECONDS = 10.0
MAX_OUTPUT_BYTES = 32 * 1024 * 1024
"""Most bytes of output that are read."""
SAID = 16 * 1024


class Output(NamedTuple):
    data: bytes
    cut: bool
    """There was more."""


def run(
    cwd: str,
    args: Sequence[str],
    *,
    most: int = MAX_OUTPUT_BYTES,
    seconds: float = SECONDS,
) -> Output | None:
    """Run a git command and return its output; None if it failed, took too long, or is not
    installed, or there is no repository."""
    place = places.find(cwd)
    if place is None:
        return None
    with suppress(NoGit, OSError, ValueError), opened(place) as git:
        process = git.start(cwd, args)
        late = threading.Timer(seconds, process.kill)
        late.start()
        try:
            with process:
                assert process.stdout is not None
                data = process.stdout.read(most + 1)
                cut = len(data) > most
                if cut:
                    process.kill()
        finally:
            late.cancel()
        return Output(data[:most], cut) if cut or process.returncode == 0 else None
    return None


def unusable(cwd: str) -> str | None:
    """Return why git cannot be used in a directory; None if it can."""
    place = places.find(cwd)
    if place is None or not place.top:
        return f"{cwd} is not in a git repository."
    try:
        with opened(place):
            return None
    except NoGit as error:
        return str(error)


class GitResult(NamedTuple):
    """The outcome of a git command that the user asked for."""

    code: int | None
    """None: it took too long, or git is not there."""
    data: bytes
    output: str
    """What it and the programs that it ran printed; of much of it the end."""


def do(
    cwd: str,
    args: Sequence[str],
    given: bytes = b"",
    seconds: float = 120.0,
    *,
    place: Place | None = None,
    index: str = "",
    hooks: str = "",
    environment: Mapping[str, str] | None = None,
) -> GitResult:
    """Run a git command that the user asked for, without terminal input. `hooks`: a folder of those
    that run; "": none."""
    place = place or places.find(cwd)
    if place is None:
        return GitResult(None, b"", f"{cwd} is not in a git repository.")
    home = paths.home()
    more = {"GIT_LITERAL_PATHSPECS": "1", **(environment or {})}
    if hooks:  # an agent may have written them: what they run answers and loosens nothing
        more[MARK] = f"{home_tag(home)}.hooks"
    try:
        with opened(place, index=index, hooks=hooks, writes=True) as git:
            pipe = subprocess.PIPE
            process = git.start(cwd, args, stdin=pipe, stderr=pipe, more=more, session=True)
            if hooks:
                roots.record(home, process.pid, tree.start_time(process.pid))
            return _ended(process, given, seconds)
    except (NoGit, OSError, ValueError) as error:
        return GitResult(None, b"", str(error))


def opened(
    place: Place, *, index: str = "", hooks: str = "", writes: bool = False
) -> shadow.Opened:
    """Open a repository with the hooks and drivers that may run. Raises NoGit."""
    home = paths.home()
    more = [("core.hookspath", hooks)] if hooks else []
    more += drivers.trusted(home, place)
    home = home if os.path.isdir(home) else ""
    return shadow.opened(place, index=index, more=more, home=home, writes=writes)


def _ended(process: subprocess.Popen[bytes], given: bytes, seconds: float) -> GitResult:
    with process:
        try:
            data, printed = process.communicate(given, seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            return GitResult(None, b"", f"It took longer than {seconds:g} s.")
    printed = printed if process.returncode == 0 or printed.strip() else data
    return GitResult(process.returncode, data, printed[-SAID:].decode("utf-8", "replace").strip())


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process with all that it started: hooks would keep its pipes open."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=5.0)
