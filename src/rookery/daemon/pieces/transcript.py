"""The transcript as units: a block with all that is nested in it, or a folded row of quiet calls.

A unit is an element with an id; its first child is its own content, and its second contains the
nested units. Each can be rendered by itself, so that unchanged ones are not processed again."""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import urlencode

from rookery.client.work_tree import viewer
from rookery.core.blocks import captions
from rookery.core.blocks.document import Block
from rookery.core.header import Header
from rookery.core.json import lenient
from rookery.core.json.secrets import masked_json
from rookery.daemon.pieces import ask_form
from rookery.daemon.pieces.growing import Output, Prose
from rookery.daemon.pieces.session_bar import ICONS, agent_title, icon
from rookery.export.html import block as looks
from rookery.export.html import card, part
from rookery.export.html.text import esc, esc_line, tag
from rookery.export.html.view import View
from rookery.render.nesting import FEWEST, Families, families_of, rows, says_all, tops

TOP = ""
"""The name of the outermost container; any other has the name of its unit."""

PROSE = ("answer", "thought")
"""Roles of texts that are written piece by piece."""

LONGEST_ROW = 100
"""Calls that one line folds: of a long run, whole lines leave the page when it has too many."""

type Layout = dict[str, list[str]]
"""The units of each container, in order. A unit has the name of its block, a row that of its first
with a star."""


class Nest(NamedTuple):
    layout: Layout
    families: Families


def nest(blocks: dict[str, Block]) -> Nest:
    families = families_of(blocks)
    layout: Layout = {}
    _place(TOP, tops(blocks), families, layout)
    return Nest(layout, families)


def _place(container: str, blocks: list[Block], families: Families, layout: Layout) -> None:
    units = layout[container] = list[str]()
    for row in rows(blocks, families.children):
        for names in _lines([str(block["id"]) for block in row]):
            if len(names) < FEWEST:
                units += names
                continue
            layout[row_name(names[0])] = names
            units.append(row_name(names[0]))
    for block in blocks:
        if below := [each for each in families.children.get(block["id"], ()) if not _is_ask(each)]:
            _place(str(block["id"]), below, families, layout)


def _lines(run: list[str]) -> Iterator[list[str]]:
    """Split a run of quiet calls into rows; a remainder too short to fold is added to the row
    before it."""
    at = 0
    while at < len(run):
        end = at + LONGEST_ROW
        end = len(run) if len(run) - end < FEWEST else end
        yield run[at:end]
        at = end


def row_name(first: str) -> str:
    return f"{first}*"


def is_row(name: str) -> bool:
    return name.endswith("*")


def _is_ask(block: Block) -> bool:
    return bool(block["role"] == "ask")


def unit_of(name: str, blocks: dict[str, Block]) -> str:
    """Return the unit whose own content shows a block."""
    block = blocks[name]
    above = blocks.get(block["parent"] or "")
    if above is not None and (
        _is_ask(block) or (block["role"] == "terminal" and above["role"] == "tool")
    ):
        return str(above["id"])
    return name


class Painter:
    """Renders units as HTML. `opened` is the name of the text that is still being written."""

    def __init__(self, blocks: dict[str, Block], view: View) -> None:
        self.blocks = blocks
        self.nest = nest(blocks)
        self.opened = ""
        self.prose: dict[str, Prose] = {}
        self.outputs: dict[str, Output] = {}
        """Of texts that go on."""
        self.own_told: Callable[[str, str], None] = lambda _name, _html: None
        """Told of each own look that is rendered."""
        self.use(view)

    def use(self, view: View) -> None:
        self._view = view._replace(output=self._output)

    def units(self, container: str = TOP) -> Iterator[str]:
        return map(self.unit, self.nest.layout.get(container, ()))

    def unit(self, name: str) -> str:
        """Render a unit with all that is nested in it."""
        inside = "".join(self.units(name))
        if is_row(name):
            body = self.own(name) + tag("div", inside, "members")
            return f'<details class="block row" id="b{esc_line(name, 100)}">{body}</details>\n'
        role = looks.role_of(self.blocks[name])
        below = tag("div", inside, "below") if inside else ""
        body = self.own(name) + below
        return f'<div class="block {role}" id="b{esc_line(name, 100)}">{body}</div>\n'

    def own(self, name: str) -> str:
        """Render the unit's own content, its first child."""
        if is_row(name):
            members = [self.blocks[each] for each in self.nest.layout[name]]
            html = tag("summary", card.row_line(members), "own")
        else:
            block = self.blocks[name]
            html = f'<div class="own"{_since(block)}>{self._inner(name, block)}</div>'
        self.own_told(name, html)
        return html

    def _inner(self, name: str, block: Block) -> str:
        if block["role"] in PROSE:
            return self._prose(name, block)
        families = self.nest.families
        asks = [each for each in families.children.get(name, ()) if _is_ask(each)]
        more = "".join(looks.rendered(masked_json(ask), self._view) for ask in asks)
        if any(map(says_all, asks)):
            return more
        terminals = families.terminals.get(name, [])
        return looks.inner(masked_json(block), self._view, terminals, more)

    def _prose(self, name: str, block: Block) -> str:
        opened = name == self.opened
        if opened:
            text = self.prose[name] = Prose(block["text"])
        else:
            text = Prose(block["text"])
        parts = "".join(part.rendered(masked_json(each), self._view) for each in block["parts"])
        if not block["text"].strip() and not opened:
            return parts
        refers = not opened and text.refers()
        body = tag("div", text.whole() if refers else text.html(over=not opened), "prose")
        if block["role"] == "answer":
            return body + parts
        line = captions.thought(block, live=opened)
        live = ' open class="live"' if opened else ""
        return f"<details{live}><summary>{line}</summary>{body}</details>{parts}"

    def _output(self, terminal: Block, command: str) -> str:
        name = str(terminal["id"])
        output = self.outputs[name] = self.outputs.get(name) or Output(terminal["text"])
        lines = output.html()
        if terminal["status"] != "running":
            del self.outputs[name]
        first = tag("span", f"$ {command}\n", "command") if command else ""
        return f'<pre class="out" tabindex="0" id="o{esc_line(name, 100)}">{first}{lines}</pre>'


def _since(block: Block) -> str:
    """Return an attribute with the time at which a running call began, for the card's clock."""
    since = lenient.number(block, "since")
    running = block["role"] in ("tool", "terminal") and block["status"] == "running"
    return f' data-since="{since:.0f}"' if running and since else ""


# --- what a block's look depends on --------------------------------------------------------------


def view_of(header: Header, session: str, now: float, *, read_only: bool = False) -> View:
    def image(part: dict[str, Any]) -> str:
        name = lenient.text(part, "blob")
        return f"/api/sessions/{session}/blobs/{name}" if name.isalnum() else ""

    def actions(block: Block) -> str:
        if block["role"] == "ask":
            return ask_form.actions(block, session, read_only=read_only)
        if read_only:
            return ""
        return _prompt_menu(block) if block["role"] == "prompt" else buttons(block)

    agent, cwd = agent_title(header), str(header.cwd or "")
    roots = (cwd, *header.roots)

    def file(path: str, line: int) -> str:
        if not cwd or not viewer.inside(roots, path):
            return ""
        return f"/sessions/{session}/file?{urlencode({'path': path, 'line': line})}"

    return View(masked_json(agent), cwd, now, image, actions, here="web", file=file)


def _prompt_menu(block: Block) -> str:
    """Render the menu button of a user's prompt that began a turn or was sent into one."""
    turn = str(block["id"]).partition(".")[0]
    if block["title"] or block["parent"] is not None or not turn.isdecimal() or turn == "0":
        return ""
    about = (
        f'aria-haspopup="dialog" aria-label="Actions of prompt {turn}" title="Edit, rewind, fork"'
    )
    return (
        f'<button type="button" class="quiet icon at" data-do="prompt" {about}>'
        f"{icon(ICONS['more'])}</button>"
    )


def buttons(block: Block) -> str:
    """Render the actions that a notice or a divider offers."""
    html = ""
    for number, action in enumerate(block["actions"]):
        label = esc_line(lenient.text(action, "label"))
        why = lenient.text(action, "disabled")
        off = f' disabled title="{esc_line(why)}"' if why else ""
        kind = "danger" if action.get("danger") else "primary" if number == 0 else ""
        html += (
            f'<button type="button" class="{kind}" data-do="action" data-n="{number}"'
            f' data-action="{esc(json.dumps(action))}"{off}>{label}</button>'
        )
    return tag("div", html, "actions") if html else ""
