"""How to log in to an agent, in the agent's own words: what it said in `initialize`, kept
for the moment at which it refuses to work without."""

from collections.abc import Sequence

from rookery.core.json import Json, lenient

UNAUTHENTICATED = -32000
MOST = 6
LONGEST = 300


def wanted(error: Json) -> bool:
    """Whether an error says that a login is needed first."""
    kind = lenient.text(lenient.mapping(error, "data"), "errorKind")
    return error.get("code") == UNAUTHENTICATED or kind == "auth"


def told(error: Json, methods: Sequence[str]) -> Json:
    """The error, with the ways that the agent told."""
    return {**error, "logins": list(methods)} if methods and wanted(error) else error


def methods(result: object, argv: Sequence[str]) -> tuple[str, ...]:
    """Each way in a line, from the answer to `initialize`; `argv` started the agent."""
    found = list(lenient.mappings(result, "authMethods"))[:MOST]
    return tuple(filter(None, (_line(method, argv) for method in found)))


def _line(method: Json, argv: Sequence[str]) -> str:
    name = lenient.first_line(lenient.text(method, "name") or lenient.text(method, "id"), LONGEST)
    says = lenient.first_line(lenient.text(method, "description"), LONGEST)
    words = [says if says != name else "", _command(method, argv), _variables(method)]
    rest = "; ".join(filter(None, words))
    return f"{name}: {rest}" if rest and name else name or rest


def _command(method: Json, argv: Sequence[str]) -> str:
    """What is to be run in a terminal: the agent itself with other words, or a program of its."""
    meta = lenient.mapping(lenient.mapping(method, "_meta"), "terminal-auth")
    if program := lenient.text(meta, "command"):
        return _run([program, *lenient.texts(meta, "args")], meta.get("env"))
    if lenient.text(method, "type") == "terminal":
        return _run([*argv, *lenient.texts(method, "args")], method.get("env"))
    return ""


def _run(words: Sequence[str], env: object) -> str:
    import shlex  # here: a worker starts without

    pairs = env.items() if isinstance(env, dict) else ()
    given = [f"{name}={shlex.quote(str(value))}" for name, value in pairs]
    return f"run {' '.join([*given, shlex.join(words)])}"[:LONGEST]


def _variables(method: Json) -> str:
    """Of a key that it reads from its environment."""
    if lenient.text(method, "type") != "env_var":
        return ""
    listed = [lenient.text(each, "name") for each in lenient.mappings(method, "vars")]
    names = [name for name in (*listed, lenient.text(method, "varName")) if name]
    return f"export {' '.join(names)}"[:LONGEST] if names else ""
