"""Builds ACP's content from the SDK's: text, images and diffs, shortened if they are too long; and
what happens to a conversation rather than in it: condensed, hooked, paused, failed."""

import json
import os
import re
from collections.abc import Iterable
from typing import Any

from rookery.agent.provider.surrogates import whole
from rookery.core.blocks.parts import equal_ends
from rookery.core.json import Json, safe_text

LONGEST_TEXT = 400_000
LONGEST_IMAGE = 16_000_000
LONGEST_DIFF = 2_000_000
CONTEXT_LINES = 20

_DATA = re.compile(r"data:(image/[\w.+-]+);base64,(.*)", re.DOTALL)


def text_block(text: str) -> Json:
    return {"type": "text", "text": shortened(whole(text))}


def chunk(kind: str, block: Json, message_id: str) -> Json:
    update: Json = {"sessionUpdate": kind, "content": block}
    return update | ({"messageId": message_id} if message_id else {})


def message(text: str, message_id: str) -> list[Json]:
    return [chunk("agent_message_chunk", text_block(text), message_id)] if text else []


def thought(text: str, message_id: str) -> list[Json]:
    return [chunk("agent_thought_chunk", text_block(text), message_id)] if text else []


def shown(text: str) -> Json:
    """Return prose as a tool's content."""
    return {"type": "content", "content": text_block(text)}


def fenced(text: str, language: str = "") -> Json:
    """Return literal text as a tool's content."""
    fence = safe_text.fence(text)
    return shown(f"{fence}{language}\n{shortened(text)}\n{fence}")


def shortened(text: str, most: int = LONGEST_TEXT) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"


def image_block(url: str) -> Json:
    match = _DATA.match(url)
    if match is None:
        return {"type": "resource_link", "uri": url, "name": url.rpartition("/")[2] or url}
    if len(match[2]) > LONGEST_IMAGE:
        return text_block(f"[image not shown: {len(match[2])} characters]")
    return {"type": "image", "mimeType": match[1], "data": match[2]}


def blocks_of(contents: Iterable[Any]) -> list[Json]:
    """Convert the SDK's TextContent and ImageContent to blocks; no empty ones."""
    blocks = []
    for item in contents:
        text = getattr(item, "text", None)
        if isinstance(text, str) and text.strip():
            blocks.append(text_block(text))
        blocks += [image_block(url) for url in getattr(item, "image_urls", None) or []]
    return blocks


def diff(path: str, old: str | None, new: str) -> Json:
    """Build a diff; `old` None: a new file. Long texts are cut to where they differ."""
    if len(old or "") + len(new) > LONGEST_DIFF:
        old, new = _changed_part(old, new)
    before = None if old is None else whole(old)
    return {"type": "diff", "path": path, "oldText": before, "newText": whole(new)}


def now(path: str) -> str | None:
    """Return a file's text before a call that replaces or deletes it; None if there is none."""
    try:
        if not os.path.isfile(path):  # to open a pipe waits for who writes
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(LONGEST_DIFF)
    except (OSError, ValueError):
        return None


def _changed_part(old: str | None, new: str) -> tuple[str | None, str]:
    if old is None:
        return None, shortened(new, LONGEST_DIFF)
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    start, end = equal_ends(before, after)
    first = max(0, start - CONTEXT_LINES)
    old, new = (
        "".join(lines[first : len(lines) - max(0, end - CONTEXT_LINES)])
        for lines in (before, after)
    )
    return shortened(old, LONGEST_DIFF), shortened(new, LONGEST_DIFF)


def dump(thing: Any) -> Any:
    """Convert anything to JSON."""
    try:
        if hasattr(thing, "model_dump"):
            return thing.model_dump(mode="json", exclude_none=True)
        return json.loads(json.dumps(thing, default=str))
    except (TypeError, ValueError, RecursionError, AttributeError):
        return {"kind": type(thing).__name__}


INTERNAL = {
    *("SystemPromptEvent", "ConversationStateUpdateEvent", "SecurityAnalysisEvent"),
    *("TokenEvent", "LLMCompletionLogEvent", "StreamingDeltaEvent"),
    *("CondensationRequest", "CondensationSummaryEvent"),
}
"""Events for the SDK alone."""


def notice(text: str, severity: str, understood: bool) -> list[Json]:
    if not understood:
        return thought(text, "")
    title, _, rest = text.partition("\n")
    update: Json = {"sessionUpdate": "notice", "severity": severity, "title": title}
    return [update | ({"description": rest.strip()} if rest.strip() else {})]


PREFACE = "The prompts above are the user's own words. What was said and done since, summarized:\n"
"""For the model, before a summary that stands behind the prompts that were kept."""


def condensation(event: Any, understood: bool) -> list[Json]:
    summary = (event.summary or "").removeprefix(PREFACE).strip()
    if understood:
        update: Json = {"sessionUpdate": "compaction_update", "compactionId": event.id}
        fields = {"summary": [text_block(summary)]} if summary else {}
        return [update | {"status": "completed"} | fields]
    count = len(event.forgotten_event_ids)
    what = "1 event" if count == 1 else f"{count} events"
    text = f"The conversation was condensed: a summary replaces {what}."
    return thought(f"{text}\n\n{summary}" if summary else text, event.id)


def hook(event: Any, understood: bool) -> list[Json]:
    """Render a hook's result; one that succeeded is not shown."""
    if event.success and not event.blocked:
        return []
    about = f" ({event.tool_name})" if event.tool_name else ""
    what = "blocked this" if event.blocked else f"failed with exit code {event.exit_code}"
    reason = (event.reason if event.blocked else event.error) or event.stderr.strip()
    text = f"A hook at {event.hook_event_type}{about} {what}"
    text = f"{text}: {shortened(reason, 2_000)}" if reason else f"{text}."
    return notice(text, "warning", True) if understood else thought(text, event.id)


def error(event: Any) -> list[Json]:
    return message(f"The conversation stopped: {event.detail or event.code}", event.id)
