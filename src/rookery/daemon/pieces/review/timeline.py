"""A session's turns as a column: the prompt, the duration, and marks for what happened."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple
from urllib.parse import quote

from rookery.core import budgets, units
from rookery.core.agent.prompt import words_of
from rookery.core.json import Event, lenient, secrets
from rookery.core.json.safe_text import count
from rookery.core.view.fleet import FAILED
from rookery.core.view.states import ENDINGS
from rookery.daemon.pieces.review import head
from rookery.export.html.text import esc_line, tag

MARKS = 12
"""How many marks of a turn are drawn; the rest are only counted."""
WORDS = 120
KINDS = ("_prompt", "_turn", "_ask")
"""Events that are read; of all others the kind says enough."""

type Row = tuple[int, int, str, int]
"""Seq, time, kind and turn of an event."""


class Mark(NamedTuple):
    kind: str
    """tools, ask, steered, limited or failed."""
    seq: int
    many: int = 1
    label: str = ""


class Turn(NamedTuple):
    n: int
    seq: int
    at: int
    marks: list[Mark]
    text: str = ""
    ended: int = 0
    """When; 0: it goes on."""


class Page(NamedTuple):
    session: str
    turns: Sequence[Turn]
    last: int
    """The number of the session's last turn."""
    cut: bool = False
    """The last turn is too long to be looked through."""


def turns_of(rows: Iterable[Row], events: Iterable[Event]) -> list[Turn]:
    """Build the turns from rows of the outline; `events` are those of the rows whose kind is one of
    KINDS."""
    by_seq = {event.seq: event for event in events}
    turns: list[Turn] = []
    for seq, at, kind, n in rows:
        if n < 1:
            continue
        if not turns or turns[-1].n != n:
            turns.append(Turn(n, seq, at, []))
        turns[-1] = _after(turns[-1], seq, at, kind, by_seq.get(seq))
    return turns


def _after(turn: Turn, seq: int, at: int, kind: str, event: Event | None) -> Turn:
    last = turn.marks[-1] if turn.marks else None
    match kind:
        case "tool_call" if last and last.kind == "tools":
            turn.marks[-1] = last._replace(many=last.many + 1)
        case "tool_call":
            turn.marks.append(Mark("tools", seq))
        case "agent_message_chunk" if last and last.kind == "tools":
            turn.marks.append(Mark("", seq))
        case "_prompt" if event:
            text = words_of(lenient.sequence(event.update, "prompt"))
            text = "Continued after the budget pause" if budgets.is_own(event.update) else text
            if not turn.text and event.update.get("steered") is not True:
                return turn._replace(seq=seq, at=at, text=text[: 4 * WORDS])
            turn.marks.append(Mark("steered", seq, label=text[:WORDS]))
        case "_ask" if event and event.update.get("state") == "asked":
            turn.marks.append(Mark("ask", seq))
        case "_turn" if event:
            return _state(turn, event)
    return turn


def _state(turn: Turn, event: Event) -> Turn:
    if event.update.get("state") != "idle":
        return turn._replace(ended=0)
    reason = lenient.text(event.update, "reason")
    if reason in FAILED or reason == "rate_limited":
        kind = "failed" if reason in FAILED else "limited"
        turn.marks.append(Mark(kind, event.seq, label=ENDINGS.get(reason, reason)))
    return turn._replace(ended=event.at)


# --- as HTML -------------------------------------------------------------------------------------

LOOKS = {"tools": "▪", "ask": "◆", "steered": "▸", "limited": "▲", "failed": "▲"}


def rendered(page: Page, *, side: bool) -> str:
    top = _head(page, side)
    if not page.turns:
        return _frame(page, top + tag("div", "<p>No turns yet.</p>", "empty"))
    first = page.turns[0].n
    above = ""
    if first > 1:
        above = (
            f'<p class="more"><a class="button quiet small" data-do="turns" data-turn="{first - 1}"'
            f' href="{_address(page)}?turn={first - 1}">Earlier turns</a></p>'
        )
    end, below = page.turns[-1].n, ""
    if end < page.last:
        below = (
            f'<p class="more"><a class="button quiet small" data-do="turns" data-turn="{page.last}"'
            f' href="{_address(page)}">The last turns</a></p>'
        )
    rows = "".join(_turn(page, turn) for turn in page.turns)
    return _frame(
        page, f'{top}<div class="patch">{above}<ol class="turns">{rows}</ol>{below}</div>'
    )


def _frame(page: Page, inner: str) -> str:
    about = f'data-session="{esc_line(page.session)}" aria-label="Timeline"'
    return f'<section class="timeline changes" {about}>{inner}</section>'


def _address(page: Page) -> str:
    return f"/sessions/{quote(page.session)}/timeline"


def _head(page: Page, side: bool) -> str:
    jump = ""
    if page.last > len(page.turns):
        jump = (
            f'<form class="jump soft" data-do="turns" action="{_address(page)}"><label>Turn '
            f'<input name="turn" type="number" min="1" max="{page.last}" required></label> of '
            f"{page.last:,}</form>"
        )
    other = '<button type="button" class="quiet small" data-do="changes">Changes</button>'
    find = '<button type="button" class="small" data-do="find-here">Find</button>'
    title = f'<h2>Timeline</h2>{other if side else ""}<span class="soft"></span>'
    acts = find if side else ""
    return head.rendered(page.session, title, acts, side=side, close="Close timeline") + jump


def _turn(page: Page, turn: Turn) -> str:
    text = esc_line(secrets.masked(turn.text), WORDS) or "(no words)"
    took = units.duration((turn.ended - turn.at) / 1000) if turn.ended else "running"
    marks = [mark for mark in turn.marks if mark.kind]
    shown = "".join(_mark(page, mark) for mark in marks[:MARKS])
    left = len(marks) - MARKS
    shown += tag("span", f"+{left}", "soft") if left > 0 else ""
    return (
        f'<li><a href="{_at(page, turn.seq)}" data-do="at" data-seq="{turn.seq}">'
        f'<span class="n">{turn.n}</span><span class="words" dir="auto">{text}</span></a>'
        f'<p class="soft">{_when(turn.at)} · {took}{tag("span", shown, "marks") if shown else ""}'
        f"</p>{_ways(turn) if turn.ended else ''}</li>"
    )


def _ways(turn: Turn) -> str:
    return (
        f'<p class="ways"><button type="button" class="quiet small" data-do="rewind" '
        f'data-turn="{turn.n}">Rewind to here</button>'
        f'<button type="button" class="quiet small" data-do="fork" data-turn="{turn.n}">'
        "Fork here</button></p>"
    )


def _at(page: Page, seq: int) -> str:
    return f"/sessions/{quote(page.session)}?at={seq}"


def _mark(page: Page, mark: Mark) -> str:
    many = str(mark.many) if mark.many > 1 else ""
    match mark.kind:
        case "tools":
            label = count(mark.many, "tool call")
        case "ask":
            label = "Asked you"
        case "steered":
            label = f"You added: {mark.label}" if mark.label else "You added a prompt"
        case _:
            label = f"Ended: {mark.label}"
    return (
        f'<a class="m-{mark.kind}" href="{_at(page, mark.seq)}" data-do="at" data-seq="{mark.seq}" '
        f'title="{esc_line(label)}" aria-label="{esc_line(label)}">{LOOKS[mark.kind]}{many}</a>'
    )


def _when(at: int) -> str:
    try:
        moment = datetime.fromtimestamp(at / 1000).astimezone()
    except (OverflowError, OSError, ValueError):
        return ""
    return f"{moment.day} {moment:%b %H:%M}"
