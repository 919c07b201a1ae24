"""`setup import`: takes over from OpenHands what Rookery can use; nothing is changed there."""

import os
import re
from functools import partial
from typing import Any

import click

from rookery.agent.session import hooks
from rookery.cli import exits
from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import Screen
from rookery.client.config import edit, in_force
from rookery.client.config.rules import NotEdited
from rookery.core.json import lenient
from rookery.core.json.safe_text import count
from rookery.home import config, mcp
from rookery.models import documents, migration, profiles
from rookery.models.documents import Json, SettingsError
from rookery.models.providers import needs_key

PROFILE = "openhands"
"""The name of its model here."""

ENCRYPTED = "gAAAA"
"""How a key begins that is encrypted with a server's password."""

LEFT = {"conversations": "conversations are not imported"}

CLI_CONFIG = "cli_config.json"

SUMMARIZING = "LLMSummarizingCondenser"
NO_OP = "NoOpCondenser"
NUMBERS = ("max_size", "keep_first")
USUAL = {"max_tokens": None, "minimum_progress": 0.1}
"""Fields of a condenser there that Rookery lacks, with the value that changes nothing."""

OURS = {
    "enable_iterative_refinement": "critic.refine",
    "critic_threshold": "critic.score_below",
    "issue_threshold": "critic.issue_at",
    "max_refinement_iterations": "critic.iterations",
    "default_cells_expanded": "interface.cards_expanded",
    "auto_open_plan_panel": "interface.plan_opens",
}
"""Their names, and ours in config.toml."""

SAME = "already set"
THERE = "already set to something else; pass --replace to change it"
TAKEN = "the name is taken; pass --replace to replace it"


def import_from(screen: Screen, home: str, source: str | None, *, replace: bool) -> int:
    """The exit code: 1 if something could not be read."""
    place = source or os.environ.get("OPENHANDS_PERSISTENCE_DIR") or "~/.openhands"
    place = os.path.abspath(os.path.expanduser(place))
    if not os.path.isdir(place):
        raise click.UsageError(f"no OpenHands directory at {place}: pass --from DIR.")
    import_ = _Import(screen, home, place, replace)
    import_.models()
    _condenser(import_)
    _critic_and_interface(import_, _cli_folder(source, place))
    with in_force.editing(home, adds=True):
        import_.servers()
        import_.hooks()
    import_.rest()
    return exits.FAILED if import_.failed else exits.DONE


def _cli_folder(source: str | None, place: str) -> str:
    """Where its interface keeps its settings: another variable says so."""
    other = os.environ.get("PERSISTENCE_DIR") if source is None else None
    return os.path.abspath(os.path.expanduser(other)) if other else place


class _Import:
    def __init__(self, screen: Screen, home: str, place: str, replace: bool) -> None:
        self.screen = screen
        self.home = home
        self.place = place
        self.replace = replace
        self.failed = False
        self.taken = 0

    def took(self, what: str) -> None:
        self.taken += 1
        self.screen.line(f"{self.screen.paint.mark('done')}  {clean_line(what)}")

    def left(self, what: str, why: str) -> None:
        mark = self.screen.paint.mark("pending")
        self.screen.line(f"{mark}  skipped: {clean_line(what)}: {clean_line(why)}")

    def broken(self, error: Exception) -> None:
        self.failed = True
        self.screen.line(f"{self.screen.paint.mark('failed')}  {clean_line(str(error))}")

    # --- models ----------------------------------------------------------------------------------

    def models(self) -> None:
        found = self._models_found()
        if not found:
            return
        for profile in found.values():
            known = profiles.load(self.home).profiles
            label = f"model {profile.name} ({profile.model})"
            if profile.name in known and not self.replace:
                self.left(label, TAKEN)
                continue
            profiles.change(self.home, partial(profiles.Settings.with_profile, profile=profile))
            keyless = not profile.key and needs_key(profile.model, profile.base_url)
            again = f"; it has no key: rookery setup --name {profile.name}"
            self.took(label + (again if keyless else ""))

    def _models_found(self) -> dict[str, profiles.Profile]:
        found: dict[str, profiles.Profile] = {}
        main = os.path.join(self.place, profiles.FILE)
        try:
            document = documents.read(main, private=False)
            if document is not None and migration.is_old(document):
                made = migration.migrated(document)["profiles"].get(migration.PROFILE)
                if made is not None:
                    found[PROFILE] = self._profile(PROFILE, made, main)
        except SettingsError as error:
            self.broken(error)
        folder = os.path.join(self.place, "profiles")
        for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            name, ending = os.path.splitext(file)
            if ending != ".json" or not re.fullmatch(r"[\w.+-]{1,64}", name):
                continue
            path = os.path.join(folder, file)
            try:
                llm = documents.read(path, private=False) or {}
                found[name] = self._profile(name, migration.model_of(llm), path)
            except SettingsError as error:
                self.broken(error)
        return found

    def _profile(self, name: str, fields: Json, path: str) -> profiles.Profile:
        key = fields.get("api_key")
        if isinstance(key, str) and key.startswith(ENCRYPTED):
            fields = {**fields, "api_key": None}
        return profiles.profile_of(name, fields, path)

    # --- the rest --------------------------------------------------------------------------------

    def servers(self) -> None:
        if not os.path.exists(mcp.path(self.place)):
            return
        try:
            servers = mcp.load(self.place)
            known = {server.name for server in mcp.load(self.home)}
        except mcp.McpError as error:
            self.broken(error)
            return
        for server in servers:
            label = f"MCP server {server.name}"
            if server.name in known and not self.replace:
                self.left(label, TAKEN)
                continue
            try:
                mcp.add(self.home, server.name, server.entry, replace=True)
            except mcp.McpError as error:
                self.left(label, str(error))
                continue
            self.took(label + ("" if server.enabled else " (disabled)"))

    def hooks(self) -> None:
        source = os.path.join(self.place, hooks.FILE)
        target = os.path.join(self.home, hooks.FILE)
        try:
            found = documents.read(source, private=False)
            if found is None:
                return
            checked = hooks.validated(found, source)
        except SettingsError as error:
            self.broken(error)
            return
        number = sum(len(matcher.get("hooks", [])) for each in checked.values() for matcher in each)
        label = count(number, "hook")
        if os.path.exists(target) and not self.replace:
            self.left(label, f"{target} exists; pass --replace to replace it")
            return
        documents.write(target, checked)
        self.took(label)

    def rest(self) -> None:
        ours = {profiles.FILE, mcp.FILE, hooks.FILE, "profiles"}
        for name in sorted(os.listdir(self.place)):
            if name not in ours and name in LEFT:
                self.left(name, LEFT[name])
        if not self.taken and not self.failed:
            self.screen.note(f"Nothing new in {self.place}.")


# ---------------------------------------------------------------- numbers


def _condenser(to: _Import) -> None:
    path = os.path.join(to.place, profiles.FILE)
    try:
        document = documents.read(path, private=False)
    except SettingsError:
        return  # reported with the models
    found = lenient.mapping(document, "condenser")
    if not found:
        return
    kind = lenient.text(found, "kind", SUMMARIZING)
    if kind not in (SUMMARIZING, NO_OP):
        to.left("condenser", f"Rookery has no {kind}: rookery setup condenser")
        return
    try:
        theirs = profiles.condenser_of(migration.condenser_of(found), path)
    except SettingsError as error:
        to.left("condenser", str(error))
        return
    _take_condenser(to, theirs)
    model, own = (lenient.text(lenient.mapping(each, "llm"), "model") for each in (document, found))
    if own and own != model:
        words = "the conversation's model summarizes: rookery setup condenser --profile"
        to.left(f"condenser's own model ({own})", words)
    for name, usual in USUAL.items():
        if found.get(name, usual) != usual:
            to.left(f"condenser.{name}", "Rookery has no such setting")


def _take_condenser(to: _Import, theirs: profiles.Condenser) -> None:
    words = "condenser: off" if not theirs.enabled else ""
    words = words or f"condenser: over {theirs.max_size} events, keeping {theirs.keep_first}"
    now = profiles.load(to.home).condenser
    if _same(now, theirs):
        to.left(words, SAME)
    elif now != profiles.Condenser() and not to.replace:
        to.left(words, THERE)
    else:
        made = theirs._replace(profile=now.profile, extras=now.extras)
        profiles.change(to.home, lambda settings: settings._replace(condenser=made))
        to.took(words)


def _same(one: profiles.Condenser, other: profiles.Condenser) -> bool:
    numbers = [getattr(one, name) == getattr(other, name) for name in NUMBERS]
    return one.enabled == other.enabled and (all(numbers) or not one.enabled)


def _critic_and_interface(to: _Import, folder: str) -> None:
    path = os.path.join(folder, CLI_CONFIG)
    try:
        document = documents.read(path, private=False)
    except SettingsError as error:
        to.broken(error)
        return
    if document is None:
        return
    # In older files the critic's settings are at the top.
    found = {key: value for key, value in document.items() if key != "critic"}
    found |= lenient.mapping(document, "critic")
    if "enable_critic" in found:
        _enable(to, found.pop("enable_critic"))
    for name in [name for name in OURS if name in found]:
        _take(to, name, found.pop(name))
    if found:
        to.left(f"{CLI_CONFIG}: {', '.join(sorted(found))}", "settings of its own interface")


def _enable(to: _Import, wanted: object) -> None:
    """OpenHands' critic of our own agent, which is on by default."""
    words = f"critic.enabled = {str(wanted).lower()}"
    now = profiles.load(to.home).critic
    if not isinstance(wanted, bool):
        to.left("enable_critic", "must be true or false")
    elif wanted == now.enabled:
        to.left(words, SAME)
    elif not now.enabled and not to.replace:
        to.left(words, THERE)
    else:
        made = now._replace(enabled=wanted)
        profiles.change(to.home, lambda settings: settings._replace(critic=made))
        to.took(words)


def _take(to: _Import, name: str, value: Any) -> None:
    key = OURS[name]
    words = f"{key} = {str(value).lower() if isinstance(value, bool) else value}"
    try:
        now, stated = _current(to.home, key)
        if value == now and type(value) is type(now):
            to.left(words, SAME)
        elif stated and not to.replace:
            to.left(words, THERE)
        else:
            edit.change(to.home, {key: value})
            to.took(words)
    except (config.ConfigError, NotEdited, TypeError) as error:
        to.left(f"{name} = {value}", str(error))


def _current(home: str, key: str) -> tuple[object, bool]:
    """The value now, and whether config.toml sets it."""
    import tomllib

    table, name = key.split(".")
    holds = getattr(getattr(config.load(home), table), name)
    try:
        with open(os.path.join(home, config.FILE), "rb") as file:
            written: Json = tomllib.load(file)
    except FileNotFoundError:
        written = {}
    return holds, name in lenient.mapping(written, table)
