"""The composer, where prompts are written. `composer.js` brings it to life; typed text stays in the
browser and is never part of this HTML."""

from rookery.client.attach import LARGEST, MAX_FILES, TOGETHER
from rookery.core.header import Header
from rookery.core.json import lenient
from rookery.daemon.pieces.forms import ONLY_BY_SCRIPT
from rookery.daemon.pieces.session_bar import icon
from rookery.export.html.text import esc_line

CLIP = (
    "M12.5 7 7.5 12a2.8 2.8 0 0 1-4-4l5.6-5.6a1.9 1.9 0 0 1 2.7 2.7"
    "l-5.4 5.4a.9.9 0 0 1-1.3-1.3l4.5-4.5"
)
SEND = '<path d="M8 13V3M4 7l4-4 4 4"/>'
STOP = '<rect x="4" y="4" width="8" height="8" rx="1"/>'


def rendered(session: str, header: Header, closed: str) -> str:
    """Render the composer. `closed` says why nothing can be sent; "" means that it can."""
    if closed:
        return f'<p class="composer closed soft" role="note">{esc_line(closed)}</p>'
    facts = {
        "session": session,
        "cwd": header.cwd,
        "images": _takes_images(header),
        "files": MAX_FILES,
        "largest": LARGEST,
        "together": TOGETHER,
    }
    data = "".join(f' data-{key}="{esc_line(str(value))}"' for key, value in facts.items())
    return (
        '<ul id="outbox" class="outbox" aria-label="Not sent yet" data-keep></ul>'
        f'<form class="composer" {ONLY_BY_SCRIPT} data-do="send" data-keep{data}>'
        '<div class="editing" hidden><span>Editing a waiting prompt</span>'
        '<button type="button" class="quiet" data-do="stop-editing">Cancel</button></div>'
        f'<ul class="attached" aria-label="Attached" hidden></ul>{_field()}'
        f'<div class="acts">{_left()}<span class="hint soft"></span>{_right()}</div>'
        f'<input type="file" id="picker" multiple hidden></form>'
    )


def _takes_images(header: Header) -> str:
    """Return whether the agent takes images: "1", "0", or "" before it has said so."""
    takes = header.capabilities
    if not takes:
        return ""
    return "1" if lenient.flag(lenient.mapping(takes, "promptCapabilities"), "image") else "0"


def _field() -> str:
    return (
        '<textarea id="prompt" name="prompt" rows="1" dir="auto" aria-label="Prompt" '
        'aria-autocomplete="list" autocapitalize="sentences" '
        'enterkeyhint="enter" placeholder="Ask for something"></textarea>'
    )


def _left() -> str:
    clip = icon(f'<path d="{CLIP}"/>')
    label = 'aria-label="Attach files" title="Attach files"'
    return (
        f'<button type="button" class="icon" data-do="attach" {label}>{clip}</button>'
        '<button type="button" class="chip" data-do="mention">@ file</button>'
        '<button type="button" class="chip" data-do="slash">/ command</button>'
    )


def _right() -> str:
    stop = 'aria-label="Stop the turn" title="Stop the turn (Ctrl+.)"'
    send = 'aria-label="Send" title="Send"'
    return (
        '<button type="button" class="danger force" data-do="force-end" hidden>Force end</button>'
        f'<button type="button" class="icon stop" data-do="cancel" {stop} hidden>'
        f"{icon(STOP)}</button>"
        f'<button type="submit" class="icon primary" {send}>{icon(SEND)}</button>'
    )
