"""`setup import`: takes over from OpenHands what Rookery can use; nothing is changed there."""

import os
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import click

from rookery.agent.storage import store
from rookery.cli import exits
from rookery.cli.output import Screen, clean_line
from rookery.cli.setup import conversations
from rookery.client.config import edit, in_force
from rookery.client.config.toml_file import NotEdited
from rookery.core.json import lenient
from rookery.core.json.safe_text import count
from rookery.home import config, mcp
from rookery.models import documents, hook_files, migration, profiles
from rookery.models.documents import Json, SettingsError
from rookery.models.providers import needs_key

PROFILE = "openhands"
"""The name of its model here."""

ENCRYPTED = "gAAAA"
"""How a key begins that is encrypted with a server's password."""

CLI_CONFIG = "cli_config.json"

SUMMARIZING = "LLMSummarizingCondenser"
NO_OP = "NoOpCondenser"
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

STATES = {"done": "imported", "pending": "skipped", "failed": "failed"}
"""The states of `--json`, by the mark in front of the line."""

TAKEN = "the name is taken; pass --replace to replace it"


def import_from(screen: Screen, home: str, source: str | None, *, replace: bool) -> int:
    """Import and return the exit code: 1 if something could not be read."""
    place = source or os.environ.get("OPENHANDS_PERSISTENCE_DIR") or "~/.openhands"
    place = os.path.abspath(os.path.expanduser(place))
    if not os.path.isdir(place):
        raise click.UsageError(f"no OpenHands directory at {place}: pass --from DIR.")
    # Another variable says where its interface keeps its settings.
    other = os.environ.get("PERSISTENCE_DIR") if source is None else None
    folder = os.path.abspath(os.path.expanduser(other)) if other else place
    import_ = _Import(screen, home, place, replace)
    main = import_.read(profiles.FILE)
    import_.models(main)
    import_.condenser(main)
    import_.critic_and_interface(import_.read(CLI_CONFIG, folder))
    with in_force.editing(home, adds=True):
        import_.servers()
        import_.hooks()
    import_.conversations()
    if not import_.taken and not import_.failed:
        screen.note(f"Nothing new in {place}.")
    return exits.FAILED if import_.failed else exits.DONE


class _Import:
    def __init__(self, screen: Screen, home: str, place: str, replace: bool) -> None:
        self.screen = screen
        self.home = home
        self.place = place
        self.replace = replace
        self.failed = False
        self.taken = 0

    def read(self, name: str, folder: str = "") -> Json:
        """Read one of their files; return an empty object if there is none that can be used."""
        document = None
        with self.reporting():
            document = documents.read(os.path.join(folder or self.place, name), private=False)
        return document or {}

    # --- what came of it ---------------------------------------------------------------------

    def _line(self, mark: str, text: str) -> None:
        self.screen.result({"state": STATES[mark], "text": text})
        self.screen.line(f"{self.screen.paint.mark(mark)}  {clean_line(text)}")

    def took(self, what: str) -> None:
        self.taken += 1
        self._line("done", what)

    def left(self, what: str, why: str) -> None:
        self._line("pending", f"skipped: {what}: {why}")

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Report a failure to read something, which is then skipped."""
        try:
            yield
        except SettingsError as error:
            self.failed = True
            self._line("failed", str(error))

    def set(self, label: str, write: Callable[[], object], *, same: bool, stated: bool) -> None:
        """Take over a setting, unless it is the same here; `stated`: the user has set it."""
        if same:
            self.left(label, "already set")
        elif stated and not self.replace:
            self.left(label, "already set to something else; pass --replace to change it")
        else:
            write()
            self.took(label)

    # --- models, servers, hooks --------------------------------------------------------------

    def models(self, main: Json) -> None:
        imported: dict[str, profiles.Profile] = {}
        if migration.is_old(main):
            made = migration.migrated(main)["profiles"].get(migration.PROFILE)
            with self.reporting():
                if made is not None:
                    path = os.path.join(self.place, profiles.FILE)
                    imported[PROFILE] = self._profile(PROFILE, made, path)
        folder = os.path.join(self.place, "profiles")
        for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            name, ending = os.path.splitext(file)
            if ending == ".json" and re.fullmatch(r"[\w.+-]{1,64}", name):
                path = os.path.join(folder, file)
                with self.reporting():
                    llm = documents.read(path, private=False) or {}
                    imported[name] = self._profile(name, migration.model_of(llm), path)
        known = profiles.load(self.home).profiles if imported else {}
        for profile in imported.values():
            label = f"model {profile.name} ({profile.model})"
            if profile.name in known and not self.replace:
                self.left(label, TAKEN)
                continue
            profiles.change(self.home, partial(profiles.Settings.with_profile, profile=profile))
            keyless = not profile.key and needs_key(profile.model, profile.base_url)
            again = f"; it has no key: rookery setup --name {profile.name}"
            self.took(label + (again if keyless else ""))

    def _profile(self, name: str, fields: Json, path: str) -> profiles.Profile:
        key = fields.get("api_key")
        if isinstance(key, str) and key.startswith(ENCRYPTED):
            fields = {**fields, "api_key": None}
        return profiles.profile_of(name, fields, path)

    def servers(self) -> None:
        if not os.path.exists(mcp.path(self.place)):
            return
        with self.reporting():
            servers = mcp.load(self.place)
            known = {server.name for server in mcp.load(self.home)}
            for server in servers:
                label = f"MCP server {server.name}"
                if server.name in known and not self.replace:
                    self.left(label, TAKEN)
                    continue
                try:
                    mcp.add(self.home, server.name, server.entry, replace=True)
                except mcp.McpError as error:
                    self.left(label, str(error))
                else:
                    self.took(label + ("" if server.enabled else " (disabled)"))

    def hooks(self) -> None:
        source, target = (os.path.join(at, hook_files.FILE) for at in (self.place, self.home))
        with self.reporting():
            document = documents.read(source, private=False)
            if document is None:
                return
            checked = hook_files.validated(document, source)
            each = [matcher.get("hooks", []) for kind in checked.values() for matcher in kind]
            label = count(sum(map(len, each)), "hook")
            if os.path.exists(target) and not self.replace:
                self.left(label, f"{target} exists; pass --replace to replace it")
            else:
                documents.write(target, checked)
                self.took(label)

    def conversations(self) -> None:
        folder = os.path.join(self.place, "conversations")
        kept = store.Store(store.directory_of(os.environ))
        if not os.path.isdir(folder) or os.path.realpath(folder) == os.path.realpath(
            kept.directory
        ):
            return
        try:
            copied = conversations.copy_from(folder, kept)
        except OSError as error:
            self.failed = True
            self._line("failed", f"conversations: {error.strerror or error}")
            return
        for reason in copied.broken:
            self.failed = True
            self._line("failed", f"conversation {reason}")
        if copied.here:
            self.left(count(copied.here, "conversation"), "already here")
        if copied.new:
            self.took(f"{count(copied.new, 'conversation')}: {conversations.LISTED}")

    # --- settings ----------------------------------------------------------------------------

    def condenser(self, main: Json) -> None:
        section = lenient.mapping(main, "condenser")
        if not section:
            return
        kind = lenient.text(section, "kind", SUMMARIZING)
        if kind not in (SUMMARIZING, NO_OP):
            self.left("condenser", f"Rookery has no {kind}: rookery setup condenser")
            return
        path = os.path.join(self.place, profiles.FILE)
        try:
            theirs = profiles.condenser_of(migration.condenser_of(section), path)
        except SettingsError as error:
            self.left("condenser", str(error))
            return
        now = profiles.load(self.home).condenser
        made = theirs._replace(profile=now.profile, extras=now.extras)
        self.set(
            f"condenser: {theirs.summary if theirs.enabled else 'off'}",
            lambda: profiles.change(self.home, lambda known: known._replace(condenser=made)),
            same=now == made or not (now.enabled or theirs.enabled),
            stated=now != profiles.Condenser(),
        )
        model, own = (
            lenient.text(lenient.mapping(each, "llm"), "model") for each in (main, section)
        )
        if own and own != model:
            reason = "the conversation's model summarises: rookery setup condenser --profile"
            self.left(f"condenser's own model ({own})", reason)
        for name, usual in USUAL.items():
            if section.get(name, usual) != usual:
                self.left(f"condenser.{name}", "Rookery has no such setting")

    def critic_and_interface(self, document: Json) -> None:
        # In older files the critic's settings are at the top.
        values = {key: value for key, value in document.items() if key != "critic"}
        values |= lenient.mapping(document, "critic")
        if "enable_critic" in values:
            self._enable_critic(values.pop("enable_critic"))
        for name in [name for name in OURS if name in values]:
            self._take(name, values.pop(name))
        if values:
            self.left(f"{CLI_CONFIG}: {', '.join(sorted(values))}", "settings of its own interface")

    def _enable_critic(self, wanted: object) -> None:
        """Take over whether OpenHands' critic of our own agent is on, which is the default."""
        if not isinstance(wanted, bool):
            self.left("enable_critic", "must be true or false")
            return
        now = profiles.load(self.home).critic
        made = now._replace(enabled=wanted)
        self.set(
            f"critic.enabled = {str(wanted).lower()}",
            lambda: profiles.change(self.home, lambda known: known._replace(critic=made)),
            same=wanted == now.enabled,
            stated=not now.enabled,
        )

    def _take(self, name: str, value: Any) -> None:
        key = OURS[name]
        label = f"{key} = {str(value).lower() if isinstance(value, bool) else value}"
        try:
            now, stated = _current(self.home, key)
            same = value == now and type(value) is type(now)
            write = partial(edit.change, self.home, {key: value})
            self.set(label, write, same=same, stated=stated)
        except (config.ConfigError, NotEdited, TypeError) as error:
            self.left(f"{name} = {value}", str(error))


def _current(home: str, key: str) -> tuple[object, bool]:
    """Return the current value, and whether config.toml sets it."""
    table, name = key.split(".")
    holds = getattr(getattr(config.load(home), table), name)
    try:
        with open(os.path.join(home, config.FILE), "rb") as file:
            written: Json = tomllib.load(file)
    except FileNotFoundError:
        written = {}
    return holds, name in lenient.mapping(written, table)
