"""The version of an installed agent, and whether its program starts: asked once, since many take
seconds to answer, and cached in the home until the program changes."""

import glob
import os
import re
import signal
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple

from rookery.agents import programs
from rookery.core.json import Json, dumps, lenient
from rookery.core.vendors.environment import cleaned
from rookery.home import paths
from rookery.processes import tree

FILE = "agent-versions.json"
WITHIN = 0.7
"""Seconds for all programs together."""

OUTPUT = 4096
_VERSION = re.compile(r"\d+\.\d+[\w.+-]*")
_FAULT = re.compile(
    r"not found|no such file|cannot find|modulenotfounderror|importerror|syntaxerror"
    r"|unsupported engine|requires? (node|python)|needs (node|python)|bad interpreter|exec format",
    re.IGNORECASE,
)
UNSTARTED = (126, 127)
"""The exit codes of a shell that cannot start a program."""


class VersionCheck(NamedTuple):
    version: str | None = None
    fault: str = ""
    """Why it cannot start."""


def learn(
    asked: Mapping[str, str], environment: Mapping[str, str], home: str
) -> dict[str, VersionCheck]:
    """Return the version or fault of each program, by name. A program that cannot start is asked
    each time: it may have been repaired."""
    kept = _kept(home)
    cached = {name: kept.get(_mark(program)) for name, program in asked.items()}
    known = {name: VersionCheck(version) for name, version in cached.items() if version is not None}
    left = {name: program for name, program in asked.items() if name not in known}
    if not left:
        return known
    with ThreadPoolExecutor(len(left)) as pool:
        checks = dict(
            zip(left, pool.map(lambda each: ask(each, environment), left.values()), strict=True)
        )
    news = {_mark(left[name]): each.version for name, each in checks.items() if each.version}
    _keep(home, kept, news)
    return known | checks


def ask(program: str, environment: Mapping[str, str], within: float = WITHIN) -> VersionCheck:
    """Return the version that the program's package states, else the one it prints, or why it
    cannot start. No process is left running."""
    packaged = package_version(program)
    given = programs.beside([program], cleaned(environment))
    try:
        process = subprocess.Popen(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=given,
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        return VersionCheck(None, error.strerror or str(error))
    late = False
    with process:
        try:
            out, err = process.communicate(timeout=within)
        except subprocess.TimeoutExpired:
            out, err, late = b"", b"", True
        finally:
            # The group is its own: what it left running goes with it, and lets go of the pipe.
            tree.end_group(process.pid, signal.SIGKILL)
    printed = _version_in(_text(out))
    fault = "" if late or printed else _fault(process.returncode, _text(err) or _text(out))
    return VersionCheck(None, fault) if fault else VersionCheck(packaged or printed)


def _fault(status: int, output: str) -> str:
    """Return why a program did not start, or "". Not knowing --version is no fault."""
    if status == 0 or (status not in UNSTARTED and not _FAULT.search(output)):
        return ""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if _FAULT.search(line)]
    return lenient.first_line((telling or lines or [f"status {status}"])[-1], 200)


def _text(data: bytes) -> str:
    return data[:OUTPUT].decode("utf-8", "replace")


def _version_in(text: str) -> str | None:
    number = _VERSION.search(text)
    return number.group() if number else None


# ---------------------------------------------------------------- by its package


def package_version(program: str) -> str | None:
    """Return the version that npm or a Python installer recorded beside the program, or None."""
    real = os.path.realpath(program)
    return _of_npm(real) or _of_python(real)


def _of_npm(real: str) -> str | None:
    place = os.path.dirname(real)
    while "/node_modules/" in f"{place}/" and not place.endswith("/node_modules"):
        about = paths.read_json(os.path.join(place, "package.json"))
        if about is not None and lenient.text(about, "name") and about.get("bin"):
            return lenient.text(about, "version") or None
        place = os.path.dirname(place)
    return None


def _of_python(real: str) -> str | None:
    """Return the version of the package whose entry points name this script in `bin`, or None."""
    root, name = os.path.dirname(os.path.dirname(real)), os.path.basename(real)
    if not os.path.exists(os.path.join(root, "pyvenv.cfg")):
        return None
    pattern = os.path.join(glob.escape(root), "lib/python*/site-packages/*.dist-info")
    for place in glob.glob(pattern):
        with suppress(OSError), open(os.path.join(place, "entry_points.txt")) as file:
            if re.search(rf"^{re.escape(name)}\s*=", file.read(), re.MULTILINE):
                return os.path.basename(place).removesuffix(".dist-info").rpartition("-")[2]
    return None


# ---------------------------------------------------------------- what is kept


def _mark(program: str) -> str:
    """Return a mark of the program as it is now: another one in its place gets another."""
    real = os.path.realpath(program)
    try:
        stat = os.stat(real)
    except OSError:
        return real
    return f"{real} {stat.st_mtime_ns} {stat.st_size} {stat.st_ino}"


def _kept(home: str) -> dict[str, str]:
    stored = lenient.mapping(paths.read_json(os.path.join(home, FILE)), "versions")
    return {mark: version for mark, version in stored.items() if isinstance(version, str)}


def _keep(home: str, kept: dict[str, str], news: dict[str, str]) -> None:
    if not news or not os.path.isdir(home):
        return
    programs_now = {mark.partition(" ")[0] for mark in news}
    rest = {mark: each for mark, each in kept.items() if mark.partition(" ")[0] not in programs_now}
    with suppress(OSError):  # a home that takes no file: it is asked again
        about: Json = {"v": 1, "versions": rest | news}
        paths.write_atomic(os.path.join(home, FILE), dumps(about).encode("ascii"), 0o600)
