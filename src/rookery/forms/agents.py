"""The form for an agent of the user's own: a command on this machine, or an address."""

import re
import shlex
from functools import partial
from typing import override

from rookery.agents import registry
from rookery.client.config import own_agents
from rookery.client.config.edit import attempt
from rookery.core.asks import forms
from rookery.core.json import Json, lenient
from rookery.core.settings.agent_tables import fault_of
from rookery.forms.form import Form, Saved, choices, described

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
KINDS = {"command": "A program on this machine", "url": "At an address"}


def schema(known: str) -> Json:
    fields: Json = {
        "name": described("Name", "Letters, digits, - and _."),
        "kind": described("Where it runs", oneOf=choices(KINDS)),
        "command": described(
            "Command", "As in a shell, such as my-agent --acp.", when={"kind": ["command"]}
        ),
        "url": described("Address", "Such as wss://host/acp.", when={"kind": ["url"]}),
        "confined": described(
            "Confined",
            "The kernel stops its commands from answering for you. In them sudo fails.",
            type="boolean",
            when={"kind": ["command"]},
        ),
    }
    if known:
        del fields["name"]
    return {"properties": fields, "required": ["kind"] if known else ["name", "kind"]}


class AgentForm(Form):
    """The form of one agent. Settings it does not show are kept: environment, MCP servers,
    headers."""

    def __init__(self, home: str, name: str = "") -> None:
        self.title = f"Agent: {name}" if name else "New agent"
        self.schema = schema(name)
        self._name = name
        self._before = own_agents.table_of(home, name) if name else {}
        command, url = lenient.texts(self._before, "command"), lenient.text(self._before, "url")
        self.values = {
            "kind": "url" if url else "command",
            "command": shlex.join(command),
            "url": url,
            "confined": self._before.get("confined") is not False,
        }

    def check(self, answers: Json) -> dict[str, str]:
        wrong = super().check(answers)
        if wrong:
            return wrong
        name = self._name or answers["name"]
        if not self._name and not NAME.fullmatch(name):
            return {"name": "must be letters, digits, - and _, at most 40"}
        if not self._name and name in registry.AGENTS:
            return {"name": "is one of the known agents"}
        if not answers.get(answers["kind"]):
            return {answers["kind"]: forms.NEEDED}
        try:
            fault = fault_of(self._table(answers))
        except ValueError:
            return {"command": "has an unclosed quote"}
        if fault is None:
            return {}
        return {fault.key if fault.key in self.fields else answers["kind"]: fault.why}

    @override
    def loosens(self, home: str, answers: Json) -> list[str]:
        name, table = self._name or answers["name"], self._table(answers)
        free = table.get("confined") is False and self._before.get("confined") is not False
        warnings = [f"{name}'s commands run unconfined."] if free else []
        now = table.get("url") or " ".join(table.get("command", []))
        before = self._before.get("url") or " ".join(lenient.texts(self._before, "command"))
        return [f"{name} runs {now}.", *warnings] if now != before else warnings

    def _table(self, answers: Json) -> Json:
        """Return the table to write. Raises ValueError."""
        mine = ("command", "url", "confined")
        table = {key: value for key, value in self._before.items() if key not in mine}
        if answers["kind"] == "url":
            return table | {"url": answers.get("url", "")}
        free = {} if answers.get("confined") else {"confined": False}
        return table | {"command": shlex.split(answers.get("command", ""))} | free

    def save(self, home: str, answers: Json) -> Saved:
        name = self._name or answers["name"]
        if why := attempt(partial(own_agents.put, home, name, self._table(answers))):
            return Saved(False, why)
        return Saved(True, f"Saved {name}.", name=name)


def removed(home: str, name: str) -> Saved:
    why = attempt(partial(own_agents.put, home, name, None))
    return Saved(False, why) if why else Saved(True, f"Removed {name}.")
