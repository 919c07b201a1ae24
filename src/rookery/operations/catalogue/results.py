"""The results of works and reads, for programs and for people: the JSON schema of a `TypedDict`,
whose fields may be `Annotated` with a sentence, and any result as lines of text."""

import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, is_typeddict

if TYPE_CHECKING:
    from rookery.core.json import Json

SUMMARY = "summary"
"""The field of a work's result that says in a sentence what came of it."""

TEXTS = ("text", "patch")
"""Fields of a read's result that are what there is to show."""

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def schema_of(body: Callable[..., Any], schemas: "Json") -> "Json":
    """Return the schema of a function's result; add those of named shapes to `schemas`."""
    return _schema(body.__annotations__["return"], schemas)


def _schema(of: Any, schemas: "Json") -> "Json":
    origin, inner = get_origin(of), get_args(of)
    if hasattr(of, "__value__"):  # a name for a type
        return _schema(of.__value__, schemas)
    if hasattr(of, "__metadata__"):
        return {**_schema(of.__origin__, schemas), "description": of.__metadata__[0]}
    if is_typeddict(of):
        _add(of, schemas)
        return {"$ref": f"#/components/schemas/{of.__name__}"}
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(each, schemas) for each in inner]}
    if origin in (list, tuple):
        return {"type": "array", "items": _schema(inner[0], schemas)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1], schemas)}
    return {"type": _TYPES[of]} if of in _TYPES else {}


def _add(shape: Any, schemas: "Json") -> None:
    name = shape.__name__
    if name in schemas:
        return
    made = schemas[name] = {"type": "object", "title": name}
    if shape.__doc__:
        made["description"] = shape.__doc__
    fields = {key: _schema(of, schemas) for key, of in shape.__annotations__.items()}
    made["properties"] = {key: {"title": _title(key), **field} for key, field in fields.items()}
    made["required"] = sorted(shape.__required_keys__, key=list(fields).index)


def _title(key: str) -> str:
    return f"{key[:1].upper()}{key[1:]}".replace("_", " ")


# --- as text ------------------------------------------------------------------------------------


def text_of(result: "Json") -> str:
    """Return a result as lines for people, if no face has a presentation of its own for it."""
    whole = next((key for key in (SUMMARY, *TEXTS) if key in result), "")
    if whole:
        return _plain(result[whole])
    return "\n".join(_lines(result, ""))


def _lines(value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            if isinstance(each, dict | list) and each:
                yield f"{indent}{_title(str(key))}:"
                yield from _lines(each, f"{indent}  ")
            else:
                yield f"{indent}{_title(str(key))}: {_plain(each)}"
        return
    for each in value:
        if isinstance(each, dict):
            yield f"{indent}- " + "  ".join(f"{key}: {_plain(one)}" for key, one in each.items())
        else:
            yield f"{indent}- {_plain(each)}"


def _plain(value: Any) -> str:
    match value:
        case None | "" | [] | {}:
            return "–"
        case True | False:
            return "yes" if value else "no"
        case list():
            return ", ".join(map(_plain, value))
        case dict():
            return ", ".join(f"{key} {_plain(each)}" for key, each in value.items())
    return str(value)
