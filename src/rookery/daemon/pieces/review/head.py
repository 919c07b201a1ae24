"""The head of changes, the timeline or a file: beside the transcript, or on a screen of its own."""

from urllib.parse import quote

from rookery.daemon.pieces import icons


def rendered(session: str, title: str, acts: str, *, side: bool, close: str) -> str:
    """Render the head. `title` and `acts` are HTML; `close` labels the button that closes it."""
    if side:
        acts += icons.button("close", "close-side", close)
    else:
        back = f'href="/sessions/{quote(session)}" aria-label="Back to the session"'
        title = f'<a class="button quiet icon" {back}>{icons.icon("back")}</a>{title}'
    return f'<header class="side-head">{title}<span class="acts">{acts}</span></header>'
