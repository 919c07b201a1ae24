"""`trusted.json` of the home: which hooks the user said yes or no to, by project and content, and
which programs that a repository's git configuration names (`client/work_tree/drivers`).

It is one of the settings that decide what runs without asking: what an agent writes there waits
for the user (`client/config/in_force`).
"""

import os
from collections.abc import Sequence
from typing import Literal

from rookery.client.config import in_force
from rookery.client.project_hooks.found import Found
from rookery.core.json import Json, dumps, lenient
from rookery.core.settings.loosening import OF_GIT
from rookery.home import confirmed, paths

MOST = 50
"""Contents that are remembered of a project, the newest last."""

type State = Literal["trusted", "refused", "unknown"]


def state(home: str, found: Found) -> State:
    """Of these hooks, as they are now."""
    if found.fault:
        return "refused"
    if found.fingerprint in in_force.trusted(home).get(found.project, ()):
        return "trusted"
    refused = lenient.mapping(_read(home), "refused").get(found.project)
    is_refused = isinstance(refused, list) and found.fingerprint in refused
    return "refused" if is_refused else "unknown"


def remember(home: str, found: Found, *, trusts: bool, asked: bool = False) -> None:
    """The user's word. `asked`: given as the answer to an ask, whose sender was judged. Raises
    Waiting, FromAgent, ConfigError, OSError."""
    keep(home, found.project, [found.fingerprint], trusts=trusts, asked=asked)


def keep(
    home: str, project: str, contents: Sequence[str], *, trusts: bool = True, asked: bool = False
) -> None:
    """Raises Waiting, FromAgent, ConfigError, OSError."""
    with in_force.editing(home, adds=trusts, asked=asked, records=True):
        known = _read(home) | {"trusted": dict(in_force.trusted(home))}
        for name, wanted in (("trusted", trusts), ("refused", not trusts)):
            table = dict(lenient.mapping(known, name))
            rest = [each for each in table.get(project) or [] if each not in contents]
            table[project] = [*rest, *contents][-MOST:] if wanted else rest
            known[name] = {key: each for key, each in table.items() if each}
        _write(home, known)


def forget(home: str, project: str) -> bool:
    """Ask again about all that is known of a project. False: that is nothing."""
    if project not in {*in_force.trusted(home), *lenient.mapping(_read(home), "refused")}:
        return False
    with in_force.editing(home, adds=False):
        known = _read(home)
        for name in ("trusted", "refused"):
            table = dict(lenient.mapping(known, name))
            table.pop(project, None)
            known[name] = table
        _write(home, known)
    return True


def projects(home: str) -> dict[str, tuple[int, int]]:
    """How many contents of its hooks are trusted and refused of each."""
    known = _read(home)
    yes, no = in_force.trusted(home), lenient.mapping(known, "refused")
    names = sorted(each for each in {*yes, *no} if not each.startswith(OF_GIT))
    return {each: (len(yes.get(each, ())), len(no.get(each, ()))) for each in names}


def _read(home: str) -> Json:
    return paths.read_json(os.path.join(home, confirmed.TRUSTED)) or {}


def _write(home: str, known: Json) -> None:
    data = dumps({**known, "v": 1}).encode("ascii") + b"\n"
    paths.write_atomic(os.path.join(home, confirmed.TRUSTED), data, 0o600, sync=True)
