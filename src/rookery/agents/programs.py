"""Finds an agent's program: on PATH, else where `rookery agents install` put it, else in a version
manager of Node.

A worker, an editor or a service often has a shorter PATH than the shell in which an agent was
installed."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain

from rookery.installation.home import home

NODE = "ROOKERY_NODE"
"""In the environment: a node, or its directory. Comes before `node_path`."""


def find(
    program: str, environment: Mapping[str, str], cwd: str = "/", node_path: str = ""
) -> str | None:
    """Return the path of a program as it would be started in `cwd`; None if it is not installed."""
    if "/" in program:
        return program if is_program(os.path.join(cwd, program)) else None
    on_path = filter(None, _path(environment))
    for place in chain(on_path, own_places(), node_places(environment, node_path)):
        if is_program(path := os.path.join(place, program)):
            return path
    return None


def located(argv: Sequence[str], environment: Mapping[str, str], node_path: str = "") -> list[str]:
    """Return the argv, with the full path of a program that is not on PATH."""
    if not argv or "/" in argv[0]:
        return list(argv)
    path = find(argv[0], environment, node_path=node_path)
    off_path = path is not None and os.path.dirname(path) not in _path(environment)
    return [path if path and off_path else argv[0], *argv[1:]]


def beside(argv: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which a program off PATH finds the node beside it: it begins with
    `#!/usr/bin/env node`, and another node may be too old for it."""
    place, path = os.path.dirname(argv[0]) if argv else "", _path(environment)
    own = os.path.isabs(place) and place not in path and is_program(os.path.join(place, "node"))
    return {**environment, **({"PATH": os.pathsep.join([place, *path])} if own else {})}


def _path(environment: Mapping[str, str]) -> list[str]:
    return environment.get("PATH", os.defpath).split(os.pathsep)


def is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


# ---------------------------------------------------------------- installed by Rookery

FOLDER = "agents"
"""In Rookery's home."""


def own_places() -> Iterator[str]:
    """Yield the program directories of the agents installed here, one for each."""
    root = os.path.join(home(), FOLDER)
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return
    for name in names:
        if not name.startswith("."):
            yield os.path.join(root, name, "bin")


FRESH = 24 * 3600.0
"""Seconds for which an installed program counts as new."""


def is_fresh(program: str) -> bool:
    """Tell whether a program was installed here within the last day. Its first start may be slow:
    it is not in the system's cache, and some unpack or compile themselves."""
    for place in own_places():
        with suppress(OSError):
            return time.time() - os.stat(os.path.join(place, program)).st_ctime < FRESH
    return False


# ---------------------------------------------------------------- version managers


def node_places(environment: Mapping[str, str], node_path: str = "") -> Iterator[str]:
    """Yield directories of programs: those that the user named, then each manager's, newest
    first."""
    for named in (environment.get(NODE, ""), node_path):
        if named:
            place = os.path.expanduser(named)
            yield from (os.path.join(place, "bin"), place, os.path.dirname(place))
    user = environment.get("HOME") or os.path.expanduser("~")
    data = environment.get("XDG_DATA_HOME") or os.path.join(user, ".local", "share")
    yield from _versions(environment.get("NVM_DIR") or f"{user}/.nvm", "versions/node", "bin")
    fnm = (f"{data}/fnm", f"{user}/.fnm", f"{user}/Library/Application Support/fnm")
    for root in [environment["FNM_DIR"]] if environment.get("FNM_DIR") else fnm:
        yield f"{root}/aliases/default/bin"
        yield from _versions(root, "node-versions", "installation/bin")
    yield f"{environment.get('VOLTA_HOME') or f'{user}/.volta'}/bin"
    asdf = environment.get("ASDF_DATA_DIR") or f"{user}/.asdf"
    yield from _versions(asdf, "installs/nodejs", "bin")
    mise = environment.get("MISE_DATA_DIR") or f"{data}/mise"
    yield from _versions(mise, "installs/node", "bin")
    yield f"{mise}/shims"


def _versions(root: str, below: str, inside: str) -> Iterator[str]:
    directory = os.path.join(root, below)
    try:
        names = os.listdir(directory)
    except OSError:
        return
    for name in sorted(names, key=_numbers, reverse=True):
        yield os.path.join(directory, name, inside)


def _numbers(name: str) -> list[int]:
    """A sort key by version: v22.9.0 comes after v8.17.0; a name without numbers comes first of
    all."""
    spaced = "".join(letter if letter.isdecimal() else " " for letter in name)
    return [int(word) for word in spaced.split()]
