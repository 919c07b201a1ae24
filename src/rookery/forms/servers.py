"""The form for an MCP server of all agents, and its test."""

import json
import os
import shlex
import subprocess
import sys

from rookery.client.config import in_force
from rookery.client.config.edit import attempt
from rookery.core.asks import forms
from rookery.core.json import Json, lenient
from rookery.core.settings.loosening import Guarded, loosened
from rookery.forms.form import Form, Saved, choices, described
from rookery.home import mcp
from rookery.processes.search_path import for_python

HIDDEN = "•••"
"""Stands for a saved value: no secret is shown."""

WITHIN = 150.0
"""Seconds for a test."""

KINDS = {"stdio": "A program on this machine", "http": "Over HTTP", "sse": "Over SSE"}
_PROGRAM, _ADDRESS = {"kind": ["stdio"]}, {"kind": ["http", "sse"]}

SCHEMA: Json = {
    "properties": {
        "name": described("Name", "What agents call it."),
        "kind": described("Kind", oneOf=choices(KINDS)),
        "command": described(
            "Command", "As in a shell, such as npx -y some-server ~/notes.", when=_PROGRAM
        ),
        "url": described("Address", "Such as https://host/mcp.", when=_ADDRESS),
        "pairs": described(
            "Variables or headers",
            "NAME=VALUE, separated by spaces. Quote values with spaces; ${NAME} is taken from the "
            "environment.",
        ),
        "cwd": described("Directory", "Where it runs.", when=_PROGRAM),
    },
    "required": ["name", "kind"],
}


class BadPairs(ValueError):
    """Variables or headers that cannot be parsed."""


class ServerForm(Form):
    def __init__(self, server: mcp.Server | None = None) -> None:
        self.title = f"MCP server: {server.name}" if server else "New MCP server"
        self.schema = SCHEMA
        self.values = values(server) if server else {"kind": "stdio"}
        self._server = server

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

    def loosens(self, home: str, answers: Json) -> list[str]:
        now = {each.name: each.entry for each in mcp.load(home)}
        after = {**now, answers["name"]: self._entry(answers)}
        return loosened(Guarded(servers=now), Guarded(servers=after))

    def save(self, home: str, answers: Json) -> Saved:
        old = self._server.name if self._server else ""
        name, entry = answers["name"], self._entry(answers)

        def work() -> None:
            with in_force.editing(home, adds=True):
                mcp.add(home, name, entry, replace=name == old)
                if old and old != name:
                    mcp.remove(home, old)

        if why := attempt(work, mcp.FILE):
            return Saved(False, why.replace("; pass --force to replace it", ""))
        return Saved(True, f"Saved {name}.", name=name)


def values(server: mcp.Server) -> Json:
    """Return the values for the form; possible secrets are hidden."""
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
    """Quote a word if needed."""
    return shlex.quote(word) if set(word) & set(" \t\n'\"\\") or not word else word


def _veiled(value: object) -> str:
    """Hide a value, unless it is a reference to a variable, which is not secret."""
    return str(value) if mcp.VARIABLE.fullmatch(str(value)) else HIDDEN


def entry_of(answers: Json, before: Json) -> Json:
    """Return the new entry; fields that the form does not show are kept. Raises BadPairs."""
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
    pairs: Json = {}
    try:
        tokens = shlex.split(text)
    except ValueError as error:
        raise BadPairs(f"have an unclosed quote: {error}") from None
    for word in tokens:
        key, sign, value = word.partition("=")
        if not sign or not key:
            raise BadPairs(f"must be NAME=VALUE, not {word!r}")
        if value == HIDDEN and key not in known:
            raise BadPairs(f"have no value for {key}")
        pairs[key] = known[key] if value == HIDDEN else value
    return pairs


def tested(home: str, name: str) -> Saved:
    """Run `rookery mcp test`, in a process of its own, since it loads more than the screen may;
    return its result."""
    args = ("-P", "-m", "rookery", "mcp", "test", name, "--json")
    environment = {**os.environ, "ROOKERY_HOME": home, "NO_COLOR": "1", "COLUMNS": "1000"}
    try:
        done = subprocess.run(
            [sys.executable, *args],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=WITHIN,
            env=for_python(environment),
        )
    except subprocess.TimeoutExpired:
        return Saved(False, f"{name}: no response in time.")
    except OSError as error:
        return Saved(False, f"{name}: {error.strerror}.")
    rows = [row for row in done.stdout.splitlines() if row.startswith(b"{")]
    report = json.loads(rows[0]) if rows else {}
    if not lenient.flag(report, "ok"):
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or [""]
        why = lenient.text(report, "error") or lines[-1].removeprefix("rookery: ")
        return Saved(False, f"{name}: {why}")
    tools = lenient.texts(report, "tools")
    few = ", ".join(tools[:8]) + (" …" if len(tools) > 8 else "")
    return Saved(
        True, f"{name} works. Its {len(tools)} tools: {few}" if tools else f"{name} works."
    )
