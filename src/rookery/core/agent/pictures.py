"""Pictures that come inside an update as base64. The log stores their bytes once, beside the
events, however often a call is repeated, and an event refers to them by their hash.

`kept` takes them out; `whole` puts them back for clients that want the protocol's own form."""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from typing import Any

from rookery.core.agent.chunks import CHILD, CHUNK_KINDS
from rookery.core.json import Json, lenient
from rookery.core.json.image_bytes import look_at

type Keep = Callable[[bytes], str]
type Load = Callable[[str], bytes | None]

CALLS = ("tool_call", "tool_call_update")
LARGEST = 12 * 1024 * 1024
"""Bytes that are put back: clients take no line of 32 MiB."""


def kept(update: Json, keep: Keep) -> Json:
    """Return the update with names in place of its pictures; `keep` names their bytes."""
    return _changed(update, lambda block: kept_block(block, keep))


def whole(update: Json, load: Load) -> Json:
    return _changed(update, lambda block: whole_block(block, load))


def named(update: Json) -> Iterator[str]:
    """Yield the names of the stored bytes that an update refers to: pictures and files."""
    blocks = list(lenient.mappings(update, "prompt"))

    def note(block: Json) -> Json:
        blocks.append(block)
        return block

    _changed(update, note)
    for block in blocks:
        name = lenient.text(block, "blob")
        yield from filter(None, (name, lenient.text(lenient.mapping(block, "resource"), "kept")))


def name_of(data: bytes) -> str:
    import hashlib  # it loads OpenSSL, and pictures are few

    return hashlib.sha256(data).hexdigest()


def kept_block(block: Json, keep: Keep) -> Json:
    """Return the block with its bytes stored by `keep`; invalid base64 stays as it came."""
    match block:
        case {"type": "image", "data": str(text)} if data := _decoded(text):
            return _without(block, "data") | about(data, image=True) | {"blob": keep(data)}
        case {"type": "resource", "resource": {"blob": str(text)} as given} if (
            data := _decoded(text)
        ) and look_at(data):
            resource = _without(given, "blob") | about(data) | {"kept": keep(data)}
            return {**block, "resource": resource}
    return block


def _without(given: Json, bulk: str) -> Json:
    return {key: given[key] for key in given if key != bulk}


def about(data: bytes, *, image: bool = False) -> Json:
    """Return what a transcript shows without the bytes. `image`: the block claims to be one; it has
    no size if the bytes are no image that can be shown."""
    picture = look_at(data)
    if picture is None:
        return {"bytes": len(data)} | ({"width": 0, "height": 0} if image else {})
    return {"bytes": len(data), "width": picture.width, "height": picture.height}


def whole_block(block: Json, load: Load) -> Json:
    resource = lenient.mapping(block, "resource")
    name = lenient.text(block, "blob") or lenient.text(resource, "kept")
    if not name:
        return block
    data = load(name)
    if data is None or len(data) > LARGEST:
        size = lenient.integer(block, "bytes") or lenient.integer(resource, "bytes") or 0
        what = lenient.text(resource, "uri") or lenient.text(block, "mimeType") or "attachment"
        return {"type": "text", "text": f"[{what}, {size} bytes]"}
    if not resource:
        return _without(block, "blob") | {"data": b64encode(data).decode("ascii")}
    try:
        return {**block, "resource": {**resource, "text": data.decode()}}
    except UnicodeDecodeError:
        return {**block, "resource": {**resource, "blob": b64encode(data).decode("ascii")}}


def _changed(update: Json, change: Callable[[Json], Json]) -> Json:
    """Return the update with `change` applied to each of the agent's content blocks; the same
    object if nothing changed."""
    kind, content = update.get("sessionUpdate"), update.get("content")
    if kind == CHILD and isinstance(inner := update.get("update"), dict):
        after = _changed(inner, change)
        return update if after is inner else {**update, "update": after}
    if kind in CHUNK_KINDS and isinstance(content, dict) and content.get("type") != "text":
        after = change(content)
        return update if after is content else {**update, "content": after}
    if kind in CALLS and isinstance(content, list):
        items = [_item(item, change) for item in content]
        same = all(one is other for one, other in zip(items, content, strict=True))
        return update if same else {**update, "content": items}
    return update


def _item(item: Any, change: Callable[[Json], Json]) -> Any:
    match item:
        case {"type": "content", "content": {"type": "image" | "resource"} as block}:
            after = change(block)
            return item if after is block else {**item, "content": after}
        case {"type": "image" | "resource"}:  # some agents leave out the wrapper
            return change(item)
    return item


def _decoded(text: str) -> bytes:
    """Decode base64, including text broken into lines; b"" if it is invalid."""
    try:
        return b64decode("".join(text.split()), validate=True)
    except ValueError:
        return b""
