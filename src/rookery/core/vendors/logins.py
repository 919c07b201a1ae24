"""Logging in to an agent: the methods it lists in `initialize`, the errors that ask for a login,
and its reports about its accounts.

A status is kept without names and addresses: only the label of an account."""

import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import clean

UNAUTHENTICATED = -32000
MAX_METHODS = 12
MAX_LINE = 300

AGENT, TERMINAL, VARIABLES = "agent", "terminal", "env_var"

IN, OUT, NOT_NEEDED, UNKNOWN = "authenticated", "unauthenticated", "not_required", "unknown"
STATES = (IN, OUT, NOT_NEEDED, UNKNOWN)

STATUS, UPDATE = "auth/status", "auth/status_update"
VENDORS_UPDATE, PUSHES = "_auth/status_update", "authStatus"
"""The update that Claude's and Codex' adapters push until the protocol's own is settled, and the
key that announces it in their capabilities."""


type Pair = tuple[str, str]


class Method(NamedTuple):
    id: str
    name: str
    about: str = ""
    kind: str = AGENT
    """agent: it does it itself when told `authenticate`; terminal: a program in a terminal;
    env_var: variables of its environment."""
    command: tuple[str, ...] = ()
    """What a terminal runs."""
    environment: tuple[Pair, ...] = ()
    """What that gets beside the agent's environment."""
    variables: tuple[str, ...] = ()
    takes_key: bool = False
    """An API key can be given with it."""


class Status(NamedTuple):
    state: str
    account: str = ""
    """What the agent calls the account in use, such as `Claude Max`."""


def wanted(error: Json) -> bool:
    """Return whether an error says that a login is needed first."""
    kind = lenient.text(lenient.mapping(error, "data"), "errorKind")
    return error.get("code") == UNAUTHENTICATED or kind == "auth"


def with_logins(error: Json, methods: Sequence[str]) -> Json:
    """Return the error with the login methods that the agent listed, if it asks for a login."""
    return {**error, "logins": list(methods)} if methods and wanted(error) else error


# --- methods -------------------------------------------------------------------------------------


def listed(result: object, argv: Sequence[str]) -> list[Method]:
    """Parse the methods in the response to `initialize`; `argv` starts the agent."""
    parsed = (_method(each, argv) for each in lenient.mappings(result, "authMethods"))
    return [method for method in parsed if method.id][:MAX_METHODS]


def methods(result: object, argv: Sequence[str]) -> tuple[str, ...]:
    """Return a line for each method, for a failed turn."""
    return tuple(filter(None, map(line, listed(result, argv))))


def line(method: Method) -> str:
    parts = [method.about if method.about != method.name else ""]
    parts.append(f"run {command_line(method)}"[:MAX_LINE] if method.command else "")
    parts.append(f"export {' '.join(method.variables)}"[:MAX_LINE] if method.variables else "")
    rest = "; ".join(filter(None, parts))
    return f"{method.name}: {rest}" if rest and method.name else method.name or rest


def command_line(method: Method) -> str:
    """Return the command that a terminal method runs, quoted for a shell."""
    given = [f"{name}={shlex.quote(value)}" for name, value in method.environment]
    return " ".join([*given, shlex.join(method.command)])


def _method(given: Json, argv: Sequence[str]) -> Method:
    id = lenient.text(given, "id") or lenient.text(given, "methodId")
    name = lenient.first_line(lenient.text(given, "name") or id, MAX_LINE)
    about = lenient.first_line(lenient.text(given, "description"), MAX_LINE).strip()
    is_terminal, command, environment = _terminal(given, argv)
    if is_terminal and not command:
        return Method("", "")
    kind = TERMINAL if command else AGENT
    variables = tuple[str, ...]()
    if lenient.text(given, "type") == VARIABLES:
        each = [lenient.text(one, "name") for one in lenient.mappings(given, "vars")]
        kind = VARIABLES
        each.append(lenient.text(given, "varName"))
        variables = tuple(filter(_is_variable, each))
    key = isinstance(lenient.mapping(given, "_meta").get("api-key"), dict)
    return Method(id, name, about, kind, command, environment, variables, key and kind == AGENT)


def _terminal(given: Json, argv: Sequence[str]) -> tuple[bool, tuple[str, ...], tuple[Pair, ...]]:
    """Return whether it is a terminal method, and what runs there: the agent itself with other
    arguments, or a program that it names; an empty command if it cannot be started or displayed
    faithfully."""
    meta = lenient.mapping(lenient.mapping(given, "_meta"), "terminal-auth")
    if lenient.text(given, "type") == TERMINAL:
        command = [*argv, *lenient.texts(given, "args")]
        env = given.get("env")
    elif program := lenient.text(meta, "command"):
        command = [program, *lenient.texts(meta, "args")]
        env = meta.get("env")
    else:
        return False, (), ()
    is_plain = all(_is_plain(word) for word in command)
    return True, tuple(command) if is_plain else (), _pairs(env)


def _pairs(given: object) -> tuple[Pair, ...]:
    """Return the variables that a shell could export."""
    env: Mapping[object, object] = given if isinstance(given, dict) else {}
    return tuple(
        (name, value)
        for name, value in env.items()
        if isinstance(name, str) and _is_variable(name)
        if isinstance(value, str) and _is_plain(value)
    )


def _is_variable(name: str) -> bool:
    return name.isascii() and name.isidentifier()


def _is_plain(word: str) -> bool:
    """Whether a terminal shows the word as it is."""
    return clean(word) == word and "\n" not in word


# --- status --------------------------------------------------------------------------------------


def has_status(capabilities: Json | None) -> bool:
    """Return whether an agent answers `auth/status`."""
    return isinstance(lenient.mapping(capabilities, "auth").get("status"), dict)


def pushes_status(capabilities: Json | None) -> bool:
    """Return whether an agent sends its status by itself soon after `initialize`."""
    return isinstance(lenient.mapping(capabilities, "_meta").get(PUSHES), dict)


def has_logout(capabilities: Json | None) -> bool:
    return isinstance(lenient.mapping(capabilities, "auth").get("logout"), dict)


def status_of(answer: object) -> Status:
    """Parse the response to `auth/status`, or an update in the same shape."""
    state = lenient.text(answer, "state")
    accounts = [
        each for each in lenient.mappings(answer, "accounts") if lenient.text(each, "label")
    ]
    active = [each for each in accounts if each.get("active") is True] or accounts
    account = lenient.first_line(lenient.text(active[0], "label"), 80) if active else ""
    return Status(state if state in STATES else UNKNOWN, account)


def from_notification(method: str, params: object) -> Status | None:
    """Parse an agent's notification about its accounts; None if it is something else."""
    if method == UPDATE:
        return status_of(params)
    if method != VENDORS_UPDATE:
        return None
    about = lenient.mapping(params, PUSHES)
    kind = lenient.text(about, "kind")
    if kind == "none":
        return Status(OUT)
    return Status(IN if kind else UNKNOWN, lenient.first_line(lenient.text(about, "label"), 80))
