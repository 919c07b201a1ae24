"""The queue strip: prompts that wait for the turn to end, in order. Each can be edited, moved,
removed or sent now."""

from rookery.core.agent.prompt import words_of
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.export.html.text import esc_line, tag

MAX_TEXT_LENGTH = 400


def rendered(header: Header) -> str:
    """Render the strip, or "" if nothing waits."""
    items = header.queue
    if not items:
        return ""
    held = _is_held(header)
    rows = "".join(_row(item, at, len(items), held) for at, item in enumerate(items))
    note = ""
    if held:
        ended = "was cancelled" if header.reason in ("cancelled", "forced") else "failed"
        note = tag("p", f"Held, since the last turn {ended}: send or remove them.", "soft")
    label = "Queued prompts"
    return f'{note}<ol class="queue" aria-label="{label}">{rows}</ol>'


def _is_held(header: Header) -> bool:
    """Tell whether the queue is held: after a failed turn, prompts wait until the user
    continues."""
    ended = header.reason if header.state == "idle" else ""
    placeless = all(item.get("placeless") for item in header.queue)
    return ended not in ("", "end_turn") and not placeless


def _row(item: Json, at: int, count: int, held: bool) -> str:
    name = esc_line(lenient.text(item, "id"), 200)
    blocks = lenient.sequence(item, "prompt")
    summary = esc_line(words_of(blocks), MAX_TEXT_LENGTH)
    others = sum(lenient.text(block, "type") != "text" for block in blocks)
    files = tag("span", f"+{others} file{'s' if others > 1 else ''}", "soft") if others else ""
    place = "Next" if at == 0 else str(at + 1)
    label = tag("span", "Held" if held else place, "nth")
    body = f'<span class="said" dir="auto">{summary or "(no text)"}</span>'
    moves = _button("up", "Earlier", at == 0) + _button("down", "Later", at == count - 1)
    acts = _button("edit", "Edit") + _button("send", "Send now") + _button("remove", "Remove")
    tools = tag("span", (moves if count > 1 else "") + acts, "acts")
    drag = ' draggable="true"' if count > 1 else ""
    about = f'id="q-{name}" data-item="{name}" data-at="{at}"{drag}'
    return f"<li {about}>{label}{body}{files}{tools}</li>"


def _button(op: str, label: str, off: bool = False) -> str:
    arrow = {"up": "↑", "down": "↓"}.get(op, "")
    shown = f'<span aria-hidden="true">{arrow}</span>' if arrow else label
    about = f' aria-label="{label}" title="{label}"' if arrow else ""
    kind = "quiet move" if arrow else "quiet"
    disabled = " disabled" if off else ""
    return (
        f'<button type="button" class="{kind}" data-do="queue" data-op="{op}"{about}{disabled}>'
        f"{shown}</button>"
    )
