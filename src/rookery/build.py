"""Identifying this build, and comparing two builds by age.

A build's name is the version and its source: `0.1.0+COMMIT` in a checkout, `0.1.0+COMMIT.TIME` in a
wheel, `0.1.0+COMMIT.TIME.DIGEST` in a wheel of a changed tree (`none` is the commit of one without
git). TIME is that of the commit, or of the latest change to a file, as `20261118005500` in UTC:
`hatch_build.py` writes it into the wheel. A bare version is a wheel from before builds had stamps,
so it is older than this one. All earlier builds compare names for equality alone.

Two checkouts are ordered by their history; git is run only if two names differ."""

import os
import re
from functools import cache
from typing import NamedTuple

import rookery

STAMP = "build-stamp.txt"
"""Beside this file, in a wheel."""

SAME, OLDER, NEWER, DIFFERS = "same", "older", "newer", "differs"
"""How another build relates to this one; the last: nothing tells their order."""

UNKNOWN = "unknown"
"""In the place of a commit: an unpacked source, without git and without a stamp."""

GIT_SECONDS = 5.0

_known = ""


def build() -> str:
    """Return this build's name. It is read once, from files alone: a subprocess would cost more
    than the start."""
    global _known  # noqa: PLW0603 - the same for as long as this process lives
    if not _known:
        _known = f"{rookery.__version__}+{_source()}"
    return _known


def installed() -> str:
    """Return the build on disk now, which differs from this one after an update."""
    text = _read(rookery.__file__)
    version = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    return f"{version[1] if version else rookery.__version__}+{_source()}"


class Parts(NamedTuple):
    version: str
    commit: str = ""
    time: str = ""
    digest: str = ""

    @property
    def number(self) -> tuple[int, ...]:
        """The version's leading numbers."""
        digits = re.match(r"\d+(\.\d+)*", self.version)
        return tuple(map(int, digits[0].split("."))) if digits else ()

    @property
    def source(self) -> tuple[str, str]:
        return self.commit, self.digest


def parts(name: str) -> Parts:
    version, _, rest = name.partition("+")
    return Parts(version, *rest.split(".")[:3])


def described(name: str) -> str:
    """Format a build's name for people: `0.1.0 (65bf12990abc, 2026-11-18)`."""
    version, commit, time, digest = parts(name)
    day = f"{time[:4]}-{time[4:6]}-{time[6:8]}" if re.fullmatch(r"\d{14}", time) else ""
    commit = commit if _is_commit(commit) else ""
    details = [commit and commit + (" with changes" if digest else ""), day]
    about = ", ".join(each for each in details if each)
    return f"{version} ({about})" if about else version


def compare(theirs: str, own: str = "") -> str:
    """Return how another build relates to `own` (default: this one): SAME, OLDER, NEWER or
    DIFFERS."""
    own = own or build()
    if theirs == own:
        return SAME
    them, us = parts(theirs), parts(own)
    if them.number != us.number:
        return OLDER if them.number < us.number else NEWER
    if not them.commit:
        return OLDER
    if UNKNOWN in (them.commit, us.commit):
        return DIFFERS
    if them.source == us.source:
        return SAME
    if them.time and us.time and them.time != us.time:
        return OLDER if them.time < us.time else NEWER
    return _by_history(them.commit, us.commit) or DIFFERS


@cache
def _by_history(theirs: str, own: str) -> str:
    """Compare by the history of this checkout; "" if it does not tell."""
    if theirs == own or not (_is_commit(theirs) and _is_commit(own)):
        return ""
    for older, newer, order in ((theirs, own, OLDER), (own, theirs, NEWER)):
        if _git("merge-base", "--is-ancestor", older, newer):
            return order
    return ""


def _git(*args: str) -> bool:
    """Run git and return whether it succeeded. An agent may have edited the checkout's
    configuration: nothing that it names is run."""
    import subprocess

    from rookery.git import places, shadow
    from rookery.git.program import NoGit
    from rookery.installation.home import home

    place = places.find(checkout())
    if place is None or place.top != os.path.realpath(checkout()):
        return False
    kept = home() if os.path.isdir(home()) else ""
    try:
        with shadow.opened(place, home=kept) as git, git.start("/", args) as process:
            try:
                process.communicate(timeout=GIT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                return False
            return process.returncode == 0
    except (NoGit, OSError):
        return False


def _is_commit(word: str) -> bool:
    return re.fullmatch("[0-9a-f]{12,40}", word) is not None


def checkout() -> str:
    """Return the directory that would be the checkout if this runs from one."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(rookery.__file__))))


def _source() -> str:
    stamp = _read(os.path.join(os.path.dirname(rookery.__file__), STAMP))
    return stamp or _commit(os.path.join(checkout(), ".git"))[:12] or UNKNOWN


def _commit(git: str) -> str:
    """Return the commit of HEAD in a repository or one of its worktrees."""
    link = _read(git)
    if link.startswith("gitdir: "):
        git = os.path.join(os.path.dirname(git), link[8:])
    head = _read(os.path.join(git, "HEAD"))
    if not head.startswith("ref: "):
        return head
    name = head[5:]
    shared = os.path.join(git, _read(os.path.join(git, "commondir")))
    if commit := _read(os.path.join(shared, *name.split("/"))):
        return commit
    packed = _read(os.path.join(shared, "packed-refs")).splitlines()
    return next((line.split()[0] for line in packed if line.endswith(" " + name)), "")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except (OSError, UnicodeDecodeError):
        return ""
