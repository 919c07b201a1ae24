"""The daemon's API: every address with what it takes and answers, and every schema."""

import json
from collections.abc import Iterator
from typing import Any

from rookery.daemon.app import build_api
from tests.golden.files import Golden

type Json = dict[str, Any]
SAID = {"description", "title", "examples", "example", "summary"}
"""What is said to people."""


def shape(schema: Any) -> str:
    """On one line, without words for people."""
    return json.dumps(_bare(schema), sort_keys=True, ensure_ascii=False)


def _bare(value: Any, *, names: bool = False) -> Any:
    """`names`: the keys are of fields, which may be called like one of those."""
    if isinstance(value, list):
        return [_bare(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {key: each for key, each in value.items() if names or key not in SAID}
    return {key: _bare(each, names=key == "properties" and not names) for key, each in kept.items()}


def operation(address: str, said: Json) -> Iterator[str]:
    yield f"{address}  {said['operationId']} [{', '.join(said['tags'])}]"
    for each in sorted(said.get("parameters", ()), key=lambda each: (each["in"], each["name"])):
        must = " required" if each.get("required") else ""
        yield f"  {each['in']} {each['name']}{must} {shape(each['schema'])}"
    yield from contents("takes", said.get("requestBody", {}))
    for status, answer in sorted(said["responses"].items()):
        yield from contents(status, answer)


def contents(name: str, said: Json) -> Iterator[str]:
    for kind, each in sorted(said.get("content", {}).items()):
        yield f"  {name} {kind} {shape(each.get('schema', {}))}"
    if name != "takes" and not said.get("content"):
        yield f"  {name}"


def schemas(document: Json) -> Iterator[str]:
    for name, schema in sorted(document["components"]["schemas"].items()):
        rest = {key: each for key, each in schema.items() if key not in ("properties", "required")}
        yield f"{name} {shape(rest)}"
        for field, each in sorted(schema.get("properties", {}).items()):
            must = " required" if field in schema.get("required", ()) else ""
            yield f"  {field}{must} {shape(each)}"


def test_each_schema_has_a_name_that_is_its_own() -> None:
    """Of two that share one, the framework makes names with their modules in them."""
    names = build_api().openapi()["components"]["schemas"]
    assert not [name for name in names if "__" in name]


def test_the_document_of_the_api_is_as_it_was(golden: Golden) -> None:
    document = build_api().openapi()
    found = [
        (f"{method.upper()} {path}", said)
        for path, methods in sorted(document["paths"].items())
        for method, said in sorted(methods.items())
    ]
    addresses = [line for each in found for line in operation(*each)]
    assert len(found) > 70
    golden.hold(
        {
            "api/addresses.txt": "\n".join(addresses) + "\n",
            "api/schemas.txt": "\n".join(schemas(document)) + "\n",
        }
    )
