"""What is known of a vendor's agent: how to install it, how to bring it to the scripted model,
which of its tools run a command and edit a file, and where it differs from the others."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import rookery
from rookery.agent.scripted.script import Call
from rookery.agents import registry

type Environment = dict[str, str]
type Surroundings = Callable[[Path, str], Environment]
"""Writes its settings into a home and says its variables, for a model at an address (no path)."""

NEVER_ASKS = "it never asks for permission."
WHOLE = "each answer arrives in one piece."


def call(tool: str, **arguments: Any) -> Call:
    return Call(tool, json.dumps(arguments))


class Vendor(NamedTuple):
    name: str
    """As in Rookery's registry, where it has a row there."""
    surroundings: Surroundings
    run: Callable[[str], Call]
    """The call that runs a command."""
    edit: Callable[[str, str, str], list[Call]]
    """The calls, in their order, that change one text into another in the file of that path, which
    is absolute."""
    wanted: Mapping[str, str] = {}  # never changed
    """Arguments that it wants of every call, also of a server's tools."""
    npm: tuple[str, ...] = ()
    """Packages, each with its version; the first is the agent's own."""
    pypi: tuple[str, ...] = ()
    """Alike, as `name==version`, for an environment of their own,"""
    python: str = "3.12"
    """of this Python."""
    programs: tuple[str, ...] = ()
    """That must answer `--version` once it is installed."""
    command: tuple[str, ...] = ()
    """Its argv, where the registry has none."""
    rejected: str = "end_turn"
    """How a turn ends whose tool call was rejected."""
    limited: str = "rate_limited"
    """How a turn ends whose model is over its limit."""
    insists: bool = False
    """Then it does not end by itself: it tries again, silently, until it is cancelled."""
    whole: bool = False
    """It asks its model for whole answers: nothing streams."""
    forgets: bool = False
    """It can open no session again: a new process begins anew, and the person is told."""
    untouched: tuple[str, ...] = ()
    """Options that the trial leaves alone: a value that cannot be used would spoil the rest."""
    faults: Mapping[str, str] = {}  # never changed
    """Its own, by the trial that cannot go well because of it, in the words of docs/vendors.md. The
    trial is made all the same: a fault that is gone is said to be."""

    @property
    def version(self) -> str:
        if not self.npm and not self.pypi:
            return rookery.__version__
        own = (self.npm or self.pypi)[0]
        return own.rpartition("==")[2] if self.pypi and not self.npm else own.rpartition("@")[2]

    @property
    def argv(self) -> list[str]:
        return list(self.command) or registry.resolve(self.name, {}).argv
