"""What happens to a conversation rather than in it: condensed, hooked, paused, failed."""

from typing import Any

from rookery.agent.translate import content
from rookery.core.json.events import Json

INTERNAL = {
    "SystemPromptEvent",
    "ConversationStateUpdateEvent",
    "SecurityAnalysisEvent",
    "TokenEvent",
    "LLMCompletionLogEvent",
    "CondensationRequest",
    "CondensationSummaryEvent",
    "StreamingDeltaEvent",
}
"""Events for the SDK alone."""


def notice(text: str, severity: str, understood: bool) -> list[Json]:
    if not understood:
        return content.thought(text, "")
    title, _, rest = text.partition("\n")
    update: Json = {"sessionUpdate": "notice", "severity": severity, "title": title}
    return [update | ({"description": rest.strip()} if rest.strip() else {})]


def condensation(event: Any, understood: bool) -> list[Json]:
    count = len(event.forgotten_event_ids)
    summary = (event.summary or "").strip()
    if understood:
        update: Json = {
            "sessionUpdate": "compaction_update",
            "compactionId": event.id,
            "status": "completed",
        }
        return [update | ({"summary": [content.text_block(summary)]} if summary else {})]
    what = "1 event" if count == 1 else f"{count} events"
    text = f"The conversation was condensed: a summary replaces {what}."
    return content.thought(f"{text}\n\n{summary}" if summary else text, event.id)


def hook(event: Any, understood: bool) -> list[Json]:
    """A hook that succeeded is not shown."""
    if event.success and not event.blocked:
        return []
    about = f" ({event.tool_name})" if event.tool_name else ""
    if event.blocked:
        text = f"A hook at {event.hook_event_type}{about} blocked this"
        reason = event.reason or event.stderr.strip()
    else:
        text = f"A hook at {event.hook_event_type}{about} failed with exit code {event.exit_code}"
        reason = event.error or event.stderr.strip()
    text = f"{text}: {content.shortened(reason, 2_000)}" if reason else f"{text}."
    return notice(text, "warning", True) if understood else content.thought(text, event.id)


def error(event: Any) -> list[Json]:
    return content.message(f"The conversation stopped: {event.detail or event.code}", event.id)
