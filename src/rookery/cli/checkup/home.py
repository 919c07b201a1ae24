"""Whether Rookery can live here: its home, its settings, its sockets, its Python."""

import os
import sys
import tempfile

from rookery.cli.checkup.card import NOT_OK, NOT_TOLD, OK, Row
from rookery.client.config import in_force
from rookery.client.damaged_logs import damage_of, way_out
from rookery.core.json.safe_text import count
from rookery.core.settings.held import WAITS
from rookery.core.vendors.environment import overriding
from rookery.home import config, mcp, paths
from rookery.log.errors import BadPlace
from rookery.log.place import check_home
from rookery.processes import landlock
from rookery.processes.lineage import LINUX

LEAST_PYTHON = (3, 12)


READ_WHOLE = 256 * 2**20
"""Bytes of logs that are read whole unless all are wanted: about a second."""


def check(home: str, *, all_logs: bool = False) -> list[Row]:
    """Each thing looked at, with its verdict. What is missing is not made."""
    rows = [_python(), _place(home), _writable(home), _settings(home), *_files(home)]
    rows += [*_rules(home), _model(home), _sockets(home), _guard(home)]
    most = None if all_logs else READ_WHOLE
    return [*rows, *_sessions(home, most), *_leftovers(home)]


def _sessions(home: str, most: int | None) -> list[Row]:
    """Logs are read whole, those that changed last first, up to `most` bytes; of the others it is
    seen that they open and have their end."""
    try:
        names = sorted(filter(paths.is_id, os.listdir(paths.sessions(home))))
    except OSError:
        return []
    whole = _read_whole(home, names, most)
    found = {name: damage_of(paths.session_dir(home, name), whole=name in whole) for name in names}
    bad = {name: why for name, why in found.items() if why}
    rows = [
        Row("sessions", NOT_OK, f"{name}: its log is damaged: {why} {way_out(home, name)}")
        for name, why in bad.items()
    ]
    told = f"{count(len(names), 'log')}, none damaged"
    if left := len(names) - len(whole):
        told = f"{count(len(names), 'log')}, no damage found; of {left} only the end was read"
        told += " (rookery doctor --all-logs reads them in full)"
    return rows or ([Row("sessions", OK, told)] if names else [])


def _read_whole(home: str, names: list[str], most: int | None) -> set[str]:
    if most is None:
        return set(names)
    known = []
    for name in names:
        try:
            about = os.stat(os.path.join(paths.session_dir(home, name), paths.LOG))
        except OSError:  # what is not there costs nothing to read
            known.append((0.0, 0, name))
            continue
        known.append((-about.st_mtime, about.st_size, name))
    found: set[str] = set()
    for _, size, name in sorted(known):
        if size <= most:
            most -= size
            found.add(name)
    return found


def _files(home: str) -> list[Row]:
    """The other files that decide what runs, where they cannot be used."""
    from rookery.agent.session import hooks
    from rookery.models import documents

    rows = []
    try:
        mcp.load(home)
    except mcp.McpError as error:
        rows.append(Row("servers", NOT_OK, str(error)))
    try:
        documents.read(os.path.join(home, hooks.FILE), private=False, home=home)
    except documents.SettingsError as error:
        rows.append(Row("hooks", NOT_OK, str(error)))
    return rows


def _python() -> Row:
    number = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] >= LEAST_PYTHON:
        return Row("python", OK, number)
    return Row("python", NOT_OK, f"{number}; Rookery needs 3.12 or newer")


def _place(home: str) -> Row:
    try:
        check_home(home)
        paths.check_trust(home)
    except (BadPlace, paths.PathError) as error:
        return Row("disk", NOT_OK, str(error))
    return Row("disk", OK, "not a network file system")


def _writable(home: str) -> Row:
    """By writing: a read-only mount or a full disk shows in no mode."""
    place = home
    while not os.path.lexists(place) and os.path.dirname(place) != place:
        place = os.path.dirname(place)
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"\0" * 4096)
            file.flush()
    except OSError as error:
        return Row("home", NOT_OK, f"{place} cannot be written to: {error.strerror}")
    if place != home:
        return Row("home", OK, f"{home} (not created yet)")
    others = os.stat(home).st_mode & 0o077
    return Row("home", OK, f"{home} (other users can read it)" if others else home)


def _settings(home: str) -> Row:
    path = os.path.join(home, config.FILE)
    try:
        found = in_force.settings(home)
    except config.ConfigError as error:
        return Row("settings", NOT_OK, str(error))
    if found.held:
        return Row("settings", NOT_OK, " ".join([WAITS, *found.held.loosens]))
    if found.config.warnings:
        return Row("settings", NOT_OK, " ".join(found.config.warnings))
    return Row("settings", OK, path if os.path.exists(path) else "all defaults (no file)")


def _rules(home: str) -> list[Row]:
    """Those that allow more than they seem to."""
    from rookery.core.policy.rule_warnings import warnings

    try:
        known = config.load(home).rules
    except config.ConfigError:
        return []  # said of the settings
    return [
        Row("rules", NOT_TOLD, f"rule {rule.name}: {each}")
        for rule in known
        for each in warnings(rule)
    ]


def _model(home: str) -> Row:
    from rookery.models import documents, profiles

    try:
        found = profiles.load(home)
    except documents.SettingsError as error:
        return Row("model", NOT_OK, str(error))
    override = overriding(os.environ)
    model = profiles.effective(found, os.environ, override)
    if not isinstance(model, profiles.Missing):
        return Row("model", OK, f"{model.model} ({model.profile})")
    if found.profiles or override:
        return Row("model", NOT_OK, model.sentence)
    return Row("model", NOT_TOLD, "no model for Rookery's own agent: rookery setup")


def _guard(home: str) -> Row:
    """What keeps agents from answering for the user (docs/security.md)."""
    if not landlock.available():
        why = "this kernel has no Landlock scopes (Linux 6.12)" if LINUX else "not on this system"
        orphans = "" if LINUX else "; orphans are recognized only by their mark"
        return Row(
            "guard",
            NOT_TOLD,
            (f"agents are recognized only by their parent process: {why}{orphans}"),
        )
    try:
        free = sorted(in_force.load(home).unconfined)
    except config.ConfigError:
        free = []
    but = f", but not {', '.join(free)} (config.toml)" if free else ""
    root = "" if os.geteuid() == 0 else "; their commands get no sudo"
    return Row("guard", OK, f"agents are confined by Landlock (ABI {landlock.abi()}){but}{root}")


def _leftovers(home: str) -> list[Row]:
    """What killed workers had left running: it is ended here."""
    from rookery.client.fleet import heads
    from rookery.client.leftovers import end_leftovers

    try:
        found = end_leftovers(home, heads(home))
    except OSError:
        return []  # it is no home: said above
    return [Row("processes", NOT_TOLD if each.refused else OK, str(each)) for each in found]


def _sockets(home: str) -> Row:
    try:
        socket = paths.socket_path(os.path.join(paths.sessions(home), "x" * paths.ID_LENGTH))
    except (paths.PathError, OSError) as error:
        return Row("sockets", NOT_OK, str(error))
    return Row("sockets", OK, f"in {os.path.dirname(socket)}")
