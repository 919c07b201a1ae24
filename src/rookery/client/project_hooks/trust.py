"""`trusted.json` of the home: which hooks the user accepted or refused, by project and content, and
which programs named by a repository's git configuration (`client/work_tree/drivers`).

It is one of the settings that decide what runs without asking, so what an agent writes there waits
for the user's confirmation (`client/config/in_force`)."""

import os
from collections.abc import Sequence
from typing import Literal

from rookery.client.config import in_force
from rookery.client.project_hooks.hook_file import HookFile
from rookery.core.json import Json, dumps, lenient
from rookery.core.settings.loosening import OF_GIT
from rookery.home import confirmed, paths

MAX_CONTENTS = 50
"""How many contents are remembered per project, the newest last."""

type State = Literal["trusted", "refused", "unknown"]


def state(home: str, hooks: HookFile) -> State:
    """Return whether the user trusts these hooks as they are now."""
    if hooks.fault:
        return "refused"
    if hooks.fingerprint in in_force.trusted(home).get(hooks.project, ()):
        return "trusted"
    refused = lenient.mapping(_read(home), "refused").get(hooks.project)
    is_refused = isinstance(refused, list) and hooks.fingerprint in refused
    return "refused" if is_refused else "unknown"


def remember(home: str, hooks: HookFile, *, trusts: bool, asked: bool = False) -> None:
    """Record the user's decision. `asked`: it is the answer to an ask, whose sender was already
    checked. Raises Waiting, FromAgent, ConfigError, OSError."""
    keep(home, hooks.project, [hooks.fingerprint], trusts=trusts, asked=asked)


def keep(
    home: str, project: str, contents: Sequence[str], *, trusts: bool = True, asked: bool = False
) -> None:
    """Record these contents of a project as trusted, or as refused. Raises Waiting, FromAgent,
    ConfigError, OSError."""
    with in_force.editing(home, adds=trusts, asked=asked, records=True):
        known = _read(home) | {"trusted": dict(in_force.trusted(home))}
        for name, wanted in (("trusted", trusts), ("refused", not trusts)):
            table = dict(lenient.mapping(known, name))
            rest = [each for each in table.get(project) or [] if each not in contents]
            table[project] = [*rest, *contents][-MAX_CONTENTS:] if wanted else rest
            known[name] = {key: each for key, each in table.items() if each}
        _write(home, known)


def forget(home: str, project: str) -> bool:
    """Forget all decisions about a project, so that the user is asked again. Returns False if there
    were none."""
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
    """Return for each project how many contents of its hooks are trusted and how many refused."""
    known = _read(home)
    yes, no = in_force.trusted(home), lenient.mapping(known, "refused")
    names = sorted(each for each in {*yes, *no} if not each.startswith(OF_GIT))
    return {each: (len(yes.get(each, ())), len(no.get(each, ()))) for each in names}


def _read(home: str) -> Json:
    return paths.read_json(os.path.join(home, confirmed.TRUSTED)) or {}


def _write(home: str, known: Json) -> None:
    data = dumps({**known, "v": 1}).encode("ascii") + b"\n"
    paths.write_atomic(os.path.join(home, confirmed.TRUSTED), data, 0o600, sync=True)
