"""Updates as the protocol allows them: an agent's stray fields, odd values and vendors' own kinds
must not make an editor drop a whole message."""

import os
from collections.abc import Callable, Iterator

from rookery.core.json import Json, dumps, lenient

LONGEST = 1_000_000
"""Characters of one chunk: each can take 12 bytes, and clients hang up at 32 MiB."""

KINDS = frozenset(
    ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode"]
)
STATUSES = frozenset(["pending", "in_progress", "completed", "failed"])
PRIORITIES = frozenset(["high", "medium", "low"])


def chunk(update: Json) -> list[Json]:
    """A message's chunk; a long text becomes several."""
    base = {"sessionUpdate": update["sessionUpdate"], **_meta(update)}
    if lenient.text(update, "messageId"):
        base["messageId"] = update["messageId"]
    content = block(lenient.mapping(update, "content"))
    if content["type"] != "text" or len(content["text"]) <= LONGEST:
        return [{**base, "content": content}]
    text = content["text"]
    pieces = [text[at : at + LONGEST] for at in range(0, len(text), LONGEST)]
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
    """A content block; one that the protocol does not know is shown as JSON."""
    kind = lenient.text(given, "type")
    needed = BLOCKS.get(kind)
    if needed is None or any(not isinstance(given.get(key), type_) for key, type_ in needed):
        return {"type": "text", "text": dumps(given)[:LONGEST]}
    found: Json = {"type": kind, **{key: given[key] for key, _ in needed}, **_meta(given)}
    found |= _texts(given, *EXTRAS_OF.get(kind, ()))
    if (size := lenient.integer(given, "size")) is not None and kind == "resource_link":
        found["size"] = size
    if kind == "resource":
        found["resource"] = _resource(given["resource"])
    return found


def _resource(given: Json) -> Json:
    found = {"uri": lenient.text(given, "uri"), **_meta(given), **_texts(given, "mimeType")}
    key = "blob" if isinstance(given.get("blob"), str) else "text"
    return {**found, key: lenient.text(given, key)}


def call(update: Json, cwd: str, show: Callable[[Json], Json | None]) -> Json:
    """The fields of a tool call, but for its id. `show`: what stands for a terminal's content."""
    found: Json = _meta(update) | _texts(update, "title", "name")
    if isinstance(update.get("kind"), str):
        found["kind"] = update["kind"] if update["kind"] in KINDS else "other"
    if update.get("status") in STATUSES:
        found["status"] = update["status"]
    if isinstance(update.get("content"), list):
        found["content"] = [
            part for item in lenient.mappings(update, "content") for part in _part(item, cwd, show)
        ]
    if isinstance(update.get("locations"), list):
        found["locations"] = list(_locations(update, cwd))
    for key in ("rawInput", "rawOutput"):
        if update.get(key) is not None:
            found[key] = update[key]
    return found


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
    """None without both numbers."""
    used, size = given.get("used"), given.get("size")
    if not _is_count(used) or not _is_count(size):
        return []
    found: Json = {"sessionUpdate": "usage_update", "used": used, "size": size, **_meta(given)}
    cost = lenient.mapping(given, "cost")
    if (amount := lenient.number(cost, "amount")) is not None:
        currency = lenient.text(cost, "currency") or "USD"
        found["cost"] = {"amount": amount, "currency": currency}
    return [found]


def notice(given: Json) -> Json:
    title = lenient.text(given, "title") or lenient.text(given, "message") or "Notice"
    found = {"sessionUpdate": "notice", "title": title, **_meta(given)}
    found["severity"] = lenient.text(given, "severity") or "info"
    if lenient.text(given, "description"):
        found["description"] = given["description"]
    return found


def shortened(update: Json) -> Json:
    """One that no line can carry."""
    small = {key: value for key, value in update.items() if not key.startswith("raw")}
    part = {"type": "text", "text": "(too large to show here)"}
    listed = [{"type": "content", "content": part}]
    return small | {"content": part if update["sessionUpdate"].endswith("_chunk") else listed}


def thought(given: Json) -> list[Json]:
    """An agent's notice, for an editor that knows none."""
    words = [lenient.text(given, key) for key in ("title", "description")]
    text = "".join(f"{each}\n" for each in words if each)
    content = {"type": "text", "text": text}
    return [{"sessionUpdate": "agent_thought_chunk", "content": content}] if text else []


def aside(name: str, words: str) -> Json:
    """Words of ours in the conversation, as a paragraph: most editors join messages in a row."""
    content = {"type": "text", "text": f"\n\n_{words}_\n\n"}
    return {"sessionUpdate": "agent_message_chunk", "messageId": name, "content": content}


def is_unfinished(update: Json) -> bool:
    """Whether an update ends in the middle of a sentence."""
    if update["sessionUpdate"] not in ("agent_message_chunk", "agent_thought_chunk"):
        return False
    text = lenient.text(lenient.mapping(update, "content"), "text").rstrip(" ")
    return bool(text) and not text.endswith((".", "!", "?", ":", "\n", "`"))


def compaction(given: Json) -> list[Json]:
    name = lenient.text(given, "compactionId")
    found: Json = {"sessionUpdate": given["sessionUpdate"], "compactionId": name, **_meta(given)}
    if not name:
        return []
    if given["sessionUpdate"] == "compaction_summary_chunk":
        return [{**found, "content": block(lenient.mapping(given, "content"))}]
    found["status"] = lenient.text(given, "status") or "in_progress"
    if isinstance(given.get("summary"), list):
        found["summary"] = [block(item) for item in lenient.mappings(given, "summary")]
    if lenient.text(given, "error"):
        found["error"] = given["error"]
    return [found]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64


def _texts(given: Json, *keys: str) -> Json:
    return {key: given[key] for key in keys if isinstance(given.get(key), str)}


def _meta(given: Json) -> Json:
    return {"_meta": given["_meta"]} if isinstance(given.get("_meta"), dict) else {}
