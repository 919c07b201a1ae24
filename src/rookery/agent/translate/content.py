"""ACP's content, made from the SDK's: text, images, diffs, and what is too long for one line."""

import json
import re
from collections.abc import Iterable
from typing import Any

from rookery.core.json.events import Json

LONGEST_TEXT = 400_000
LONGEST_IMAGE = 16_000_000
LONGEST_DIFF = 2_000_000
CONTEXT_LINES = 20

_DATA = re.compile(r"data:(image/[\w.+-]+);base64,(.*)", re.DOTALL)


def text_block(text: str) -> Json:
    return {"type": "text", "text": shortened(scalars(text))}


def shown(text: str) -> Json:
    """A tool's content that is prose."""
    return {"type": "content", "content": text_block(text)}


def fenced(text: str, language: str = "") -> Json:
    """A tool's content that is to be read letter by letter, whatever marks it holds."""
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return shown(f"{fence}{language}\n{shortened(text)}\n{fence}")


def shortened(text: str, most: int = LONGEST_TEXT) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters are left out here]\n{text[-half:]}"


def scalars(text: str) -> str:
    """Text that can be written as UTF-8, whatever a model made of its surrogates."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def image_block(url: str) -> Json:
    found = _DATA.match(url)
    if found is None:
        return {"type": "resource_link", "uri": url, "name": url.rpartition("/")[2] or url}
    if len(found[2]) > LONGEST_IMAGE:
        return text_block(f"[an image of {len(found[2])} characters is not shown]")
    return {"type": "image", "mimeType": found[1], "data": found[2]}


def blocks_of(contents: Iterable[Any]) -> list[Json]:
    """Of the SDK's TextContent and ImageContent; no empty ones."""
    blocks = []
    for item in contents:
        text = getattr(item, "text", None)
        if isinstance(text, str) and text.strip():
            blocks.append(text_block(text))
        blocks += [image_block(url) for url in getattr(item, "image_urls", None) or []]
    return blocks


def diff(path: str, old: str | None, new: str) -> Json:
    """`old` is None for a new file. What is too long is cut to where the two differ."""
    if len(old or "") + len(new) > LONGEST_DIFF:
        old, new = _changed_part(old, new)
    made: Json = {"type": "diff", "path": path, "oldText": None, "newText": scalars(new)}
    if old is not None:
        made["oldText"] = scalars(old)
    return made


def _changed_part(old: str | None, new: str) -> tuple[str | None, str]:
    if old is None:
        return None, shortened(new, LONGEST_DIFF)
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    first = max(0, start - CONTEXT_LINES)
    old, new = (
        "".join(lines[first : len(lines) - max(0, end - CONTEXT_LINES)])
        for lines in (before, after)
    )
    return shortened(old, LONGEST_DIFF), shortened(new, LONGEST_DIFF)


def _alike(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def dump(thing: Any) -> Any:
    """Whatever it is, as JSON: a model's fields, or its words."""
    try:
        if hasattr(thing, "model_dump"):
            return thing.model_dump(mode="json", exclude_none=True)
        return json.loads(json.dumps(thing, default=str))
    except (TypeError, ValueError, RecursionError, AttributeError):
        return {"kind": type(thing).__name__}
