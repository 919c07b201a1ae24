"""Checks of whether Rookery can run here: its home, settings, sockets and Python."""

import os
import sys
import tempfile
from collections.abc import Iterator

from rookery.agents import registry
from rookery.build import build
from rookery.cli.checkup import logs
from rookery.cli.checkup.card import NOT_OK, NOT_TOLD, OK, Row, Verdict
from rookery.client.config import in_force
from rookery.client.fleet import heads
from rookery.client.leftovers import end_leftovers
from rookery.client.update.difference import of_daemon
from rookery.client.worktrees.upkeep import mend
from rookery.core.json.files import Unusable
from rookery.core.policy.rule_tables import warnings
from rookery.core.settings.held import WAITS
from rookery.core.settings.sandbox import CONTAINER
from rookery.core.vendors.environment import overriding
from rookery.home import config, mcp, paths
from rookery.installation import distribution
from rookery.log.errors import BadPlace
from rookery.log.place import check_home
from rookery.models import documents, hook_files, own_agent, profiles
from rookery.models.choice import default_agent
from rookery.processes import LINUX, landlock
from rookery.sandbox import engine
from rookery.sandbox.plan import SandboxError
from rookery.sandbox.trial import TRIALS

type Findings = Iterator[tuple[Verdict, str]]

LEAST_PYTHON = (3, 12)
FAULTS = (BadPlace, OSError, paths.PathError, Unusable)
"""Errors that say what is wrong."""


def check(home: str, *, all_logs: bool = False) -> list[Row]:
    """Run every check and return a verdict for each. Nothing that is missing is created."""
    try:
        paths.check_format(home)
    except paths.PathError as error:
        return [Row("home", NOT_OK, str(error))]  # all else there may mean something new
    rows = []
    for look in (
        _python,
        _disk,
        _home,
        _settings,
        _servers,
        _hooks,
        _rules,
        _model,
        _agent,
        _sockets,
        _daemon,
    ):
        name = look.__name__.removeprefix("_")
        try:
            rows += [Row(name, verdict, text) for verdict, text in look(home)]
        except FAULTS as error:
            rows.append(Row(name, NOT_OK, str(error)))
    rows += [Row("guard", *_guard(home)), *_sandbox(home)]
    return [*rows, *logs.check(home, everything=all_logs), *_leftovers(home)]


def _python(_home: str) -> Findings:
    number = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] >= LEAST_PYTHON:
        yield OK, number
    else:
        yield NOT_OK, f"{number}; Rookery needs 3.12 or newer"


def _disk(home: str) -> Findings:
    check_home(home)
    paths.check_trust(home)
    yield OK, "not a network file system"


def _home(home: str) -> Findings:
    """Check the home by writing to it: a mode shows neither a read-only mount nor a full disk."""
    place = home
    while not os.path.lexists(place) and os.path.dirname(place) != place:
        place = os.path.dirname(place)
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"\0" * 4096)
            file.flush()
    except OSError as error:
        yield NOT_OK, f"{place} cannot be written to: {error.strerror}"
        return
    if place != home:
        yield OK, f"{home} (not created yet)"
    else:
        others = os.stat(home).st_mode & 0o077
        yield OK, f"{home} (other users can read it)" if others else home


def _daemon(home: str) -> Findings:
    if fault := of_daemon(home):
        yield NOT_OK, fault


def _settings(home: str) -> Findings:
    path = os.path.join(home, config.FILE)
    current = in_force.settings(home)
    if current.held:
        yield NOT_OK, " ".join([WAITS, *current.held.loosens])
    elif current.config.warnings:
        yield NOT_OK, " ".join(current.config.warnings)
    else:
        yield OK, path if os.path.exists(path) else "all defaults (no file)"


def _servers(home: str) -> Findings:
    mcp.load(home)
    yield from ()


def _hooks(home: str) -> Findings:
    documents.read(os.path.join(home, hook_files.FILE), private=False, home=home)
    yield from ()


def _rules(home: str) -> Findings:
    """Report the rules that allow more than they seem to."""
    try:
        known = config.load(home).rules
    except config.ConfigError:
        return  # reported as a setting
    for rule in known:
        for each in warnings(rule):
            yield NOT_TOLD, f"rule {rule.name}: {each}"


def _model(home: str) -> Findings:
    stored, override = profiles.load(home), overriding(os.environ)
    model = profiles.effective(stored, os.environ, override)
    if not isinstance(model, profiles.Missing):
        yield OK, f"{model.model} ({model.name})"
    elif stored.profiles or override:
        yield NOT_OK, model.sentence
    else:
        yield NOT_TOLD, "no model for Rookery's own agent: rookery setup"


def _agent(_home: str) -> Findings:
    """Check that Rookery's own agent imports, and what else is installed under its names."""
    if any(each.foreign for each in distribution.here()):
        other = f"another project called {distribution.OLD_NAME} is installed in this environment"
        yield (
            NOT_OK,
            f"{other} and owns files of the same names: install Rookery into one of its own",
        )
    if distribution.former(distribution.running()):
        twice = f"Rookery is installed twice, also under its earlier name {distribution.OLD_NAME}"
        yield NOT_OK, f"{twice}, with the same command. To fix it: rookery update"
    if own_agent.is_missing():
        yield NOT_TOLD, registry.missing_extra("Rookery's own agent", registry.OWN_EXTRA)
    elif fault := own_agent.fault():
        yield NOT_OK, fault
    else:
        yield OK, "Rookery's own starts"


def _sockets(home: str) -> Findings:
    socket = paths.socket_path(os.path.join(paths.sessions(home), "x" * paths.ID_LENGTH))
    yield OK, f"in {os.path.dirname(socket)}"


def _guard(home: str) -> tuple[Verdict, str]:
    """Report what keeps agents from answering for the user (docs/security.md)."""
    if not landlock.available():
        why = "this kernel has no Landlock scopes (Linux 6.12)" if LINUX else "not on this system"
        orphans = "" if LINUX else "; orphans are recognized only by their mark"
        return NOT_TOLD, f"agents are recognized only by their parent process: {why}{orphans}"
    try:
        free = sorted(in_force.load(home).unconfined)
    except config.ConfigError:
        free = []
    but = f", but not {', '.join(free)} (config.toml)" if free else ""
    root = "" if os.geteuid() == 0 else "; their commands get no sudo"
    return OK, f"agents are confined by Landlock (ABI {landlock.abi()}){but}{root}"


def _sandbox(home: str) -> list[Row]:
    """Report the usable sandboxes. A missing one is wrong only if the settings want it."""
    settings = config.load_or_defaults(home, in_force.load)
    kinds = {settings.sandbox.kind, *(each.sandbox for each in settings.extras.values())}
    usable, missing = [], []
    for kind, trial in TRIALS.items():
        try:
            usable.append(Row("sandbox", OK, f"{kind}: {trial(settings.sandbox)}"))
        except SandboxError as error:
            verdict: Verdict = NOT_OK if kind in kinds else NOT_TOLD
            missing.append(Row("sandbox", verdict, str(error)))
    wrong = [row for row in missing if row.verdict == NOT_OK]
    wrong += [] if wrong else _images(home, settings)
    return [*usable, *wrong] or (missing[:1] if LINUX else missing[1:])


def _images(home: str, settings: config.Config) -> list[Row]:
    """Report what the images lack for agents that run in containers."""
    names = {name for name, each in settings.extras.items() if each.sandbox == CONTAINER}
    names |= {name for name, argv in settings.agents.items() if registry.image_of(argv) is not None}
    if settings.sandbox.kind == CONTAINER:
        names.add(default_agent(home, settings.default_agent, os.environ))
    rows = []
    for name in sorted(names & {*registry.names(settings.agents)}):
        argv = registry.resolve(name, settings.agents).argv
        try:
            image = engine.check(settings.sandbox, argv, deep=True)
        except SandboxError as error:
            rows.append(Row("sandbox", NOT_OK, f"{name}: {error}"))
        else:
            if image.build not in ("", build()) and registry.is_own(argv):
                notice = engine.older(image.name, image.build)
                rows.append(Row("sandbox", NOT_TOLD, f"{name}: {notice}"))
    return rows


def _leftovers(home: str) -> list[Row]:
    """End processes that killed workers left running, and report them."""
    try:
        leftovers = end_leftovers(home, heads(home, hidden=False))
    except OSError:
        return []  # it is no home: said above
    rows = [Row("processes", NOT_TOLD if each.refused else OK, str(each)) for each in leftovers]
    return [*rows, *_worktrees(home)]


def _worktrees(home: str) -> list[Row]:
    """Remove what killed processes left of worktrees, unless there is work in it."""
    return [Row("worktrees", NOT_TOLD, text) for text in mend(home)]
