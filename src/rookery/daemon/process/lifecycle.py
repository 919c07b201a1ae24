"""Starting, stopping and restarting the daemon from the command line. No web framework is imported
here: the daemon is another process, and gets its options through a pipe, so that no passphrase
appears in a process list."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from typing import NoReturn

from rookery.agents.registry import missing_extra
from rookery.build import OLDER, compare
from rookery.client import guard
from rookery.client.daemon import local as daemon
from rookery.client.update.difference import between
from rookery.core.json import Json, lenient
from rookery.core.refusals import Refused
from rookery.daemon.options import Options, from_json
from rookery.daemon.options import check as check_options
from rookery.daemon.process.record import already_running
from rookery.home import paths
from rookery.home.log_rotation import turn_over
from rookery.log.lock import is_held
from rookery.processes import tree
from rookery.processes.lineage import unmarked
from rookery.processes.search_path import for_python

STARTS = 60.0
ENDS = 20.0
"""Seconds, also on a busy machine; elsewhere it starts within two, and is gone within five."""
KILLED = 5.0
"""Seconds until a killed one is gone."""
ANSWERS = 3.0
"""Seconds within which one that is well answers."""
MODULES = ("fastapi", "uvicorn", "websockets")
STOPPED, FORCED = "stopped", "forced"
SECRET = "ROOKERY_PASSPHRASE"  # noqa: S105 - the name of a variable


def check(home: str) -> None:
    """Check that a daemon can be started from here. Raises Refused."""
    if missing := [name for name in MODULES if find_spec(name) is None]:
        message = missing_extra(f"The daemon ({', '.join(missing)})", "web")
        raise Refused("not_installed", message)
    if guard.of_an_agent(home):
        raise Refused(
            "from_the_agent",
            "An agent cannot start, stop or change the daemon. Do it in a terminal of your own.",
        )


def _argv(home: str, file: int, *, background: bool) -> list[str]:
    argv = [sys.executable, "-P", "-m", "rookery.daemon", "--home", home, "--options", str(file)]
    return [*argv, *(["--background"] if background else [])]


def _environment() -> dict[str, str]:
    environment = unmarked()
    environment.pop(SECRET, None)
    return environment


def run(home: str, options: Options, say: Json) -> NoReturn:
    """Become the daemon, in this terminal. `say` is what it prints once it listens."""
    reading, writing = os.pipe()
    os.write(writing, json.dumps({"options": options.json(), "say": say}).encode())
    os.close(writing)
    os.set_inheritable(reading, True)
    argv = _argv(home, reading, background=False)
    os.execve(argv[0], argv, for_python(_environment()))


def start(home: str, options: Options) -> Json:
    """Start a daemon in the background and return its record. Raises Refused."""
    if (running := find(home)) is not None:
        raise already_running(home, running)
    paths.ensure_home(home)
    paths.make_private(os.path.join(home, "run"))
    log = os.path.join(home, daemon.LOG)
    turn_over(log)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    reading, writing = os.pipe()
    try:
        child = subprocess.Popen(
            _argv(home, reading, background=True),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=output,
            cwd="/",
            env=_environment(),
            pass_fds=(reading,),
            start_new_session=True,
        )
        os.write(writing, json.dumps({"options": options.json()}).encode())
    finally:
        for file in (reading, writing, output):
            os.close(file)
    assert child.stdout is not None
    with child.stdout as stdout:
        line = _line(stdout.fileno())
    match line:
        case {"ready": dict(record)}:
            child.returncode = 0  # it lives on: it is nobody's to wait for
            return record
        case {"error": str(name), "message": str(message)}:
            child.wait()
            raise Refused(name, message)
    child.kill()
    child.wait()
    raise Refused("not_started", f"The daemon did not start. {log} says why.")


def _line(file: int) -> object:
    """Return the first JSON line that the process prints, or None if there was none in time."""
    until, data = time.monotonic() + STARTS, b""
    while not data.endswith(b"\n"):
        ready, _, _ = select.select([file], [], [], max(0.0, until - time.monotonic()))
        piece = os.read(file, 65536) if ready else b""
        if not piece:
            return None
        data += piece
    try:
        return json.loads(data)
    except ValueError:
        return None


def find(home: str) -> Json | None:
    """Return the record of the running daemon, or None if there is none. Raises Refused."""
    record = daemon.record(home)
    if record is None and is_held(lock := os.path.join(home, daemon.LOCK)):
        raise Refused(
            "not_listening",
            f"A daemon of {home} is starting or stopping. Try again in a moment; if that does not "
            f"help, end the process that `fuser {lock}` names.",
        )
    return record


def stop(home: str) -> str:
    """Stop the daemon and return STOPPED, FORCED if it had to be killed, or "" if there was none.
    Its workers keep running. Raises Refused."""
    record = find(home)
    if record is None:
        return ""
    pid = daemon.listening(home) or record["pid"]  # the kernel knows better than a file
    process = tree.Process(pid, tree.start_time(pid) or "")
    for number, wait in ((signal.SIGTERM, ENDS), (signal.SIGKILL, KILLED)):
        with suppress(ProcessLookupError):
            os.kill(pid, number)
            os.kill(pid, signal.SIGCONT)  # a stopped one would not even hear it
        if not tree.wait_gone([process], wait):
            return STOPPED if number == signal.SIGTERM else FORCED
    raise Refused("still_running", f"The daemon (pid {pid}) could not be killed. Try as root.")


def restart(home: str) -> Json:
    """Restart the daemon with its options and the current build. Raises Refused."""
    record = find(home)
    if record is None:
        raise Refused("not_running", "No daemon is running. To start one: rookery serve")
    if "options" not in record:
        raise Refused(
            "no_options",
            f"{daemon.RECORD} does not say how the daemon was started. Stop it (rookery serve "
            "--stop) and start it again.",
        )
    if not record.get("background"):
        raise Refused(
            "not_in_background",
            f"The daemon (pid {record['pid']}) was not started with --background: restart it where "
            "it runs, in its terminal or with systemctl or launchctl.",
        )
    options = from_json(lenient.mapping(record, "options"))
    check_options(options)  # an earlier build may have taken what this one does not
    stop(home)
    return start(home, options)


def status(home: str) -> Json | None:
    """Return what can be shown of the daemon, nothing of it secret, or None if there is none.
    Raises Refused."""
    record = find(home)
    if record is None:
        return None
    options = from_json(lenient.mapping(record, "options"))
    return {
        "responding": daemon.answers(home, ANSWERS),
        **{key: record.get(key) for key in ("pid", "build", "since", "address", "background")},
        "stale": compare(lenient.text(record, "build")) == OLDER,
        "difference": between(record),
        "auth": options.auth,
        "readOnly": options.read_only,
    }
