"""The changes that a tool call shows, for an ask: each whole, where a block's part may be cut."""

from rookery.core import loose, parts
from rookery.core.calls import key_of
from rookery.core.events import Json


def diffs(call: Json) -> list[Json]:
    """The changes that a call shows, each whole but for the equal ends of the file."""
    found = []
    base = {"call": key_of(call), "kind": loose.text(call, "kind", "other")[:40]}
    for part in loose.mappings(call, "content"):
        if loose.text(part, "type") == "diff" and isinstance(part.get("newText"), str):
            old = part.get("oldText")
            made = parts.diff(
                loose.text(part, "path"), old if isinstance(old, str) else None, part["newText"]
            )
            del made["type"]
            found.append({"what": "diff", **base, **made})
    return found
