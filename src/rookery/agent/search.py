"""Searches files. A search needs no permission, so it is bounded in time and memory, ends when
cancelled, and does not follow links, which may lead out of the directory that was judged."""

import functools
import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from rookery.agent import stopping
from rookery.core.command_line import globs

SECONDS = 30.0
"""For one search."""
MOST_FOUND = 100_000
"""Files, of which the newest are told."""
MOST_MEMORY = 2_000_000
"""Kilobytes of a program that searches: a line can be as long as its file."""
MOST_WAYS = 100
"""Patterns that one with braces may stand for."""
SKIPPED = "node_modules"
"""Not searched unless it is named; nor are hidden directories."""
LONGEST_ERROR = 500

_LIMITED = ("sh", "-c", f'ulimit -v {MOST_MEMORY} 2>/dev/null; exec "$@"', "sh")
_BRACES = re.compile(r"\{([^{}]*)\}")
_CLASS = re.compile(r"\[(!|\^)?([^\]]+)\]")


class SearchError(Exception):
    """Nothing was searched; the message tells the model why."""


class Hits(NamedTuple):
    paths: list[str]
    """Absolute, the newest first."""
    late: bool = False
    """There was no time for all."""


class Run:
    """One search, which can be stopped from any thread."""

    def __init__(self) -> None:
        self._until = time.monotonic() + SECONDS
        self._stopped = threading.Event()
        self.cut = False
        """A program was ended before its time."""
        self._program: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    @property
    def over(self) -> bool:
        return self._stopped.is_set() or time.monotonic() > self._until

    def stop(self) -> None:
        self._stopped.set()
        with self._lock:
            if self._program is not None:
                self._program.kill()

    def lines(self, argv: Sequence[str], cwd: str, environment: dict[str, str]) -> Iterator[str]:
        """Yield a program's output, split at null bytes, until stopped. Raises SearchError."""
        with tempfile.TemporaryFile() as errors:
            with self._lock:
                program = subprocess.Popen(
                    [*_LIMITED, *argv],
                    cwd=cwd,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,
                )
                self._program = program
            timer = threading.Timer(max(0.0, self._until - time.monotonic()), self.stop)
            timer.daemon = True
            timer.start()
            try:
                yield from _parted(program)
                failed = program.wait() > 1
                self.cut = self.over
            finally:
                timer.cancel()
                self.stop()
                program.wait()
                if program.stdout is not None:
                    program.stdout.close()
            if failed and not self.cut:
                errors.seek(0)
                message = errors.read(LONGEST_ERROR).decode(errors="replace").strip()
                raise SearchError(message or "The search failed.")


def _parted(program: subprocess.Popen[bytes]) -> Iterator[str]:
    assert program.stdout is not None
    rest = b""
    while data := program.stdout.read1(65_536):  # type: ignore[attr-defined]
        *whole, rest = (rest + data).split(b"\0")
        yield from map(os.fsdecode, whole)


# --- who searches ------------------------------------------------------------------------------


@contextmanager
def begun(executor: object) -> Iterator[Run]:
    """Begin a search for one of a conversation's tools."""
    run = Run()
    with stopping.running(executor, run):
        yield run


# --- by name -----------------------------------------------------------------------------------


def by_name(run: Run, pattern: str, root: str) -> Hits:
    """Find files by path, at any depth unless the pattern says `**`. Raises SearchError."""
    root, pattern = _below(root, pattern)
    ways = ways_of(pattern if "**" in pattern else f"**/{pattern}")
    named = any(part.startswith(".") for way in ways for part in way.split("/"))
    ends = tuple({globs.pieces(way.rpartition("/")[2])[-1].rpartition("?")[2] for way in ways})
    paths: list[str] = []
    for place, near in _walk(run, root, hidden=named, skipped=_is_skipped(root, pattern)):
        if near.endswith(ends) and any(globs.matches_path(way, near, hidden=False) for way in ways):
            paths.append(place)
            if len(paths) >= MOST_FOUND:
                break
    return Hits(_newest(paths), run.over)


def _below(root: str, pattern: str) -> tuple[str, str]:
    """Split a pattern into the directory that it begins in, and the rest of it."""
    whole = os.path.expanduser(pattern)
    if not whole.startswith("/") and ".." not in whole.split("/"):
        return root, whole
    parts = whole.split("/")
    count = next((at for at, part in enumerate(parts) if re.search(r"[*?\[{]", part)), -1)
    if ".." in parts[count:]:
        raise SearchError("`..` can only stand before the first wildcard of a pattern.")
    led = "/".join(parts[:count]) or ("/" if whole.startswith("/") else "")
    return os.path.normpath(os.path.join(root, led)), "/".join(parts[count:])


def _is_skipped(root: str, named: str) -> bool:
    return SKIPPED not in root.split("/") and SKIPPED not in named


def _walk(run: Run, root: str, *, hidden: bool, skipped: bool) -> Iterator[tuple[str, str]]:
    """Yield each file below a directory, and its relative path; follow no links to directories."""
    left = [""]
    while left and not run.over:
        near = left.pop()
        try:
            with os.scandir(os.path.join(root, near)) as entries:
                for entry in entries:
                    path = f"{near}/{entry.name}" if near else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        dotted = entry.name.startswith(".") and not hidden
                        if not dotted and not (skipped and entry.name == SKIPPED):
                            left.append(path)
                    elif entry.is_file():
                        yield os.path.join(root, path), path
        except OSError:
            continue


def ways_of(pattern: str) -> list[str]:
    """Expand a pattern with braces or sets of letters into patterns with `*` and `?` alone. Raises
    SearchError."""
    done, left = list[str](), [pattern]
    while left:
        way = left.pop()
        if match := _BRACES.search(way):
            choices = match[1].split(",")
        elif match := next((each for each in _CLASS.finditer(way) if len(each[0]) > 3), None):
            choices = ["?"] if match[1] else [globs.escaped(sign) for sign in _signs(match[2])]
        else:
            done.append(way)
            continue
        left += [way[: match.start()] + each + way[match.end() :] for each in choices]
        if len(left) + len(done) > MOST_WAYS:
            raise SearchError(f"This pattern stands for more than {MOST_WAYS} others.")
    return done


def _signs(letters: str) -> list[str]:
    """Expand `a-d_` into its letters."""
    spans = re.findall(r"(.)-(.)|(.)", letters, re.DOTALL)
    signs = [
        sign
        for first, last, one in spans
        for sign in ([one] if one else map(chr, range(ord(first), ord(last) + 1)))
    ]
    return signs[: MOST_WAYS + 1]


# --- by what is in them ------------------------------------------------------------------------


def by_content(
    run: Run, pattern: str, root: str, include: str, environment: dict[str, str]
) -> Hits:
    """Return the files with a line that matches a regular expression. Raises SearchError."""
    program = _program()
    if not program:
        raise SearchError("Neither rg nor grep is installed here.")
    ways = ways_of(f"**/{include}" if "**" not in include else include) if include else []
    skips = _is_skipped(root, include)
    argv = _rg(include, skips) if program == "rg" else _grep(program, ways, skips)
    paths: list[str] = []
    wrong = ""
    try:
        for line in run.lines([*argv, "-e", pattern, "--", "."], root, environment):
            near = line.removeprefix("./")
            if not _is_told(near, ways):
                continue
            paths.append(os.path.join(root, near))
            if len(paths) >= MOST_FOUND:
                break
    except SearchError as error:  # about some files; the others were searched
        wrong = str(error)
    if wrong and not paths:
        raise SearchError(wrong)
    return Hits(_newest(paths), run.cut)


def _is_told(near: str, ways: list[str]) -> bool:
    if ways:
        return any(globs.matches_path(way, near, hidden=False) for way in ways)
    return not os.path.basename(near).startswith(".")


@functools.cache
def _program() -> str:
    """Return `rg`, or grep with the option of its most usual dialect; "": neither exists."""
    for program, *tried in (("rg", "--version"), ("grep -P", "-P", r"\d"), ("grep -E", "-E", "1")):
        try:
            argv = [program.split()[0], *tried]
            done = subprocess.run(argv, input=b"1\n", capture_output=True, timeout=5, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return program
    return ""


def _rg(include: str, skips: bool) -> list[str]:
    chosen = ["-g", include] * bool(include) + ["-g", f"!{SKIPPED}"] * skips
    return ["rg", "--no-config", "--no-messages", "--files-with-matches", "--null", "-i", *chosen]


def _grep(program: str, ways: list[str], skips: bool) -> list[str]:
    names = dict.fromkeys(way.rpartition("/")[2] for way in ways)
    skipped = [f"--exclude-dir={SKIPPED}"] if skips else []
    more = ["--exclude-dir=.[!.]*", *skipped, *(f"--include={name}" for name in names)]
    return [*program.split(), "-r", "-s", "-I", "-l", "-i", "--null", "--devices=skip", *more]


def _newest(paths: list[str]) -> list[str]:
    return sorted(paths, key=_changed, reverse=True)


def _changed(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0
