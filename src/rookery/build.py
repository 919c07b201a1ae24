"""Which build this is: the version, and in a checkout the commit, so that a rebuilt worker is told
from an old one."""

import os
import re

import rookery

_known = ""


def build() -> str:
    """`0.1.0` or `0.1.0+<12 hex>`; read once, from files alone: a subprocess would cost more than
    the start."""
    global _known  # noqa: PLW0603 - the same for as long as this process lives
    if not _known:
        _known = rookery.__version__ + _checkout()
    return _known


def installed() -> str:
    """The build on disk now: another than this one's after an update."""
    text = _read(rookery.__file__)
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    return (found[1] if found else rookery.__version__) + _checkout()


def _checkout() -> str:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(rookery.__file__))))
    commit = _commit(os.path.join(root, ".git"))
    return f"+{commit[:12]}" if commit else ""


def _commit(git: str) -> str:
    head = _read(os.path.join(git, "HEAD"))
    if not head.startswith("ref: "):
        return head
    name = head[5:]
    found = _read(os.path.join(git, *name.split("/")))
    if found:
        return found
    packed = _read(os.path.join(git, "packed-refs")).splitlines()
    return next((line.split()[0] for line in packed if line.endswith(" " + name)), "")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except (OSError, UnicodeDecodeError):
        return ""
