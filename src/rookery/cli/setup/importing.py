"""`setup import`: what an OpenHands set-up has that Rookery can use; there nothing is changed."""

import os
import re
from functools import partial

import click

from rookery.agent.session import hooks
from rookery.cli import exits
from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import Screen
from rookery.cli.setup import import_numbers
from rookery.client.config import in_force
from rookery.core.json.safe_text import count
from rookery.home import mcp
from rookery.models import documents, migration, profiles
from rookery.models.documents import Json, SettingsError
from rookery.models.providers import needs_key

PROFILE = "openhands"
"""The name that its one model gets."""

ENCRYPTED = "gAAAA"
"""How a key begins that was saved under a password of a server's."""

LEFT = {"conversations": "its conversations stay where they are"}


def import_from(screen: Screen, home: str, source: str | None, *, replace: bool) -> int:
    """The exit code: 1 where something could not be read."""
    place = source or os.environ.get("OPENHANDS_PERSISTENCE_DIR") or "~/.openhands"
    place = os.path.abspath(os.path.expanduser(place))
    if not os.path.isdir(place):
        raise click.UsageError(f"there is no OpenHands set-up at {place}; say --from DIR.")
    import_ = _Import(screen, home, place, replace)
    import_.models()
    import_numbers.condenser(import_)
    import_numbers.critic_and_interface(import_, _cli_folder(source, place))
    with in_force.editing(home, adds=True):
        import_.servers()
        import_.hooks()
    import_.rest()
    return exits.FAILED if import_.failed else exits.DONE


def _cli_folder(source: str | None, place: str) -> str:
    """Where its interface keeps its own settings: under another variable than the rest."""
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
        self.screen.line(f"{mark}  not taken: {clean_line(what)}: {clean_line(why)}")

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
                self.left(label, "there is one of that name; --replace takes it")
                continue
            profiles.change(self.home, partial(profiles.Settings.with_profile, profile=profile))
            keyless = not profile.key and needs_key(profile.model, profile.base_url)
            again = f"; its key is not there: rookery setup --name {profile.name}"
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
                self.left(label, "there is one of that name; --replace takes it")
                continue
            try:
                mcp.add(self.home, server.name, server.entry, replace=True)
            except mcp.McpError as error:
                self.left(label, str(error))
                continue
            self.took(label + ("" if server.enabled else " (switched off)"))

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
            self.left(label, f"there is {target}; --replace takes them instead")
            return
        documents.write(target, checked)
        self.took(label)

    def rest(self) -> None:
        """What lies there besides, so that nobody has to guess."""
        ours = {profiles.FILE, mcp.FILE, hooks.FILE, "profiles"}
        for name in sorted(os.listdir(self.place)):
            if name not in ours and name in LEFT:
                self.left(name, LEFT[name])
        if not self.taken and not self.failed:
            self.screen.note(f"Nothing new was found in {self.place}.")
