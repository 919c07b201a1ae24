"""How a person logs in to an agent, in the agent's own words: what it told in `initialize`, kept
for the moment at which it refuses to work without."""

from collections.abc import Sequence

from rookery.core import loose
from rookery.core.events import Json

UNAUTHENTICATED = -32000
MOST = 6
LONGEST = 300


def wanted(error: Json) -> bool:
    """Whether an error says that somebody has to log in first."""
    kind = loose.text(loose.mapping(error, "data"), "errorKind")
    return error.get("code") == UNAUTHENTICATED or kind == "auth"


def told(error: Json, methods: Sequence[str]) -> Json:
    """The error, with the ways that the agent told."""
    return {**error, "logins": list(methods)} if methods and wanted(error) else error


def methods(result: object, argv: Sequence[str]) -> tuple[str, ...]:
    """Each way in a line, from the answer to `initialize`; `argv` started the agent."""
    found = list(loose.mappings(result, "authMethods"))[:MOST]
    return tuple(filter(None, (_line(method, argv) for method in found)))


def _line(method: Json, argv: Sequence[str]) -> str:
    name = loose.first_line(loose.text(method, "name") or loose.text(method, "id"), LONGEST)
    says = loose.first_line(loose.text(method, "description"), LONGEST)
    words = [says if says != name else "", _command(method, argv), _variables(method)]
    rest = "; ".join(filter(None, words))
    return f"{name}: {rest}" if rest and name else name or rest


def _command(method: Json, argv: Sequence[str]) -> str:
    """What is to be run in a terminal: the agent itself with other words, or a program of its."""
    meta = loose.mapping(loose.mapping(method, "_meta"), "terminal-auth")
    if program := loose.text(meta, "command"):
        return _run([program, *loose.texts(meta, "args")], meta.get("env"))
    if loose.text(method, "type") == "terminal":
        return _run([*argv, *loose.texts(method, "args")], method.get("env"))
    return ""


def _run(words: Sequence[str], env: object) -> str:
    import shlex  # here: a worker starts without

    pairs = env.items() if isinstance(env, dict) else ()
    given = [f"{name}={shlex.quote(str(value))}" for name, value in pairs]
    return f"run {' '.join([*given, shlex.join(words)])}"[:LONGEST]


def _variables(method: Json) -> str:
    """Of a key that it reads from its environment."""
    if loose.text(method, "type") != "env_var":
        return ""
    listed = [loose.text(each, "name") for each in loose.mappings(method, "vars")]
    names = [name for name in (*listed, loose.text(method, "varName")) if name]
    return f"export {' '.join(names)}"[:LONGEST] if names else ""
