"""Incoming prompts: checked against what we offer, and their large parts stored beside the log for
the worker to keep."""

from base64 import b64decode
from typing import Any

from rookery.client.attach import lay
from rookery.core.json import Json, dumps, lenient
from rookery.wire.params import invalid

STAGED_FROM = 16 * 1024
"""Characters from which a part is not sent inside the command."""

MAX_SIZE = 24 * 1024 * 1024
"""Characters of all parts together: most agents take no line of 32 MiB."""

COMMAND_MOST = 900 * 1024
"""Bytes of a command; its frame takes 1 MiB."""


def checked(prompt: list[Any]) -> list[Json]:
    """Return the blocks of a prompt if we accept all of them. Raises RpcError."""
    for block in prompt:
        _check(block)
    size = sum(len(_bulk(block)) for block in prompt)
    if size > MAX_SIZE:
        raise invalid(f"The attachments are too large: {size} characters, the limit is {MAX_SIZE}")
    return prompt


def _check(block: object) -> None:
    match block:
        case (
            {"type": "text", "text": str()}
            | {"type": "resource_link", "uri": str(), "name": str()}
            | {"type": "image", "data": str(), "mimeType": str()}
            | {"type": "resource", "resource": {"uri": str(), "text": str()}}
            | {"type": "resource", "resource": {"uri": str(), "blob": str()}}
        ):
            return
        case {"type": str(kind)} if kind in ("text", "resource_link", "image", "resource"):
            raise invalid(f"a block of type {kind!r} is incomplete")
        case {"type": kind}:
            raise invalid(f"content of type {str(kind)[:40]!r} is not supported")
    raise invalid("a content block needs a type")


def _bulk(block: Json) -> str:
    resource = lenient.mapping(block, "resource")
    return (
        lenient.text(block, "data")
        or lenient.text(resource, "text")
        or lenient.text(resource, "blob")
    )


def staged(prompt: list[Json], directory: str) -> list[Json]:
    """Return the blocks as they go into a command, with large parts stored beside the log. Raises
    RpcError."""
    laid = [
        _lay(block, directory) if len(_bulk(block)) > STAGED_FROM else block for block in prompt
    ]
    size = len(dumps(laid))
    if size > COMMAND_MOST:
        raise invalid(f"The prompt is too large: {size} bytes, the limit is {COMMAND_MOST}")
    return laid


def _lay(block: Json, directory: str) -> Json:
    resource = lenient.mapping(block, "resource")
    if block["type"] not in ("image", "resource"):
        return block
    try:
        text = resource.get("text")
        data = text.encode() if isinstance(text, str) else b64decode(_bulk(block), validate=True)
    except ValueError:  # half a surrogate pair, or not base64: the agent may know better
        return block
    name = lay(directory, data)
    bulk = ("text", "blob") if resource else ("data",)
    rest = {key: value for key, value in (resource or block).items() if key not in bulk}
    rest["staged"] = name
    return {**block, "resource": rest} if resource else rest
