"""Git, asked about a directory that an agent works in. Its configuration may be the agent's: none
of the programs that a configuration can name is run, unless the user says `do`."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

SECONDS = 10.0
MOST = 32 * 1024 * 1024
"""Bytes that are read of an answer."""

_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.preloadIndex": "false",
    "core.quotePath": "false",
    "diff.external": "",
    "diff.noprefix": "false",
    "diff.mnemonicPrefix": "false",
    "submodule.recurse": "false",
}
_OWN = {"core.fsmonitor": "false", "core.quotePath": "false"}
SAID = 16 * 1024
_UNSET = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS")
_FILTERS = ("clean", "smudge", "process")


class Output(NamedTuple):
    data: bytes
    cut: bool
    """There was more."""


def run(
    cwd: str,
    words: Sequence[str],
    *,
    most: int = MOST,
    seconds: float = SECONDS,
    more: Mapping[str, str] | None = None,
) -> Output | None:
    """What git says; None: it failed, took too long, or is not there. `more`: further settings."""
    try:
        process = subprocess.Popen(
            ["git", *words],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment({**_SETTINGS, **(more or {})}),
        )
    except (OSError, ValueError):
        return None
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


class Told(NamedTuple):
    """How a command of the user's ended."""

    code: int | None
    """None: it took too long, or git is not there."""
    data: bytes
    said: str
    """What it and the programs that it ran printed; of much of it the end."""


def do(
    cwd: str,
    words: Sequence[str],
    given: bytes = b"",
    seconds: float = 120.0,
    *,
    hooks: bool = True,
    environment: Mapping[str, str] | None = None,
) -> Told:
    """As the user would run it in a terminal of their own: with their hooks, filters and settings.
    Nothing can be typed into it."""
    settings = _OWN if hooks else _OWN | {"core.hooksPath": os.devnull}
    try:
        process = subprocess.Popen(
            ["git", *words],
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(settings)
            | {"GIT_EDITOR": "true", "GIT_LITERAL_PATHSPECS": "1", **(environment or {})},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Told(None, b"", str(error))
    with process:
        try:
            data, said = process.communicate(given, seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            return Told(None, b"", f"It took longer than {seconds:g} s.")
    said = said if process.returncode == 0 or said.strip() else data
    return Told(process.returncode, data, said[-SAID:].decode("utf-8", "replace").strip())


def _end(process: subprocess.Popen[bytes]) -> None:
    """With all that it started: hooks would keep its pipes open."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=5.0)


def harmless(cwd: str) -> dict[str, str]:
    """Settings under which git runs no filter when it reads files of the work tree."""
    named = run(cwd, ["config", "-z", "--name-only", "--get-regexp", r"^filter\."])
    keys = named.data.decode("utf-8", "surrogateescape").split("\0") if named else []
    found = {key: "" for key in keys if key.rpartition(".")[2] in _FILTERS}
    required = {f"{key.rpartition('.')[0]}.required": "false" for key in found}
    return found | required


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    found = {key: value for key, value in os.environ.items() if key not in _UNSET}
    for at, (key, value) in enumerate(settings.items()):
        found |= {f"GIT_CONFIG_KEY_{at}": key, f"GIT_CONFIG_VALUE_{at}": value}
    return found | {
        "GIT_CONFIG_COUNT": str(len(settings)),
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
