"""Rendering a rewind, a fork and an import: a line between two turns, with its actions."""

from rookery.core.agent.imported import is_unloaded
from rookery.core.blocks.document import Op, block_of_event, change, put
from rookery.core.header import Header
from rookery.core.json import Event, Json, lenient
from rookery.core.json.safe_text import count
from rookery.core.turn import rewinding

UNDO: Json = {"label": "Undo", "command": {"do": "rewind", "undo": True}}
REDO: Json = {**UNDO, "label": "Rewind again"}
NAMED = 5
LOST = "The agent has no memory of earlier turns: your next prompt brings it a recap."


def rewound(before: Header, after: Header, event: Event) -> list[Op]:
    update = event.update
    match update.get("state"):
        case "failed":
            fields = {"title": "The rewind failed", "text": lenient.text(update, "message")}
            block = block_of_event(after, event, "notice", status="warn", **fields)
            half = after.rewound is not None and after.rewound["seq"] == event.seq
            return put(block | {"actions": [UNDO] if half else []})
        case "done":
            block = block_of_event(after, event, "divider", title=title(update), text=text(update))
            undo = REDO if update.get("undo") is True else UNDO
            block["actions"] = [undo, *_recap(update, event.seq)]
            return [*_settled(before), *put(block)]
    return []


def _settled(before: Header) -> list[Op]:
    """Remove the undo action of the previous rewind: only the last one can be undone."""
    last = before.rewound
    return change(f"{last['at']}.{last['seq']}", actions=[]) if last else []


def title(update: Json) -> str:
    if update.get("undo") is True:
        return "Rewind undone"
    turn = lenient.integer(update, "turn") or 0
    place = f"turn {turn}" if turn else "the beginning"
    match update.get("files") is True, update.get("conversation") is True:
        case True, False:
            return f"Files rewound to {place}"
        case False, True:
            return f"Conversation rewound to {place}"
    return f"Rewound to {place}"


def text(update: Json) -> str:
    sentences = []
    if update.get("files") is True:
        changed = lenient.integer(update, "changed") or 0
        sentences.append(f"{count(changed, 'file')} changed." if changed else "No file changed.")
    kept = lenient.mapping(update, "kept")
    if kept:
        names = [f"{path} ({why})" for path, why in list(kept.items())[:NAMED]]
        total = max(len(kept), lenient.integer(update, "keptTotal") or 0)
        more = f" and {total - NAMED:,} more" if total > NAMED else ""
        sentences.append(f"Not touched: {', '.join(names)}{more}.")
    if update.get("memory") == rewinding.LOST:
        sentences.append(LOST)
    return " ".join(sentences)


def _recap(update: Json, seq: int) -> list[Json]:
    if update.get("memory") != rewinding.LOST:
        return []
    return [{"label": "Recap", "compose": {"recap": seq}}]


def forked(before: Header, after: Header, event: Event) -> list[Op]:
    """Return the ops for a `_session`, of which only a fork and an import are shown."""
    source = lenient.mapping(event.update, "forkedFrom")
    if not source:
        return _imported(before, after, event)
    turn = lenient.integer(source, "turn") or 0
    title = f"Forked from {lenient.text(source, 'id')} at turn {turn}"
    lost = after.agent_session is None and turn > 0
    text = LOST if lost else ""
    block = block_of_event(after, event, "divider", title=title, text=text)
    recap: Json = {"label": "Recap", "compose": {"recap": event.seq}}
    return put(block | {"actions": [recap] if lost else []})


LOAD: Json = {"label": "Load", "command": {"do": "start"}}


def _imported(before: Header, after: Header, event: Event) -> list[Op]:
    """Show that only the agent has the history, until it is loaded."""
    if is_unloaded(before):
        return [] if is_unloaded(after) else [["drop", (before.agent_session or {})["unloaded"]]]
    if not is_unloaded(after):
        return []
    text = f"{after.agent} has the history of this session. It is loaded when you open it."
    block = block_of_event(after, event, "notice", text=text, status="info")
    return put(block | {"actions": [LOAD]})
