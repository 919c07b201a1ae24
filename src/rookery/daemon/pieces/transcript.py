"""The transcript of a session that is watched: its units, with texts and output that still grow."""

import json
from collections.abc import Callable
from typing import Any, override
from urllib.parse import urlencode

from rookery.client.work_tree import viewer
from rookery.core.blocks.document import Block
from rookery.core.header import Header
from rookery.core.json import lenient
from rookery.core.json.secrets import masked_json
from rookery.daemon.pieces import ask_form
from rookery.daemon.pieces.growing import Output, Prose
from rookery.daemon.pieces.session_bar import ICONS, agent_title, icon
from rookery.export.html import transcript
from rookery.export.html.block import WRITTEN
from rookery.export.html.text import esc, esc_line, tag
from rookery.export.html.transcript import is_row
from rookery.export.html.view import View


class Painter(transcript.Painter):
    def __init__(self, blocks: dict[str, Block], view: View) -> None:
        super().__init__(blocks, view)
        self.prose: dict[str, Prose] = {}
        self.outputs: dict[str, Output] = {}
        """Of texts that go on."""
        self.own_told: Callable[[str, str], None] = lambda _name, _html: None
        """Told of each own look that is rendered."""
        self.use(view)

    def use(self, view: View) -> None:
        self.view = view._replace(output=self._output, prose=self._prose, opened=self.opened)

    @property
    def opened(self) -> str:
        """The name of the text that is still being written."""
        return self.view.opened

    @opened.setter
    def opened(self, name: str) -> None:
        self.view = self.view._replace(opened=name)

    @override
    def own(self, name: str) -> str:
        if is_row(name):
            html = super().own(name)
        else:
            block = self.blocks[name]
            html = f'<div class="own"{_since(block)}>{self.inner(name, block)}</div>'
        self.own_told(name, html)
        return html

    @override
    def shown(self, block: Block) -> Block:
        """Mask a block; the text that is written piece by piece masks itself."""
        if block["role"] not in WRITTEN:
            return masked_json(block)
        return {**masked_json({**block, "text": ""}), "text": block["text"]}

    def _prose(self, block: Block) -> str:
        name, opened = block["id"], block["id"] == self.opened
        if not block["text"].strip() and not opened:
            return ""
        text = Prose(block["text"])
        if opened:
            self.prose[name] = text
        refers = not opened and text.refers()
        return tag("div", text.whole() if refers else text.html(over=not opened), "prose")

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
