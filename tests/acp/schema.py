"""The official JSON schema: every line that our side sends is held to it, and to nothing more than
it: a field that the schema does not know belongs into `_meta`."""

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema.exceptions import best_match
from jsonschema.validators import Draft202012Validator

from tests.acp.packages import SDK, node_modules

type Json = dict[str, Any]

FREE = {"_meta", "rawInput", "rawOutput", "data", "requestedSchema"}
"""What stands below these keys is not the protocol's."""
SHAPES = [{"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"}]
SHAPES += [{"jsonrpc", "method", "params"}, {"jsonrpc", "id", "method", "params"}]


def check_message(message: Any, asked: str | None, version: int = 1) -> None:
    """A line of an agent. `asked` is the method that it answers, if it is an answer."""
    assert isinstance(message, dict), message
    assert message["jsonrpc"] == "2.0"
    assert set(message) in SHAPES, sorted(message)
    if "method" in message:
        _check_call(message, version)
    elif "error" in message:
        assert type(message["error"]["code"]) is int, message
        check(message["error"], "Error", version)
        assert asked is not None or message["id"] is None, f"an answer to nothing: {message}"
    else:
        assert asked is not None, f"an answer to nothing: {message}"
        if not asked.startswith("_"):
            check(message["result"], definition(asked, "Response", version), version)


def _check_call(message: Json, version: int) -> None:
    method = message["method"]
    if method.startswith("_"):
        return
    kind = "Request" if "id" in message else "Notification"
    params = message["params"]
    if method != "session/update":
        check(params, definition(method, kind, version), version)
        return
    assert kind == "Notification", "session/update has no answer"
    assert isinstance(params["sessionId"], str)
    update = params["update"]
    content = update.get("content") if isinstance(update, dict) else None
    if isinstance(content, dict) and isinstance(content.get("text"), str):
        # Thousands of chunks differ in their text alone: each shape is looked at once.
        params = {**params, "update": {**update, "content": {**content, "text": ""}}}
    name = definition(method, kind, version)
    _check_once(json.dumps({**params, "sessionId": ""}), name, version)


@cache
def _check_once(text: str, name: str, version: int) -> None:
    check(json.loads(text), name, version)


def check(value: Any, name: str, version: int = 1) -> None:
    """Against one definition of the schema; what the protocol tries out is its own, too."""
    tried = name in _unstable(version)
    error = best_match(_validator(name, version).iter_errors(value))
    if error is not None and tried:
        error = best_match(_trying(name, version).iter_errors(value))
    assert error is None, f"{name}: {error.message} at {error.json_path}: {str(value)[:1000]}"
    foreign = list(_foreign(value, {"$ref": f"#/$defs/{name}"}, _definitions(name, version), "$"))
    if foreign and tried:
        foreign = list(_foreign(value, {"$ref": f"#/$defs/{name}"}, _unstable(version), "$"))
    assert not foreign, f"{name} has no {', '.join(foreign)}: {str(value)[:1000]}"


@cache
def definition(method: str, kind: str, version: int = 1) -> str:
    """The name of a method's Request, Response or Notification, unstable ones included."""
    for source in (_stable(version), _unstable(version)):
        for name, schema in source.items():
            if schema.get("x-method") == method and name.endswith(kind):
                return name
    raise AssertionError(f"the protocol has no {kind.lower()} {method!r}")


def _schema_file(version: int) -> Path:
    if given := os.environ.get("ROOKERY_SCHEMA"):
        return Path(given) if version == 1 else Path(given).parents[1] / f"v{version}/schema.json"
    return node_modules(SDK) / f"@agentclientprotocol/sdk/schema/v{version}/schema.json"


@cache
def _stable(version: int) -> Json:
    return json.loads(_schema_file(version).read_text())["$defs"]


@cache
def _unstable(version: int) -> Json:
    return json.loads(_schema_file(version).with_name("schema.unstable.json").read_text())["$defs"]


def _definitions(name: str, version: int) -> Json:
    return _stable(version) if name in _stable(version) else _unstable(version)


@cache
def _validator(name: str, version: int) -> Draft202012Validator:
    definitions = _definitions(name, version)
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions})


@cache
def _trying(name: str, version: int) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": _unstable(version)})


# --- Fields that the schema does not know


def _foreign(value: Any, schema: Json, definitions: Json, where: str) -> Iterator[str]:
    parts = list(_parts(value, schema, definitions))
    if isinstance(value, list):
        items = {"anyOf": [part["items"] for part in parts if "items" in part]}
        for number, item in enumerate(value):
            yield from _foreign(item, items, definitions, f"{where}[{number}]")
    if not isinstance(value, dict):
        return
    known: Json = {}
    for part in parts:
        for key, described in part.get("properties", {}).items():
            known.setdefault(key, []).append(described)
    for key, item in value.items():
        if key not in known and not any(part.get("additionalProperties") for part in parts):
            yield f"{where}.{key}"
        elif key in known and key not in FREE:
            yield from _foreign(item, {"allOf": known[key]}, definitions, f"{where}.{key}")


def _parts(value: Any, schema: Json, definitions: Json) -> Iterator[Json]:
    """The schema and all that it is put together from, less the variants that `value` is not."""
    yield schema
    if "$ref" in schema:
        yield from _parts(value, definitions[schema["$ref"].rpartition("/")[2]], definitions)
    for part in schema.get("allOf", []):
        yield from _parts(value, part, definitions)
    for part in [*schema.get("anyOf", []), *schema.get("oneOf", [])]:
        if _is_variant(value, part):
            yield from _parts(value, part, definitions)


def _is_variant(value: Any, schema: Json) -> bool:
    constants = {
        key: described["const"]
        for key, described in schema.get("properties", {}).items()
        if "const" in described
    }
    return all(isinstance(value, dict) and value.get(key) == constants[key] for key in constants)
