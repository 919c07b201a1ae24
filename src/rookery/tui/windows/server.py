"""The MCP servers that agents are given: a list, and a form for each kind of server."""

import shlex
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.widgets import Select

from rookery.client import guard
from rookery.client.config import in_force
from rookery.core.asks import forms
from rookery.core.json import lenient
from rookery.core.json.events import Json
from rookery.home import mcp
from rookery.tui.keys import bindings
from rookery.tui.shell import Shell
from rookery.tui.system import own_commands
from rookery.tui.windows.parts.form import FormScreen
from rookery.tui.windows.parts.modals import SureScreen
from rookery.tui.windows.parts.rows import Row, RowsScreen

HIDDEN = "•••"
"""Stands for a value that is kept as it is: no secret is shown."""

KINDS = (("stdio", "a program on this machine"), ("http", "over HTTP"), ("sse", "over SSE"))

SCHEMA: Json = {
    "properties": {
        "name": {"type": "string", "title": "Name", "description": "what agents call it"},
        "kind": {
            "type": "string",
            "title": "Kind",
            "oneOf": [{"const": kind, "title": title} for kind, title in KINDS],
        },
        "command": {
            "type": "string",
            "title": "Command",
            "description": "with its words, as in a shell: npx -y some-server ~/notes",
        },
        "url": {"type": "string", "title": "Address", "description": "https://host/mcp"},
        "pairs": {
            "type": "string",
            "title": "Variables or headers",
            "description": "NAME=VALUE, several with spaces between, quoted where a value has "
            "spaces; ${NAME} is taken from the environment",
        },
        "cwd": {"type": "string", "title": "Directory", "description": "where the program runs"},
    },
    "required": ["name", "kind"],
}


class BadPairs(ValueError):
    """They cannot be read."""


def values(server: mcp.Server) -> Json:
    """As the form shows them; what may be a secret is hidden."""
    entry = lenient.mapping({"_": server.entry}, "_")  # a broken one may be anything
    command = [lenient.text(entry, "command"), *lenient.texts(entry, "args")]
    pairs = lenient.mapping(entry, "env") or lenient.mapping(entry, "headers")
    return {
        "name": server.name,
        "kind": server.kind or "stdio",
        "command": " ".join(_word(word) for word in command if word),
        "url": mcp.address(entry),
        "pairs": " ".join(_word(f"{key}={_veiled(pairs[key])}") for key in pairs),
        "cwd": lenient.text(entry, "cwd"),
    }


def _word(word: str) -> str:
    """As in a shell, and quoted only where it has to be."""
    return shlex.quote(word) if set(word) & set(" \t\n'\"\\") or not word else word


def _veiled(value: object) -> str:
    """A variable's name is no secret."""
    return str(value) if mcp.VARIABLE.fullmatch(str(value)) else HIDDEN


def entry_of(answers: Json, before: Json) -> Json:
    """What stands in the file then; what is not in the form stays. Raises BadPairs."""
    mine = ("command", "args", "env", "cwd", "type", "transport", "url", "httpUrl", "headers")
    kept = {key: value for key, value in before.items() if key not in mine}
    known = {**lenient.mapping(before, "env"), **lenient.mapping(before, "headers")}
    pairs = _pairs(answers.get("pairs", ""), known)
    if answers["kind"] == "stdio":
        first, *rest = shlex.split(answers.get("command", "")) or [""]
        entry: Json = {"command": first, "args": rest}
        entry |= {"env": pairs} if pairs else {}
        return entry | ({"cwd": answers["cwd"]} if answers.get("cwd") else {}) | kept
    entry = {"type": answers["kind"], "url": answers.get("url", "")}
    return entry | ({"headers": pairs} if pairs else {}) | kept


def _pairs(text: str, known: Json) -> Json:
    found: Json = {}
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadPairs(f"have a quote too few: {error}") from None
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or not key:
            raise BadPairs(f"must be NAME=VALUE, not {word!r}")
        if value == HIDDEN and key not in known:
            raise BadPairs(f"say no value for {key}")
        found[key] = known[key] if value == HIDDEN else value
    return found


class ServerForm(FormScreen):
    """Ends with {"name": …} when the server was saved."""

    BINDINGS: ClassVar[list[BindingType]] = bindings.SAVED

    def __init__(self, server: mcp.Server | None = None) -> None:
        shown = values(server) if server else {"kind": "stdio"}
        title = f"MCP server: {server.name}" if server else "A new MCP server"
        super().__init__(title, SCHEMA, shown)
        self._server = server

    def on_select_changed(self, event: Select.Changed) -> None:
        """Only the fields of its kind."""
        program = event.value == "stdio"
        for name, of_program in (("command", True), ("cwd", True), ("url", False)):
            parent = self.control(name).parent
            assert parent is not None
            parent.display = program is of_program

    def check(self, answers: Json) -> dict[str, str]:
        wrong = super().check(answers)
        if wrong:
            return wrong
        field = "command" if answers["kind"] == "stdio" else "url"
        if not answers.get(field):
            return {field: forms.NEEDED}
        try:
            shlex.split(answers.get("command", ""))
        except ValueError:
            return {"command": "has a quote too few"}
        try:
            self._entry(answers)
        except BadPairs as error:
            return {"pairs": str(error)}
        return {}

    def _entry(self, answers: Json) -> Json:
        before = {"_": self._server.entry} if self._server else {}
        return entry_of(answers, lenient.mapping(before, "_"))

    def deliver(self, answers: Json) -> None:
        shell = self.app
        assert isinstance(shell, Shell)
        home, old = shell.start.home, self._server.name if self._server else ""
        entry = self._entry(answers)
        shell.room.fetch(
            lambda: _saved(home, answers["name"], entry, old),
            lambda why: self._ended(why, answers["name"]),
        )

    def _ended(self, why: str, name: str) -> None:
        if not self.is_attached:
            return
        if not why:
            self.dismiss({"name": name})
        else:
            self.tell(f"✗ {why}")


def _saved(home: str, name: str, entry: Json, old: str) -> str:
    """Why it was not saved; empty: it was."""
    try:
        with in_force.editing(home, adds=True):
            mcp.add(home, name, entry, replace=name == old)
            if old and old != name:
                mcp.remove(home, old)
    except (guard.FromAgent, in_force.Waiting) as error:
        return str(error)
    except mcp.McpError as error:
        return str(error).replace("; pass --force to replace it", "")
    except OSError as error:
        return f"mcp.json could not be written: {error.strerror}."
    return ""


class ServersScreen(RowsScreen[None]):
    """Every server of mcp.json."""

    HEADING = "MCP servers, for every agent"
    EMPTY = "No MCP server yet. {key} adds one."
    NEW = "servers.new"
    BINDINGS: ClassVar[list[BindingType]] = bindings.SERVERS

    def load(self) -> list[mcp.Server] | str:
        try:
            return mcp.load(self.shell.start.home)
        except mcp.McpError as error:
            return str(error)

    def shown(self, found: list[mcp.Server] | str) -> list[Row]:
        if isinstance(found, str):
            self._servers: dict[str, mcp.Server] = {}
            self.tell(f"✗ {found}")
            return []
        self._servers = {server.name: server for server in found}
        return [_row(server) for server in found]

    def choose(self, row: Row) -> None:
        self.app.push_screen(ServerForm(self._servers[row.name]), self._saved)

    def action_new(self) -> None:
        self.app.push_screen(ServerForm(), self._saved)

    def _saved(self, answer: Json | None) -> None:
        if answer is not None:
            self.reload()
            self._test(answer["name"])

    def action_turn(self) -> None:
        if (row := self.current) is None:
            return
        home, on = self.shell.start.home, not self._servers[row.name].enabled
        words = f"{row.name} is {'on' if on else 'off'} for agents that start from now on."
        self._do(lambda: mcp.set_enabled(home, row.name, enabled=on), words, adds=on)

    def action_remove(self) -> None:
        if (row := self.current) is None:
            return
        home = self.shell.start.home

        def sure(yes: bool | None) -> None:
            if yes:
                self._do(lambda: mcp.remove(home, row.name), f"Removed {row.name}.")

        words = "Agents that run have it until they end."
        self.app.push_screen(SureScreen(f"Remove the MCP server {row.name}?", words), sure)

    def _do(self, work: Any, words: str, *, adds: bool = False) -> None:
        home = self.shell.start.home

        def done() -> str:
            try:
                with in_force.editing(home, adds=adds):
                    work()
            except (mcp.McpError, guard.FromAgent, in_force.Waiting) as error:
                return f"✗ {error}"
            except OSError as error:
                return f"✗ mcp.json could not be written: {error.strerror}."
            return words

        def ended(said: str) -> None:
            if self.is_attached:
                self.reload()
                self.tell(said)
            self.shell.look_around()

        self.shell.room.fetch(done, ended)

    def action_test(self) -> None:
        if self.current:
            self._test(self.current.name)

    def _test(self, name: str) -> None:
        self.tell(f"Visiting {name} …")
        home = self.shell.start.home
        work = lambda: own_commands.run(home, "mcp", "test", name, "--json")  # noqa: E731
        self.shell.room.fetch(work, lambda outcome: self._tested(name, outcome))
        self.shell.look_around()

    def _tested(self, name: str, outcome: own_commands.Outcome) -> None:
        if not self.is_attached:
            return
        if not outcome.ok:
            self.tell(f"✗ {name}: {outcome.words}")
            return
        tools = lenient.texts(outcome.rows[0], "tools")
        few = ", ".join(tools[:8]) + (" …" if len(tools) > 8 else "")
        self.tell(f"{name} answers. Its {len(tools)} tools: {few}" if tools else f"{name} answers.")


def _row(server: mcp.Server) -> Row:
    shown = values(server)
    what = server.fault or shown["command" if server.kind == "stdio" else "url"]
    sign = "bad" if server.fault else ("on" if server.enabled else "off")
    return Row(server.name, server.name, what, sign, "" if server.enabled else "off")
