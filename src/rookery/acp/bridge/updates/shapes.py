"""Updates in the shape that the protocol allows: an agent's stray fields, odd values and vendors'
own kinds must not make an editor drop a whole message."""

import os
from collections.abc import Callable, Iterator

from rookery.core.json import Json, dumps, lenient

MAX_CHUNK_LENGTH = 1_000_000
"""Characters of one chunk: each can take 12 bytes, and clients hang up at 32 MiB."""

KINDS = frozenset(
    ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode"]
)
STATUSES = frozenset(["pending", "in_progress", "completed", "failed"])
PRIORITIES = frozenset(["high", "medium", "low"])


def chunk(update: Json) -> list[Json]:
    """Return the chunk of a message; a long text becomes several."""
    base = {"sessionUpdate": update["sessionUpdate"], **_meta(update)}
    if lenient.text(update, "messageId"):
        base["messageId"] = update["messageId"]
    content = block(lenient.mapping(update, "content"))
    if content["type"] != "text" or len(content["text"]) <= MAX_CHUNK_LENGTH:
        return [{**base, "content": content}]
    text = content["text"]
    pieces = [text[at : at + MAX_CHUNK_LENGTH] for at in range(0, len(text), MAX_CHUNK_LENGTH)]
    return [{**base, "content": {**content, "text": piece}} for piece in pieces]


BLOCKS: dict[str, tuple[tuple[str, type], ...]] = {
    "text": (("text", str),),
    "image": (("data", str), ("mimeType", str)),
    "audio": (("data", str), ("mimeType", str)),
    "resource_link": (("name", str), ("uri", str)),
    "resource": (("resource", dict),),
}
EXTRAS_OF = {"image": ("uri",), "resource_link": ("mimeType", "title", "description")}


def block(given: Json) -> Json:
    """Return a content block; one that the protocol does not know is shown as JSON."""
    kind = lenient.text(given, "type")
    needed = BLOCKS.get(kind)
    if needed is None or any(not isinstance(given.get(key), type_) for key, type_ in needed):
        return {"type": "text", "text": dumps(given)[:MAX_CHUNK_LENGTH]}
    content: Json = {"type": kind, **{key: given[key] for key, _ in needed}, **_meta(given)}
    content |= _texts(given, *EXTRAS_OF.get(kind, ()))
    if (size := lenient.integer(given, "size")) is not None and kind == "resource_link":
        content["size"] = size
    if kind == "resource":
        content["resource"] = _resource(given["resource"])
    return content


def _resource(given: Json) -> Json:
    resource = {"uri": lenient.text(given, "uri"), **_meta(given), **_texts(given, "mimeType")}
    key = "blob" if isinstance(given.get("blob"), str) else "text"
    return {**resource, key: lenient.text(given, key)}


def call(update: Json, cwd: str, show: Callable[[Json], Json | None]) -> Json:
    """Return the fields of a tool call, except its id. `show`: returns what stands for a terminal's
    content."""
    fields: Json = _meta(update) | _texts(update, "title", "name")
    if isinstance(update.get("kind"), str):
        fields["kind"] = update["kind"] if update["kind"] in KINDS else "other"
    if update.get("status") in STATUSES:
        fields["status"] = update["status"]
    if isinstance(update.get("content"), list):
        fields["content"] = [
            part for item in lenient.mappings(update, "content") for part in _part(item, cwd, show)
        ]
    if isinstance(update.get("locations"), list):
        fields["locations"] = list(_locations(update, cwd))
    for key in ("rawInput", "rawOutput"):
        if update.get(key) is not None:
            fields[key] = update[key]
    return fields


def _part(item: Json, cwd: str, show: Callable[[Json], Json | None]) -> Iterator[Json]:
    match item:
        case {"type": "content", "content": dict(content)}:
            yield {"type": "content", "content": block(content), **_meta(item)}
        case {"type": "diff", "path": str(path), "newText": str(new)}:
            old = item.get("oldText")
            diff: Json = {"path": os.path.join(cwd, path), "newText": new}
            diff["oldText"] = old if isinstance(old, str) else None
            yield {"type": "diff", **diff, **_meta(item)}
        case {"type": "terminal"}:
            if (shown := show(item)) is not None:
                yield shown


def _locations(update: Json, cwd: str) -> Iterator[Json]:
    for item in lenient.mappings(update, "locations"):
        if path := lenient.text(item, "path"):
            line = lenient.integer(item, "line")
            known = {"line": line} if line is not None and 0 <= line < 2**32 else {}
            yield {"path": os.path.join(cwd, path), **known, **_meta(item)}


def plan(update: Json) -> Json:
    entries = []
    for item in lenient.mappings(update, "entries"):
        status, priority = item.get("status"), item.get("priority")
        entry = {"content": lenient.text(item, "content"), **_meta(item)}
        entry["status"] = status if status in ("in_progress", "completed") else "pending"
        entry["priority"] = priority if priority in PRIORITIES else "medium"
        entries.append(entry)
    return {"sessionUpdate": "plan", "entries": entries, **_meta(update)}


def commands(given: list[Json]) -> Json:
    listed = []
    for item in given:
        command = {"name": lenient.text(item, "name"), **_meta(item)}
        command["description"] = lenient.text(item, "description")
        hint = _texts(lenient.mapping(item, "input"), "hint")
        listed.append(command | ({"input": hint} if hint else {}))
    return {"sessionUpdate": "available_commands_update", "availableCommands": listed}


def usage(given: Json) -> list[Json]:
    """Return the usage update; none without both numbers."""
    used, size = given.get("used"), given.get("size")
    if not _is_count(used) or not _is_count(size):
        return []
    update: Json = {"sessionUpdate": "usage_update", "used": used, "size": size, **_meta(given)}
    cost = lenient.mapping(given, "cost")
    if (amount := lenient.number(cost, "amount")) is not None:
        currency = lenient.text(cost, "currency") or "USD"
        update["cost"] = {"amount": amount, "currency": currency}
    return [update]


def notice(given: Json) -> Json:
    title = lenient.text(given, "title") or lenient.text(given, "message") or "Notice"
    update = {"sessionUpdate": "notice", "title": title, **_meta(given)}
    update["severity"] = lenient.text(given, "severity") or "info"
    if lenient.text(given, "description"):
        update["description"] = given["description"]
    return update


def shortened(update: Json) -> Json:
    """Return a short version of an update that is too large for a line."""
    small = {key: value for key, value in update.items() if not key.startswith("raw")}
    part = {"type": "text", "text": "(too large to show here)"}
    listed = [{"type": "content", "content": part}]
    return small | {"content": part if update["sessionUpdate"].endswith("_chunk") else listed}


def thought(given: Json) -> list[Json]:
    """Return an agent's notice as a thought, for an editor that does not support notices."""
    parts = [lenient.text(given, key) for key in ("title", "description")]
    text = "".join(f"{each}\n" for each in parts if each)
    content = {"type": "text", "text": text}
    return [{"sessionUpdate": "agent_thought_chunk", "content": content}] if text else []


def aside(name: str, text: str) -> Json:
    """Return a text of ours for the conversation, as a paragraph: most editors join messages in a
    row."""
    content = {"type": "text", "text": f"\n\n_{text}_\n\n"}
    return {"sessionUpdate": "agent_message_chunk", "messageId": name, "content": content}


def is_unfinished(update: Json) -> bool:
    """Tell whether an update ends in the middle of a sentence."""
    if update["sessionUpdate"] not in ("agent_message_chunk", "agent_thought_chunk"):
        return False
    text = lenient.text(lenient.mapping(update, "content"), "text").rstrip(" ")
    return bool(text) and not text.endswith((".", "!", "?", ":", "\n", "`"))


def compaction(given: Json) -> list[Json]:
    name = lenient.text(given, "compactionId")
    update: Json = {"sessionUpdate": given["sessionUpdate"], "compactionId": name, **_meta(given)}
    if not name:
        return []
    if given["sessionUpdate"] == "compaction_summary_chunk":
        return [{**update, "content": block(lenient.mapping(given, "content"))}]
    update["status"] = lenient.text(given, "status") or "in_progress"
    if isinstance(given.get("summary"), list):
        update["summary"] = [block(item) for item in lenient.mappings(given, "summary")]
    if lenient.text(given, "error"):
        update["error"] = given["error"]
    return [update]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64


def _texts(given: Json, *keys: str) -> Json:
    return {key: given[key] for key in keys if isinstance(given.get(key), str)}


def _meta(given: Json) -> Json:
    return {"_meta": given["_meta"]} if isinstance(given.get("_meta"), dict) else {}
