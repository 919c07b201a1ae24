"""The known agents: which are installed and start, and how to install the rest."""

import os
import re
import sys
from collections.abc import Mapping

import rookery
from rookery.agents import programs, registry
from rookery.cli.checkup import address_probe
from rookery.cli.checkup.agent_versions import Told, learn
from rookery.cli.output import Screen, clean_line, columns, cut, pad
from rookery.core.agent.addresses import address_of
from rookery.core.json import Json, lenient
from rookery.home import config, paths
from rookery.models.choice import has_model

LAUNCHERS = re.compile(
    r"(python|pypy)[\d.]*|node|deno|bun|ruby|java|env|(ba|z|da|)sh|docker|podman"
)
"""Programs whose version is not the version of the agent they start."""


def listed(settings: config.Config, environment: Mapping[str, str] = os.environ) -> list[Json]:
    """Each agent with what is known about it without starting anything."""
    found = []
    for name in registry.names(settings.agents):
        own = name in settings.agents
        entry = None if own else registry.AGENTS[name]
        agent = registry.resolve(name, settings.agents)
        program = agent.argv[0]
        place = programs.find(program, environment, os.getcwd(), settings.node_path)
        address = address_of(agent.argv)
        if not own and registry.lacks_module(agent):
            place = None
        on_path = programs.located(agent.argv, environment, settings.node_path)[0] == program
        ours = entry is not None and entry.argv[0] == registry.PYTHON
        bare = name == registry.OWN and not own and not has_model(paths.home())
        found.append(
            {
                "name": name,
                "title": entry.title if entry else name,
                "argv": agent.argv,
                "own": own,
                "installed": place is not None or bool(address),
                "program": place,
                "address": address,
                "installedHere": _is_below(place),
                "onPath": place is not None and on_path,
                "version": rookery.__version__ if ours else None,
                "install": entry.install if entry else "",
                "environment": list(entry.environment) if entry else [],
                "needs": "rookery setup" if bare else "",
            }
        )
    return found


def _is_below(place: str | None) -> bool:
    """Whether a program is one that Rookery installed."""
    root = os.path.join(paths.home(), programs.FOLDER) + os.sep
    return place is not None and place.startswith(root)


def with_versions(
    found: list[Json], environment: Mapping[str, str], settings: config.Config
) -> list[Json]:
    """The same with the versions that the installed programs report, and whether each starts, or
    answers at its address."""
    asked = {
        each["name"]: each["program"]
        for each in found
        if each["program"]
        and not each["version"]
        and not LAUNCHERS.fullmatch(os.path.basename(each["argv"][0]))
        and not registry.is_cold(each["argv"])
    }
    told = learn(asked, environment, paths.home())
    for name, said in address_probe.ask_all(settings, environment).items():
        version = lenient.text(lenient.mapping(said.answer, "agentInfo"), "version")
        told[name] = Told(version or None, said.fault)
    answers = [told.get(each["name"], Told(each["version"])) for each in found]
    return [
        each | {"version": said.version, "starts": not said.fault, "fault": said.fault}
        for each, said in zip(found, answers, strict=True)
    ]


# ---------------------------------------------------------------- look


def write_table(screen: Screen, found: list[Json]) -> None:
    paint = screen.paint
    name = max(columns(clean_line(each["name"])) for each in found)
    number = max(len(each["version"] or "") for each in found)
    for each in found:
        state = "done" if each["installed"] else "pending"
        state = "failed" if each.get("fault") else state
        cells = [
            paint.mark(state),
            pad(clean_line(each["name"]), name),
            pad(clean_line(each["version"] or ""), number),
            _words(each),
        ]
        screen.line("  ".join(cells).rstrip())
    missing = sum(not each["installed"] for each in found)
    if missing:
        screen.note(
            f"{missing} not installed. Run the command next to each, or rookery agents install "
            "NAME to install one only for Rookery."
        )


def _words(each: Json) -> str:
    if not each["installed"]:
        program = clean_line(each["argv"][0])
        return each["install"] or f"not installed: {cut(program, 60)} not found"
    if not each["own"] and each["argv"][:1] == [sys.executable]:
        needs = each["needs"]
        return "included with Rookery" + (f"; no model yet: {needs}" if needs else "")
    if each["address"]:
        where, fault = clean_line(each["address"]), cut(clean_line(each.get("fault", "")), 240)
        return f"does not respond: {fault}" if fault else where
    place = paths.with_tilde(clean_line(each["program"]))
    if each.get("fault"):
        return f"{place} does not start: {cut(clean_line(each['fault']), 160)}"
    if each["installedHere"]:
        return f"{place} (installed by Rookery)"
    return place if each["onPath"] else f"{place} (not on PATH)"
