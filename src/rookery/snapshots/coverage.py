"""Which files a snapshot would bring back, without taking one. Git runs in the store's own
directory, or in an empty one: nothing of the repository's configuration is read."""

import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack

from rookery.snapshots import job
from rookery.snapshots.scope import MADE

SECONDS = 5.0
_LISTS = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name")
_BARE = {"HEAD": "ref: refs/heads/none\n", "config": "[core]\n\trepositoryformatversion = 0\n"}


def kept(
    paths: Sequence[str], root: str, store: str, home: str, environment: Mapping[str, str]
) -> set[str]:
    """Return those of some files below a directory that its snapshots contain, or that the next one
    takes; links must have been resolved. `store`: the session's; "" if it has none yet."""
    git = job.find_git(environment.get("PATH") or os.defpath)
    if not git or not paths or job.unfit(root, home, environment):
        return set()
    top = _top(root)
    names = {os.path.relpath(path, top or root): path for path in paths}
    with ExitStack() as stack:
        if not os.path.isdir(os.path.join(store, "objects")):
            store = stack.enter_context(tempfile.TemporaryDirectory(prefix="rookery-"))
            _make_bare(store)
        excludes = [f"--exclude-from={top}/.git/info/exclude"] if top else _made()
        excludes = [] if top and not os.path.isfile(f"{top}/.git/info/exclude") else excludes
        listed = _ask([git, "-c", "core.fsmonitor=false", *_LISTS, *excludes], names, top or root,
                    store, environment)  # fmt: skip
    return {names[name] for name in listed if name in names}


def _made() -> list[str]:
    return [f"--exclude={name}" for name in MADE]


def _top(root: str) -> str:
    """The top of the repository that a directory is in; "" if it is in none."""
    folder = root
    while not os.path.lexists(os.path.join(folder, ".git")):
        folder, last = os.path.dirname(folder), folder
        if folder == last:
            return ""
    return folder


def _make_bare(place: str) -> None:
    for name in ("objects", "refs"):
        os.mkdir(os.path.join(place, name))
    for name, text in _BARE.items():
        with open(os.path.join(place, name), "w", encoding="ascii") as file:
            file.write(text)


def _ask(
    argv: list[str], names: Iterable[str], top: str, store: str, environment: Mapping[str, str]
) -> list[str]:
    """The paths that git lists; [] if it fails."""
    env = {name: environment[name] for name in job.GIVEN if name in environment}
    env |= {"LC_ALL": "C", "GIT_DIR": store, "GIT_WORK_TREE": top, "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            [*argv, "--", *names],
            cwd=top,
            env=env | {"GIT_LITERAL_PATHSPECS": "1", "GIT_CONFIG_NOSYSTEM": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [os.fsdecode(name) for name in done.stdout.split(b"\0")]
