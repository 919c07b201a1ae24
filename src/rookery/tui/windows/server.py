"""The MCP servers for all agents: a list, and a form."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import partial

from textual.widgets import Select

from rookery.client.config import in_force
from rookery.core.asks import forms
from rookery.core.json import Json, lenient
from rookery.home import mcp
from rookery.tui.keys import bindings
from rookery.tui.windows.parts.fields import described
from rookery.tui.windows.parts.form import FormScreen
from rookery.tui.windows.parts.rows import Row, RowsScreen

HIDDEN = "•••"
"""Stands for a saved value: no secret is shown."""

WITHIN = 150.0
"""Seconds for a test."""

KINDS = (("stdio", "a program on this machine"), ("http", "over HTTP"), ("sse", "over SSE"))

SCHEMA: Json = {
    "properties": {
        "name": described("Name", "what agents call it"),
        "kind": described("Kind", oneOf=[{"const": kind, "title": each} for kind, each in KINDS]),
        "command": described("Command", "as in a shell: npx -y some-server ~/notes"),
        "url": described("Address", "https://host/mcp"),
        "pairs": described(
            "Variables or headers",
            "NAME=VALUE, separated by spaces; quote values with spaces; ${NAME} is taken from the "
            "environment",
        ),
        "cwd": described("Directory", "where it runs"),
    },
    "required": ["name", "kind"],
}


class BadPairs(ValueError):
    """Variables or headers that cannot be parsed."""


def values(server: mcp.Server) -> Json:
    """For the form; possible secrets are hidden."""
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
    """Quoted only if needed."""
    return shlex.quote(word) if set(word) & set(" \t\n'\"\\") or not word else word


def _veiled(value: object) -> str:
    """A reference to a variable is no secret."""
    return str(value) if mcp.VARIABLE.fullmatch(str(value)) else HIDDEN


def entry_of(answers: Json, before: Json) -> Json:
    """The new entry; what the form does not show stays. Raises BadPairs."""
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
        raise BadPairs(f"have an unclosed quote: {error}") from None
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or not key:
            raise BadPairs(f"must be NAME=VALUE, not {word!r}")
        if value == HIDDEN and key not in known:
            raise BadPairs(f"have no value for {key}")
        found[key] = known[key] if value == HIDDEN else value
    return found


class ServerForm(FormScreen):
    """Ends with {"name": …} when the server was saved."""

    BINDINGS = bindings.SAVED

    def __init__(self, server: mcp.Server | None = None) -> None:
        shown = values(server) if server else {"kind": "stdio"}
        title = f"MCP server: {server.name}" if server else "New MCP server"
        super().__init__(title, SCHEMA, shown)
        self._server = server

    def on_select_changed(self, event: Select.Changed) -> None:
        """Show only the fields of its kind."""
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
            return {"command": "has an unclosed quote"}
        try:
            self._entry(answers)
        except BadPairs as error:
            return {"pairs": str(error)}
        return {}

    def _entry(self, answers: Json) -> Json:
        before = {"_": self._server.entry} if self._server else {}
        return entry_of(answers, lenient.mapping(before, "_"))

    def deliver(self, answers: Json) -> None:
        home, old = self.home, self._server.name if self._server else ""
        name, entry = answers["name"], self._entry(answers)

        def save() -> None:
            with in_force.editing(home, adds=True):
                mcp.add(home, name, entry, replace=name == old)
                if old and old != name:
                    mcp.remove(home, old)

        def ended(why: str) -> None:
            if why:
                self.tell(f"✗ {why.replace('; pass --force to replace it', '')}")
            else:
                self.dismiss({"name": name})

        self.save(save, ended, mcp.FILE)


class ServersScreen(RowsScreen[None]):
    HEADING = "MCP servers, for every agent"
    EMPTY = "No MCP servers yet. {key} adds one."
    NEW = "servers.new"
    REMOVES = ("Remove the MCP server {}?", "Running agents keep it until they stop.")
    BINDINGS = bindings.SERVERS

    def load(self) -> list[mcp.Server]:
        return mcp.load(self.home)

    def shown(self, found: list[mcp.Server]) -> list[Row]:
        self._servers = {server.name: server for server in found}
        return [_row(server) for server in found]

    def choose(self, row: Row) -> None:
        self.shell.ask(ServerForm(self._servers[row.name]), self._saved)

    def action_new(self) -> None:
        self.shell.ask(ServerForm(), self._saved)

    def _saved(self, answer: Json) -> None:
        self.reload()
        self._test(answer["name"])

    def action_turn(self) -> None:
        if (row := self.current) is None:
            return
        on = not self._servers[row.name].enabled
        words = f"{row.name} is {'on' if on else 'off'} for agents started from now on."
        self._do(partial(mcp.set_enabled, self.home, row.name, enabled=on), words, adds=on)

    def drop(self, name: str) -> None:
        self._do(partial(mcp.remove, self.home, name), f"Removed {name}.")

    def _do(self, work: Callable[[], object], words: str, *, adds: bool = False) -> None:
        home = self.home

        def change() -> None:
            with in_force.editing(home, adds=adds):
                work()

        self.change(change, words, mcp.FILE)

    def action_test(self) -> None:
        if self.current:
            self._test(self.current.name)

    def _test(self, name: str) -> None:
        self.tell(f"Testing {name} …")
        self.fetch(partial(tested, self.home, name), self.tell)
        self.shell.look_around()


def tested(home: str, name: str) -> str:
    """What `rookery mcp test` says: it loads more than the screen may."""
    words = ("-P", "-m", "rookery", "mcp", "test", name, "--json")
    environment = {**os.environ, "ROOKERY_HOME": home, "NO_COLOR": "1", "COLUMNS": "1000"}
    try:
        done = subprocess.run(
            [sys.executable, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=WITHIN,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return f"✗ {name}: no response in time."
    except OSError as error:
        return f"✗ {name}: {error.strerror}."
    rows = [row for row in done.stdout.splitlines() if row.startswith(b"{")]
    told = json.loads(rows[0]) if rows else {}
    if not lenient.flag(told, "ok"):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [""]
        return f"✗ {name}: {lenient.text(told, 'error') or said[-1].removeprefix('rookery: ')}"
    tools = lenient.texts(told, "tools")
    few = ", ".join(tools[:8]) + (" …" if len(tools) > 8 else "")
    return f"{name} works. Its {len(tools)} tools: {few}" if tools else f"{name} works."


def _row(server: mcp.Server) -> Row:
    shown = values(server)
    what = server.fault or shown["command" if server.kind == "stdio" else "url"]
    sign = "bad" if server.fault else ("on" if server.enabled else "off")
    return Row(server.name, server.name, what, sign, "" if server.enabled else "off")
