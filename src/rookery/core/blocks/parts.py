"""Converting ACP content to parts, the closed set of looks: markdown, diff, terminal, checklist,
image, link, form, json.

Whatever the input, a list of parts stays small enough for one op: what does not fit is cut, and the
part says how much."""

from collections.abc import Iterable, Iterator
from typing import Any

from rookery.core.json import Json, dumps, lenient
from rookery.core.tools.calls import key_of
from rookery.core.tools.edit_lines import Line, in_content, in_input, lines_of

type Part = dict[str, Any]

ROOM = 40_000
"""Bytes of JSON for the parts of one block, well below an op's 64 KiB."""

CONTEXT = 3
"""Unchanged lines kept around a diff's change."""

DEEPEST = 6
WIDEST = 50


def from_tool_content(content: list[Any], call: Json | None = None) -> list[Part]:
    """Return the parts of a tool call's content list. `call`: the call's other fields."""
    whole = {**(call or {}), "content": content}
    lines = iter(lines_of(whole, in_content(whole)))
    return fit([part for item in content for part in _tool_parts(item, lines)])


def from_blocks(blocks: list[Any]) -> list[Part]:
    """Return the parts of a prompt's blocks, or other ACP content, that are not plain text."""
    made = map(from_block, blocks)
    return fit([part for part in made if part["type"] != "markdown" or "name" in part])


def _tool_parts(item: object, lines: Iterator[Line]) -> list[Part]:
    match item:
        case {"type": "content", "content": content}:
            return [from_block(content)]
        case {"type": "diff", "newText": str(new), **rest}:
            old, line = rest.get("oldText"), next(lines, None)
            path = lenient.text(rest, "path")
            return [diff(path, old if isinstance(old, str) else None, new, line)]
        case {"type": "diff", "patch": {"text": str(patch)}} if hunks := _hunks(patch):
            return hunks
        case {"type": "terminal", "terminalId": str(name)}:
            return [{"type": "terminal", "id": name, "text": ""}]
    return [from_block(item)]


def _hunks(patch: str) -> list[Part]:
    from rookery.core.tools.git_patches import hunks  # few agents send one

    return [
        diff_part(each.path, each.old, each.new, each.line) | {"newLine": each.new_line}
        for each in hunks(patch)
    ]


def from_block(block: object) -> Part:
    match block:
        case {"type": "text", "text": str(text)}:
            return {"type": "markdown", "text": text}
        case {"type": "image" | "audio" as kind, "data": str(data), **rest}:
            mime = lenient.text(rest, "mimeType") or f"{kind}/*"
            return {"type": "image", "mime": mime, "bytes": len(data) * 3 // 4} | _name(rest)
        case {"type": "image", "blob": str(blob), **rest}:
            return _picture(rest, blob, lenient.text(rest, "name"))
        case {"type": "resource_link", "uri": str(uri), **rest}:
            name = lenient.text(rest, "title") or lenient.text(rest, "name") or uri
            return {"type": "link", "uri": uri, "name": name}
        case {"type": "resource", "resource": {"kept": str(kept), "width": int(), "uri": str(uri)}}:
            return _picture(lenient.mapping(block, "resource"), kept, uri.rpartition("/")[2])
        case {"type": "resource", "resource": {"uri": str(uri), **rest}}:
            if isinstance(rest.get("text"), str):
                return {"type": "markdown", "text": rest["text"], "name": uri}
            name = uri.rpartition("/")[2] if "kept" in rest else uri
            return {"type": "link", "uri": uri, "name": name or uri}
    return {"type": "json", "value": block}


def _picture(given: object, blob: str, name: str) -> Part:
    """Return the part of a picture whose bytes the log keeps. Earlier builds wrote no size; a size
    of 0 means that the bytes are no picture that can be shown."""
    about = {key: lenient.integer(given, key) for key in ("width", "height")}
    size = {key: value for key, value in about.items() if value is not None}
    mime, count = lenient.text(given, "mimeType"), lenient.integer(given, "bytes") or 0
    part = {"type": "image", "mime": mime, "bytes": count, "blob": blob}
    return part | size | _name({"name": name})


def kept_pictures(parts: Iterable[Part]) -> list[Part]:
    """Return the pictures whose bytes the log has."""
    return [part for part in parts if part.get("type") == "image" and part.get("blob")]


def unshown(picture: Part) -> str:
    """Return why a picture that the log keeps cannot be shown; "" if it probably can."""
    width, height = lenient.integer(picture, "width"), lenient.integer(picture, "height")
    if width is None or height is None:
        return ""
    if width <= 0 or height <= 0:
        return "not a picture that can be shown"
    from rookery.core.json.image_bytes import Picture  # a first picture of the screen has none

    return Picture("", width, height).refusal


def _name(image: object) -> Part:
    name = lenient.text(image, "name")
    return {"name": name[:200]} if name else {}


def diff(path: str, old: str | None, new: str, line: Line = 1) -> Part:
    """Return a diff of just what changed: agents often send whole files, whose equal ends say
    nothing. `line`: where the texts begin in the file."""
    if not old:
        return diff_part(path, old, new, line)
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    head, tail = (max(0, equal - CONTEXT) for equal in equal_ends(before, after))
    cut_old, cut_new = ("".join(text[head : len(text) - tail]) for text in (before, after))
    return diff_part(path, cut_old, cut_new, None if line is None else line + head)


def diff_part(path: str, old: str | None, new: str, line: Line) -> Part:
    return {"type": "diff", "path": path, "old": old, "new": new, "line": line}


def equal_ends(before: list[str], after: list[str]) -> tuple[int, int]:
    """Return how many lines are equal at the beginning, and at the end."""
    shortest, head, tail = min(len(before), len(after)), 0, 0
    while head < shortest and before[head] == after[head]:
        head += 1
    while tail < shortest - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return head, tail


def outline(value: Any) -> Any:
    """Return a value unchanged if it fits into ROOM, else an outline of the same type that does."""
    if not exceeds(value, ROOM) and len(dumps(value)) <= ROOM:
        return value
    short = _shallow(value, ROOM // 8, DEEPEST)
    return short if len(dumps(short)) <= ROOM else type(value)()


# --- fitting -----------------------------------------------------------------------------------


def exceeds(value: Any, room: int) -> bool:
    """Whether a value surely takes more than `room` bytes of JSON, judged without serialising it:
    an output of 30 MB is not written out just to be measured."""
    left, heap = room, [value]
    while heap and left >= 0:
        value = heap.pop()
        left -= len(value) if isinstance(value, str | dict | list) else 0
        if isinstance(value, dict | list) and left >= 0:
            heap += [*value, *value.values()] if isinstance(value, dict) else value
    return left < 0


def fit(parts: list[Part], room: int = ROOM) -> list[Part]:
    """Return the parts, cut so that together they take at most about `room` bytes of JSON."""
    kept: list[Part] = []
    for place, part in enumerate(parts):
        fitting, size = part, room + 1 if exceeds(part, room) else len(dumps(part))
        if size > room:
            fitting = _cut(part, max(room, 400))
            size = len(dumps(fitting))
        if size > room:
            left = len(parts) - place
            return [*kept, {"type": "markdown", "text": f"… {left} more", "cut": left}]
        kept.append(fitting)
        room -= size
    return kept


def whole(actions: Iterable[Part]) -> list[Part]:
    """Return the actions that an op can carry: a cut one would be useless."""
    kept, room = [], ROOM
    for action in actions:
        room -= len(dumps(action))
        if room >= 0:
            kept.append(action)
    return kept


def _cut(part: Part, room: int) -> Part:
    if part["type"] == "json":
        return {**part, "value": _shallow(part["value"], room // 8, DEEPEST), "cut": 1}
    if part["type"] == "checklist":
        share = max(40, room // len(part["items"]) - 80)
        items = [{**item, "text": _clip(item["text"], share)} for item in part["items"]]
        return {**part, "items": items, "cut": 1}
    cut = dict(part)
    lost = 0
    keys = ("text", "old", "new", "uri", "name", "path")
    texts = [key for key in keys if isinstance(part.get(key), str)]
    for key in texts:
        cut[key] = _clip(part[key], (room - 200) // len(texts))
        lost += len(part[key]) - len(cut[key])
    cut["cut"] = lost
    return cut


def _clip(text: str, room: int) -> str:
    """Return the longest beginning of a text that takes at most `room` bytes of JSON."""
    text = text[: max(0, room)]  # no character takes less than one
    while text and (size := len(dumps(text))) > room:
        text = text[: min(len(text) - 1, len(text) * room // size)]
    return text


def _shallow(value: object, budget: int, levels: int) -> object:
    """Return a value's outline of about `budget` bytes: long, wide and deep values are cut."""
    if isinstance(value, str):
        longest = max(16, budget // 2)
        return value if len(value) <= longest else value[:longest] + "…"
    if isinstance(value, dict | list):
        if levels <= 0 or budget < 64:
            return f"… ({len(value)} inside)"
        share = budget // max(1, min(len(value), WIDEST))
        if isinstance(value, list):
            short = [_shallow(item, share, levels - 1) for item in value[:WIDEST]]
            return short if len(value) <= WIDEST else [*short, f"… ({len(value) - WIDEST} more)"]
        items = list(value.items())[:WIDEST]
        return {key[: max(16, share)]: _shallow(item, share, levels - 1) for key, item in items}
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
        return "… (a very large number)"
    return value


def diffs(call: Json) -> list[Json]:
    """Return the changes that a call shows, each whole but for the equal ends of the file."""
    entries = []
    base = {"call": key_of(call), "kind": lenient.text(call, "kind", "other")[:40]}
    changes = in_content(call)
    for change, line in zip(changes, lines_of(call, changes), strict=True):
        made = diff(*change, line)
        del made["type"]
        entries.append({"what": "diff", **base, **made})
    return entries


def stated(call: Json) -> list[Part]:
    """Return the changes stated outside a call's content, as parts; empty if there are none, or the
    content shows one itself. OpenHands puts both texts of the file into its observation, swival the
    two strings into its input."""
    if any(lenient.text(each, "type") == "diff" for each in lenient.mappings(call, "content")):
        return []
    made = _observed(call) or _given(call)
    return fit([made]) if made else []


def _observed(call: Json) -> Part | None:
    seen = lenient.mapping(lenient.mapping(call, "rawOutput"), "observation")
    old, new = seen.get("old_content"), seen.get("new_content")
    path = lenient.text(seen, "path")
    if not path or not isinstance(new, str) or old == new:
        return None
    return diff(path, old if isinstance(old, str) else None, new)


def _given(call: Json) -> Part | None:
    changes = in_input(call)
    pairs = zip(changes, lines_of(call, changes), strict=True)
    return next((diff(*change, line) for change, line in pairs), None)
