"""What happens to a conversation rather than in it: condensed, hooked, paused, failed."""

from typing import Any

from rookery.agent.translate import content
from rookery.core.json import Json

INTERNAL = {
    *("SystemPromptEvent", "ConversationStateUpdateEvent", "SecurityAnalysisEvent"),
    *("TokenEvent", "LLMCompletionLogEvent", "StreamingDeltaEvent"),
    *("CondensationRequest", "CondensationSummaryEvent"),
}
"""Events for the SDK alone."""


def notice(text: str, severity: str, understood: bool) -> list[Json]:
    if not understood:
        return content.thought(text, "")
    title, _, rest = text.partition("\n")
    update: Json = {"sessionUpdate": "notice", "severity": severity, "title": title}
    return [update | ({"description": rest.strip()} if rest.strip() else {})]


def condensation(event: Any, understood: bool) -> list[Json]:
    summary = (event.summary or "").strip()
    if understood:
        update: Json = {"sessionUpdate": "compaction_update", "compactionId": event.id}
        told = {"summary": [content.text_block(summary)]} if summary else {}
        return [update | {"status": "completed"} | told]
    count = len(event.forgotten_event_ids)
    what = "1 event" if count == 1 else f"{count} events"
    text = f"The conversation was condensed: a summary replaces {what}."
    return content.thought(f"{text}\n\n{summary}" if summary else text, event.id)


def hook(event: Any, understood: bool) -> list[Json]:
    """A hook that succeeded is not shown."""
    if event.success and not event.blocked:
        return []
    about = f" ({event.tool_name})" if event.tool_name else ""
    what = "blocked this" if event.blocked else f"failed with exit code {event.exit_code}"
    reason = (event.reason if event.blocked else event.error) or event.stderr.strip()
    text = f"A hook at {event.hook_event_type}{about} {what}"
    text = f"{text}: {content.shortened(reason, 2_000)}" if reason else f"{text}."
    return notice(text, "warning", True) if understood else content.thought(text, event.id)


def error(event: Any) -> list[Json]:
    return content.message(f"The conversation stopped: {event.detail or event.code}", event.id)
