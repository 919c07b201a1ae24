"""Icons, hand-drawn as strokes on a 16 px grid, and the marks of a session's state, each with a
shape of its own, so that no state is conveyed by colour alone."""

_STROKES = {
    "archive": "M2 3h12v3H2zM3 6v7h10V6M6.5 9h3",
    "attach": "M13 7.5 8 12.5a3 3 0 0 1-4.3-4.3l5.5-5.4a2 2 0 0 1 2.8 2.8L6.7 11",
    "back": "M10 3 5 8l5 5",
    "bell": "M4 11.5V7.5a4 4 0 0 1 8 0v4l1 1H3zM6.7 14.3h2.6",
    "check": "m3 8.5 3.2 3.2L13 5",
    "clock": "M8 2.2a5.8 5.8 0 1 0 .01 0M8 5v3.2l2.2 1.6",
    "close": "m4 4 8 8M12 4l-8 8",
    "commands": "M3 4.5 6.5 8 3 11.5M8 12h5",
    "copy": "M5.5 5.5h7v8h-7zM3.5 10.5v-8h7",
    "diff": "M8 2.5v5M5.5 5h5M5.5 12h5",
    "expand": "M9.5 3H13v3.5M13 3 9 7M6.5 13H3V9.5M3 13l4-4",
    "folder": "M2 12.5v-9h4l1.5 2H14v7z",
    "inbox": "M2 9 4 3h8l2 6v4H2zM2 9h3.5l1 1.8h3L10.5 9H14",
    "more": "M3.5 8h.01M8 8h.01M12.5 8h.01",
    "pencil": "m3 13 .7-2.9L10.8 3l2.2 2.2L5.9 12.3z",
    "pin": "M6 2.5h4l-.5 4 2 2.5h-7l2-2.5zM8 9v4.5",
    "plus": "M8 3v10M3 8h10",
    "search": "M7 2.5a4.5 4.5 0 1 0 .01 0M10.3 10.3 13.5 13.5",
    "send": "M8 13V3.5M4 7.2 8 3.3l4 3.9",
    "sliders": "M2 5h7M12 5h2M9 3.5v3M2 11h2M7 11h7M7 9.5v3",
    "stop": "M4.5 4.5h7v7h-7z",
    "trash": "M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.6 9h5.8l.6-9",
}
_FILLED = {
    "needs-you": "M8 3.2 12.8 8 8 12.8 3.2 8z",
    "failed": "M8 3.5 13 12.5H3z",
    "damaged": "M8 3.5 13 12.5H3z",
    "hung": "M8 3.5 13 12.5H3z",
    "limited": "M8 3.5 13 12.5H3z",
    "held": "M4.5 4h2.5v8H4.5zM9 4h2.5v8H9z",
    "to-read": "M8 4.5a3.5 3.5 0 1 0 .01 0",
    "idle": "M8 5a3 3 0 1 0 .01 0",
    "asleep": "M8 5a3 3 0 1 0 .01 0",
}
_DRAWN = {
    "running": "M10.8 5.2a4 4 0 1 0 0 5.6",
    "waiting": "M8 4.5a3.5 3.5 0 1 0 .01 0",
    "not-begun": "M8 5a3 3 0 1 0 .01 0",
    "not-loaded": "M8 5a3 3 0 1 0 .01 0",
}


def icon(name: str) -> str:
    """Render a stroke icon in the colour of the text. It is hidden from screen readers; its meaning
    must be given beside it."""
    return (
        f'<svg class="icon16" viewBox="0 0 16 16" aria-hidden="true">{_path(_STROKES[name])}</svg>'
    )


def button(name: str, do: str, label: str, more: str = "") -> str:
    """Render a button that shows only an icon. `label` and `more`, further attributes, are HTML."""
    about = f'data-do="{do}" aria-label="{label}"{more}'
    return f'<button type="button" class="quiet icon" {about}>{icon(name)}</button>'


def state(name: str, label: str) -> str:
    """Render the mark of a session's condition (core/view/states)."""
    kind = name if name in _FILLED or name in _DRAWN else "idle"
    path = _path(_FILLED.get(kind) or _DRAWN[kind])
    drawn = "" if kind in _FILLED else " drawn"
    return (
        f'<svg class="state {kind}{drawn}" viewBox="0 0 16 16" role="img" aria-label="{label}">'
        f"{path}</svg>"
    )


def _path(strokes: str) -> str:
    return f'<path d="{strokes}"/>'
