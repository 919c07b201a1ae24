"""The table `[agents.NAME]` of config.toml: command or address, environment, MCP servers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rookery.core import budgets
from rookery.core.agent.addresses import OFFERS, SCHEMES, Remote, remote_of
from rookery.core.json import Json
from rookery.core.policy.rule_tables import Fault
from rookery.core.settings.sandbox import KINDS

OF_ADDRESS = ("headers", "ca", "fingerprint", "cwd", "offers")
PLAIN = (
    *("command", "url", "confined", "env", "mcp", "sandbox", "saved_model"),
    *budgets.NAMES.values(),
)
KEYS = (*PLAIN, *OF_ADDRESS)

type McpChoice = bool | tuple[str, ...]
"""Every MCP server, none, or those with these names."""


class Extras(NamedTuple):
    """The settings of the table besides the command."""

    env: Mapping[str, str] = MappingProxyType({})
    """Overrides the environment of its sessions."""
    mcp: McpChoice | None = None
    """None: its profile decides."""
    remote: Remote = Remote()
    sandbox: str = ""
    """What its new sessions run in; "": as others do."""
    budgets: Mapping[str, str] = MappingProxyType({})
    """By scope; they go before those of all agents."""
    saved_model: str = ""
    """The name of a model saved in Rookery that it is given; "": it has its own."""

    def plain(self) -> Json:
        """Return the settings as JSON, for the record of what was confirmed."""
        mcp = list(self.mcp) if isinstance(self.mcp, tuple) else self.mcp
        kind = {"sandbox": self.sandbox} if self.sandbox else {}
        kind |= {"saved_model": self.saved_model} if self.saved_model else {}
        kind |= {budgets.NAMES[scope]: budget for scope, budget in self.budgets.items()}
        return {"env": dict(self.env), "mcp": mcp, **self.remote.plain(), **kind}


def fault_of(table: Json) -> Fault | None:
    """Return what is wrong with a table, if anything."""
    if not isinstance(table.get("confined", True), bool):
        return Fault("confined", "must be true or false")
    env = table.get("env", {})
    if not isinstance(env, dict) or not all(_is_variable(*each) for each in env.items()):
        return Fault("env", 'must be a table of strings, for example { KEY = "value" }')
    mcp = table.get("mcp", True)
    named = isinstance(mcp, list) and all(isinstance(name, str) for name in mcp)
    if not isinstance(mcp, bool) and not named:
        return Fault("mcp", "must be true, false, or a list of MCP server names")
    if table.get("sandbox", KINDS[0]) not in KINDS:
        return Fault("sandbox", f"must be one of: {', '.join(KINDS)}")
    if not _is_text(table.get("saved_model", "model")):
        return Fault("saved_model", "must be the name of a saved model")
    for key in budgets.NAMES.values():
        if wrong := _wrong_budget(table.get(key, budgets.OFF)):
            return Fault(key, wrong)
    if "url" in table:
        return _fault_of_address(table)
    if alone := next((key for key in OF_ADDRESS if key in table), ""):
        return Fault(alone, "is only for an agent with a url")
    if (table and "command" not in table) or _is_command(table.get("command")):
        return None
    expected = 'must be a list of strings, for example ["my-agent", "--acp"]'
    return Fault("command", expected) if "command" in table else Fault("", f"command {expected}")


def _wrong_budget(budget: object) -> str:
    try:
        budgets.parse(budget if isinstance(budget, str) else "?")
    except budgets.BadBudget as error:
        return str(error)
    return ""


def _fault_of_address(table: Json) -> Fault | None:
    url, headers, offers = table["url"], table.get("headers", {}), table.get("offers", [])
    if "command" in table:
        return Fault("url", "and command cannot be combined")
    if not _is_text(url) or not url.startswith(SCHEMES) or "@" in url:
        return Fault("url", 'must be an address without a password, such as "wss://host/acp"')
    if not isinstance(headers, dict) or not all(_is_source(each) for each in headers.values()):
        expected = '{ Authorization = { env = "NAME" } }, or { file = "PATH" }'
        return Fault("headers", f"must say where each value comes from, for example {expected}")
    for key in ("ca", "fingerprint", "cwd"):
        if not _is_text(table.get(key, "/")):
            return Fault(key, "must be a text")
    if not table.get("cwd", "/").startswith("/"):
        return Fault("cwd", "must be an absolute path on the agent's machine")
    if not isinstance(offers, list) or not all(each in OFFERS for each in offers):
        return Fault("offers", f"must be a list of: {', '.join(OFFERS)}")
    return None


def _is_source(source: object) -> bool:
    if not isinstance(source, dict) or len(source) != 1:
        return False
    return next(iter(source)) in ("env", "file") and _is_text(next(iter(source.values())))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value) and value.isprintable() and value == value.strip()


def command_of(table: Json) -> list[str]:
    """Return the words of the command, or the address in their place, if there is either."""
    return [table["url"]] if "url" in table else list(table.get("command", []))


def extras_of(table: Json) -> Extras:
    mcp = table.get("mcp")
    choice = tuple(mcp) if isinstance(mcp, list) else mcp
    limits = {scope: table[name] for scope, name in budgets.NAMES.items() if name in table}
    kind = table.get("sandbox", "")
    model = table.get("saved_model", "")
    return Extras(dict(table.get("env", {})), choice, remote_of(table), kind, limits, model)


def extras_from(plain: object) -> Extras:
    """Parse what `plain` returned."""
    return extras_of(plain) if isinstance(plain, dict) else Extras()


def _is_command(argv: object) -> bool:
    if not isinstance(argv, list) or not argv:
        return False
    return all(isinstance(word, str) for word in argv) and bool(argv[0].strip())


def _is_variable(name: object, value: object) -> bool:
    texts = isinstance(name, str) and isinstance(value, str)
    return texts and bool(name) and "=" not in str(name) and "\0" not in f"{name}{value}"
