"""The list of known agents: which are installed and start, and how to install the rest."""

import os
import re
import sys
import time
from collections.abc import Mapping

from rookery.agents import registry
from rookery.cli.checkup import address_probe
from rookery.cli.checkup.agent_versions import VersionCheck, learn
from rookery.cli.output import Screen, clean_line, columns, cut, pad
from rookery.core.json import Json, lenient
from rookery.core.turn.remedies import LOG_IN
from rookery.core.vendors.logins import OUT
from rookery.home import config, paths
from rookery.models import agents
from rookery.render.session_state import login_words

LAUNCHERS = re.compile(
    r"(python|pypy)[\d.]*|node|deno|bun|ruby|java|env|(ba|z|da|)sh|docker|podman"
)
"""Programs whose version is not the version of the agent they start."""


def listed(settings: config.Config) -> list[Json]:
    """Return the known agents, as they are resolved from the current directory."""
    return agents.listed(paths.home(), settings, os.getcwd())


def with_versions(
    rows: list[Json], environment: Mapping[str, str], settings: config.Config
) -> list[Json]:
    """Return the rows with the versions that the installed programs report, and whether each
    starts, or answers at its address."""
    asked = {
        each["name"]: each["program"]
        for each in rows
        if each["program"]
        and not each["version"]
        and not LAUNCHERS.fullmatch(os.path.basename(each["argv"][0]))
        and not registry.is_cold(each["argv"])
    }
    checks = learn(asked, environment, paths.home())
    for name, outcome in address_probe.ask_all(settings, environment).items():
        version = lenient.text(lenient.mapping(outcome.answer, "agentInfo"), "version")
        checks[name] = VersionCheck(version or None, outcome.fault)
    answers = [checks.get(each["name"], VersionCheck(each["version"])) for each in rows]
    return [
        each | {"version": outcome.version, "starts": not outcome.fault, "fault": outcome.fault}
        for each, outcome in zip(rows, answers, strict=True)
    ]


# ---------------------------------------------------------------- look


def write_table(screen: Screen, rows: list[Json]) -> None:
    paint = screen.paint
    name = max(columns(clean_line(each["name"])) for each in rows)
    number = max(len(each["version"] or "") for each in rows)
    for each in rows:
        state = "done" if each["installed"] else "pending"
        state = "failed" if each.get("fault") else state
        cells = [
            paint.mark(state),
            pad(clean_line(each["name"]), name),
            pad(clean_line(each["version"] or ""), number),
            _label(each),
        ]
        screen.line("  ".join(cells).rstrip())
    missing = sum(not each["installed"] for each in rows)
    if missing:
        screen.note(
            f"{missing} not installed. Run the command next to each, or rookery agents install "
            "NAME to install one only for Rookery."
        )


def _label(each: Json) -> str:
    if not each["installed"]:
        program = clean_line(each["argv"][0])
        return each["install"] or f"not installed: {cut(program, 60)} not found"
    if not each["own"] and each["argv"][:1] == [sys.executable]:
        needs = each["needs"]
        return "included with Rookery" + (f"; no model yet: {needs}" if needs else "")
    if each["address"]:
        where, fault = clean_line(each["address"]), cut(clean_line(each.get("fault", "")), 240)
        return f"does not respond: {fault}" if fault else where + _login(each)
    place = paths.with_tilde(clean_line(each["program"])) + _login(each)
    if each.get("fault"):
        place = paths.with_tilde(clean_line(each["program"]))
        return f"{place} does not start: {cut(clean_line(each['fault']), 160)}"
    if each["installedHere"]:
        return f"{place} (installed by Rookery)"
    return place if each["onPath"] else f"{place} (not on PATH)"


def _login(each: Json) -> str:
    known = each["login"]
    text = clean_line(
        login_words(known["state"], known["account"], known["at"], time.time() * 1000)
    )
    helps = f": {LOG_IN} {clean_line(each['name'])}" if known["state"] == OUT else ""
    return f" · {text}{helps}" if text else ""
