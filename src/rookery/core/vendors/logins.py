"""Logging in to an agent: the methods it lists in `initialize`, the errors that ask for one, and
what it says about its accounts.

A status is kept without names and addresses: of an account, its label and no more.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import clean

UNAUTHENTICATED = -32000
MOST = 12
LONGEST = 300

AGENT, TERMINAL, VARIABLES = "agent", "terminal", "env_var"

IN, OUT, NOT_NEEDED, UNKNOWN = "authenticated", "unauthenticated", "not_required", "unknown"
STATES = (IN, OUT, NOT_NEEDED, UNKNOWN)

STATUS, UPDATE = "auth/status", "auth/status_update"
VENDORS_UPDATE, PUSHES = "_auth/status_update", "authStatus"
"""What Claude's and Codex' adapters send, unasked, until the protocol's own is settled; and where
their capabilities say so."""


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
    """Whether an error says that a login is needed first."""
    kind = lenient.text(lenient.mapping(error, "data"), "errorKind")
    return error.get("code") == UNAUTHENTICATED or kind == "auth"


def told(error: Json, methods: Sequence[str]) -> Json:
    """The error, with the ways that the agent told."""
    return {**error, "logins": list(methods)} if methods and wanted(error) else error


# --- methods -------------------------------------------------------------------------------------


def listed(result: object, argv: Sequence[str]) -> list[Method]:
    """From the answer to `initialize`; `argv` starts the agent."""
    found = (_method(each, argv) for each in lenient.mappings(result, "authMethods"))
    return [method for method in found if method.id][:MOST]


def methods(result: object, argv: Sequence[str]) -> tuple[str, ...]:
    """Each in a line, for a failed turn."""
    return tuple(filter(None, map(line, listed(result, argv))))


def line(method: Method) -> str:
    parts = [method.about if method.about != method.name else ""]
    parts.append(f"run {command_line(method)}"[:LONGEST] if method.command else "")
    parts.append(f"export {' '.join(method.variables)}"[:LONGEST] if method.variables else "")
    rest = "; ".join(filter(None, parts))
    return f"{method.name}: {rest}" if rest and method.name else method.name or rest


def command_line(method: Method) -> str:
    """What a terminal method runs, as a shell reads it."""
    import shlex  # here: a worker starts without

    given = [f"{name}={shlex.quote(value)}" for name, value in method.environment]
    return " ".join([*given, shlex.join(method.command)])


def _method(given: Json, argv: Sequence[str]) -> Method:
    id = lenient.text(given, "id") or lenient.text(given, "methodId")
    name = lenient.first_line(lenient.text(given, "name") or id, LONGEST)
    about = lenient.first_line(lenient.text(given, "description"), LONGEST).strip()
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
    """Whether it is one, and what runs there: the agent itself with other arguments, or a program
    that it names; no words where it cannot be started, or would not be shown as it is."""
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
    """What a shell could export."""
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
    """A terminal shows it as it is."""
    return clean(word) == word and "\n" not in word


# --- status --------------------------------------------------------------------------------------


def has_status(capabilities: Json | None) -> bool:
    """Whether an agent answers `auth/status`."""
    return isinstance(lenient.mapping(capabilities, "auth").get("status"), dict)


def pushes_status(capabilities: Json | None) -> bool:
    """Whether an agent tells its status by itself soon after `initialize`."""
    return isinstance(lenient.mapping(capabilities, "_meta").get(PUSHES), dict)


def has_logout(capabilities: Json | None) -> bool:
    return isinstance(lenient.mapping(capabilities, "auth").get("logout"), dict)


def status_of(answer: object) -> Status:
    """From the answer to `auth/status`, or from an update in the same shape."""
    state = lenient.text(answer, "state")
    accounts = [
        each for each in lenient.mappings(answer, "accounts") if lenient.text(each, "label")
    ]
    active = [each for each in accounts if each.get("active") is True] or accounts
    account = lenient.first_line(lenient.text(active[0], "label"), 80) if active else ""
    return Status(state if state in STATES else UNKNOWN, account)


def from_notification(method: str, params: object) -> Status | None:
    """What an agent says about its accounts; None: this is something else."""
    if method == UPDATE:
        return status_of(params)
    if method != VENDORS_UPDATE:
        return None
    about = lenient.mapping(params, PUSHES)
    kind = lenient.text(about, "kind")
    if kind == "none":
        return Status(OUT)
    return Status(IN if kind else UNKNOWN, lenient.first_line(lenient.text(about, "label"), 80))
