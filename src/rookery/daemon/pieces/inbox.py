"""The inbox: one open ask with the session that it belongs to, and a list of the others."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rookery.core.ask import Ask, asks_of
from rookery.core.asks import links, together
from rookery.core.blocks import ask_actions, asks
from rookery.core.blocks.document import Block, make_block
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.core.json.secrets import masked, masked_json
from rookery.core.view.doing import wants
from rookery.core.view.fleet import NO_TITLE
from rookery.daemon.pieces import ask_form, icons
from rookery.daemon.pieces.fleet_list import shown_agent
from rookery.export.html import block as looks
from rookery.export.html import markdown
from rookery.export.html.block import coded
from rookery.export.html.text import esc, esc_line, tag
from rookery.export.html.view import View
from rookery.home.paths import with_tilde
from rookery.render.local_time import age

LEAD = 600
"""Characters of what was said before an ask."""

NOTIFY = (
    '<section class="notify" data-notify data-keep hidden aria-label="Notifications"></section>'
)


class Open(NamedTuple):
    """An ask that waits for the user."""

    head: Json
    ask: Ask
    block: Block
    at: float

    @property
    def name(self) -> str:
        return f"{self.head['id']}:{self.ask.id}"


class Context(NamedTuple):
    seq: int
    """The last event that is known."""
    blocks: list[Block]
    """The end of the session's transcript."""


def open_asks(head: Json, header: Header) -> list[Open]:
    """Return the open asks of one session."""
    waiting = (ask for ask in asks_of(header).values() if ask.is_waiting)
    return [Open(head, ask, _block(ask, header), float(ask.at or head["at"])) for ask in waiting]


def _block(ask: Ask, header: Header) -> Block:
    """Build the ask's block, as the transcript shows it."""
    block = make_block(
        ask.block or "ask",
        "ask",
        status="asked",
        title=ask.message or lenient.text(ask.call, "title"),
        kind=links.KIND if ask.is_link else lenient.text(ask.call, "kind", "other"),
        note=ask.why,
        danger=ask.danger,
        actions=ask_actions.answers(ask),
    )
    block["step"] = ask.step or None
    block["same"] = together.alike(asks_of(header)).get(ask.id, [])
    if ask.form is not None:
        block["parts"] = [{"type": "form", "schema": ask.form}]
        block["answer"] = {"ask": ask.id, "nonce": ask.nonce}
        return block
    return block if ask.decide else block | asks.fields(ask, header)


# --- as HTML -------------------------------------------------------------------------------------


def rendered(
    asks: list[Open], shown: Open | None, context: Context | None, now: float, *, read_only: bool
) -> str:
    if shown is None or context is None:
        return _nothing()
    others = [each for each in asks if each is not shown]
    line = f"{len(asks)} waiting" if len(asks) > 1 else "1 waiting"
    head = f'<h1>Inbox <span class="soft">{line}</span></h1>'
    body = _asking(shown, context, now, read_only=read_only)
    return head + body + (_others(others, now) if others else "") + NOTIFY


def _nothing() -> str:
    body = (
        f'<div class="empty">{icons.icon("inbox")}<p>Nothing needs you.</p>'
        '<p class="soft">Questions and approvals from all sessions appear here.</p>'
        '<p><a class="button" href="/">All sessions</a></p></div>'
    )
    return f"<h1>Inbox</h1>{body}{NOTIFY}"


def skipped(heads: Sequence[Json]) -> str:
    """Name the sessions that cannot be read, whose asks are therefore unknown; "" if there are
    none."""
    if not heads:
        return ""
    links = ", ".join(
        f'<a href="/sessions/{esc_line(str(head["id"]))}">{esc_line(str(head["id"]))}</a>'
        for head in heads
    )
    hint = "For the reason and what to do: <code>rookery doctor</code>"
    return f'<p class="soft">Questions of these sessions cannot be read: {links}. {hint}</p>'


def _asking(shown: Open, context: Context, now: float, *, read_only: bool) -> str:
    session = str(shown.head["id"])

    def actions(block: Block) -> str:
        return ask_form.actions(block, session, read_only=read_only)

    agent = shown_agent(shown.head)
    view = View(agent, str(shown.head["cwd"]), now, actions=actions, alone=True)
    before = _lead(context.blocks, plans=bool(asks.plan_in(shown.ask)))
    command = shown.block["actions"]
    card = looks.rendered({**masked_json({**shown.block, "actions": []}), "actions": command}, view)
    waits = f'<time class="soft age" data-since="{shown.at:.0f}">{_waits(shown, now)}</time>'
    place = esc_line(with_tilde(str(shown.head["cwd"])))
    about = (
        f'<p class="from"><a href="/sessions/{session}">{_title(shown.head)}</a>'
        f'<span class="soft">{esc_line(agent)} · {place}</span>{waits}</p>'
    )
    attributes = f'data-at="{esc_line(shown.name)}" data-session="{session}"'
    return (
        f'<article class="asking" {attributes} data-seq="{context.seq}">{about}{before}{card}'
        "</article>"
    )


def _lead(blocks: Iterable[Block], *, plans: bool) -> str:
    """Render the prompt and the agent's last answer. The answer is left out if the ask `plans`,
    since it then contains the whole plan."""
    roles = {block["role"]: block for block in blocks if str(block["text"]).strip()}
    html = ""
    if (prompt := roles.get("prompt")) is not None:
        text = masked(prompt["text"].strip())
        text = text if len(text) <= LEAD else f"{text[:LEAD].rstrip()}…"
        text = f'<div class="said" dir="auto">{esc(text)}</div>'
        html += tag("div", tag("div", text, "own"), "block prompt")
    if (answer := roles.get("answer")) is not None and not plans:
        text = masked(answer["text"].strip())
        text = text if len(text) <= LEAD else f"…{text[-LEAD:].partition(' ')[2]}"
        html += tag("div", tag("div", markdown.rendered(text), "prose"), "block answer")
    return tag("div", html, "lead") if html else ""


def _others(others: list[Open], now: float) -> str:
    rows = "".join(
        f'<li><a href="/inbox?at={esc_line(each.name)}" data-do="ask" '
        f'data-at="{esc_line(each.name)}">{icons.state("needs-you", "needs you")}'
        f'<span class="title" dir="auto">{_title(each.head)}</span>'
        f'<time class="age" data-since="{each.at:.0f}">{_waits(each, now)}</time>'
        f'<span class="doing">{coded(wants(each.ask, str(each.head["cwd"])))}</span></a></li>'
        for each in others
    )
    inner = f"<h2>Also waiting <span>{len(others)}</span></h2>{tag('ul', rows)}"
    return f'<section class="list others">{inner}</section>'


def _waits(each: Open, now: float) -> str:
    return age(each.at, now)


def _title(head: Json) -> str:
    return esc_line(masked(head["title"] or NO_TITLE), 200)
