"""The recap of a lost conversation that the one begun in its place is given."""

from collections.abc import Sequence

from openhands.sdk.event import ActionEvent, Event, MessageEvent
from openhands.sdk.llm import Message, TextContent

MAX_RECAP_LENGTH = 12_000
"""Characters of a recap; the latest are kept."""
PART = 1_500
HEAD = (
    "This conversation was begun before, on a machine that is gone with its files. What was said "
    "and done there, shortened, oldest first. Check what exists before you build on it:"
)


def recap_of(events: Sequence[Event]) -> str:
    """Return a recap of these events; "" if there is nothing to tell."""
    lines: list[str] = []
    left = MAX_RECAP_LENGTH
    for event in reversed(events):
        line = _line(event)
        if not line:
            continue
        left -= len(line)
        if left < 0:
            lines.append("…")
            break
        lines.append(line)
    return "\n".join([HEAD, *reversed(lines)]) if lines else ""


def _line(event: Event) -> str:
    if isinstance(event, MessageEvent) and event.source in ("user", "agent"):
        text = text_of(event.llm_message).strip()
        who = "The user" if event.source == "user" else "You"
        return f"{who}: {text[:PART]}" if text else ""
    if isinstance(event, ActionEvent) and event.action is not None:
        given = event.action.model_dump(exclude_none=True, exclude={"kind"})
        detail = str(given.get("message") or given.get("thought") or given)[:PART]
        return f"You called {event.tool_name}: {detail}"
    return ""


def text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.content if isinstance(part, TextContent))
