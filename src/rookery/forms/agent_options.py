"""The options that can be chosen for an agent before it starts: those it offered when it last ran,
and for Rookery's own agent the saved models."""

from collections.abc import Iterable

from rookery.agents import registry
from rookery.core.json import Json
from rookery.core.vendors import options
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.models import profiles

NAMES = ("model", "effort", "mode")
LOOKED_AT = 8
"""Sessions of the agent, the newest first: one that never started offers nothing."""


def known(home: str, heads: Iterable[Json], agent: str) -> dict[str, Json]:
    """Return the options by name, with their choices; empty if nothing is known. Nothing is
    started."""
    options: dict[str, Json] = {}
    mine = [head for head in heads if head["agent"] == agent]
    for head in sorted(mine, key=lambda head: -int(head["at"]))[:LOOKED_AT]:
        if options := _offered(home, str(head["id"])):
            break
    if agent == registry.OWN and (saved := profiles.look(home)[0]).profiles:
        choices = [
            {"value": each.name, "name": each.name, "description": each.model}
            for each in saved.profiles.values()
        ]
        options["model"] = {"id": "model", "name": "Model", "value": None, "choices": choices}
    return options


def _offered(home: str, session: str) -> dict[str, Json]:
    try:
        with Reader.open(paths.session_dir(home, session)) as log:
            listed: list[Json] = log.header().options
    except LogError:
        return {}
    every = ((name, options.find(listed, name)) for name in NAMES)
    return {name: option for name, option in every if option and option["choices"]}
