"""A session written as text while it happens: text streams, a card is written when its call ends.

On a terminal the last line says what is running, and the end of a message grows. A thought is one
line with its length, unless nothing is cut; a plan is written again only where it changed."""

import time
from collections.abc import Iterable
from typing import Any

from rookery.cli.output.commands import Commands
from rookery.cli.output.nested import Nested, in_order, margin
from rookery.cli.output.safe import clean, clean_line, clean_output
from rookery.cli.output.screen import Screen
from rookery.core.agent.names import agent_name
from rookery.core.blocks import Block, Document, Op, captions
from rookery.core.units import duration
from rookery.render.lines import block as drawer
from rookery.render.lines import card, part
from rookery.render.lines.view import WHOLE, View
from rookery.render.runs import Line, prefixed
from rookery.render.signs import SIGNS
from rookery.render.stretches import Start, starts_of

CLOSE = frozenset({"tool", "thought", "message", "raw", "notice"})
"""Roles without an empty line around them."""
LINES = 16
"""Lines of one part, unless nothing is cut."""
WIDE = 1_000_000
"""Columns of a line in a pipe: nothing is broken."""


def view_of(screen: Screen, agent: str, cwd: str, **more: Any) -> View:
    """Return the view of a screen that blocks are written to once."""
    source = screen.piped and not screen.live
    view = View(WIDE if source else screen.width - screen.live, agent, cwd, opened=True)
    now = time.time_ns() // 1_000_000
    return view._replace(printed=True, source=source, limit=LINES, here="cli", now=now, **more)


class Transcript:
    """Writes a session as text. `prompts`: write them too; `asks`: list the options of open ones;
    `full`: cut nothing; `durations`: of each call; `brief`: a line for each event, without the
    agent's messages."""

    def __init__(
        self,
        screen: Screen,
        *,
        prompts: bool = True,
        asks: bool = True,
        full: bool = False,
        durations: bool = True,
        brief: bool = False,
    ) -> None:
        self.screen = screen
        self.paint = screen.paint
        self._prompts = prompts
        self._asks = asks
        self._full = full
        self._durations = durations
        self._brief = brief
        self._last = ""  # the role that was written last
        self._open = ""  # the id of the current message
        self._held = ""  # newlines at its end, written if more follows
        self._begun = False  # whether anything of it is written
        self._starts: tuple[Start, ...] = ()  # of its stretches
        self._settled = 0  # how many of them will not change
        self._length = 0  # characters of it that are known
        self._thought: tuple[Document, Block] | None = None
        self._sent: dict[str, int] = {}  # of each message, how many characters are written
        self._written: set[str] = set()
        self._late = LateOutput()
        self._below = ""  # the terminal whose late output was written last
        self._plans: dict[str, Block] = {}
        self._asked: dict[str, list[Any]] = {}  # the parts of a call that its ask has shown
        self._nested = Nested(self._lines, self._view, brief=brief)
        self._unclaimed: dict[str, Document] = {}  # terminals that ended before a call named them

    def feed(self, document: Document, ops: list[Op]) -> None:
        """Write what these operations changed in the document."""
        for op in ops:
            name = op[1]["id"] if op[0] == "put" else op[1]
            if op[0] != "drop" and name in document.blocks:
                self._show(document, document.blocks[name])
            elif op[0] == "drop" and self._thought and self._thought[1]["id"] == name:
                self._thought = None  # dropped before it was written

    def page(self, document: Document) -> None:
        """Write a whole document."""
        for block in in_order(document, full=self._full):
            self._show(document, block, final=True)
        self.finish()

    def finish(self) -> None:
        """End the current line."""
        self._claim()
        self._nested.tell_all()
        for document, terminal in self._late.left():
            self._print_late(document, terminal, rest=True)
        self._close()
        self.screen.status("")

    def status(self, document: Document, now: int) -> None:
        """Show what is running on a terminal's last line; nothing while the session waits."""
        header = document.header
        idle = header.state == "idle" and header.critic["state"] != "judging"
        if not self.screen.live or self._open or idle or header.asks:
            return
        label, since = _doing(document)
        seconds = (now - since) / 1000
        label = f"{self.paint.sign('running')} {label}"
        label = f"{label} · {duration(seconds)}" if seconds >= 1 else label
        output = _last_output(document)
        self.screen.status(f"{label} · {output}" if output else label)

    def _view(self, document: Document, block: Block) -> View:
        header, role = document.header, block["role"]
        quiet = block.get("kind") in captions.QUIET and block["status"] != "failed"
        brief = quiet or role in ("thought", "raw") or captions.is_rejected(block)
        view = view_of(self.screen, agent_name(header), header.cwd, timed=self._durations)
        controls = Commands(clean_line(header.id))
        limit = WHOLE if self._full else LINES
        return view._replace(opened=self._full or not brief, controls=controls, limit=limit)

    def _show(self, document: Document, block: Block, *, final: bool = False) -> None:
        """Write what is new in a block."""
        role = block["role"]
        if role not in ("tool", "terminal"):
            self._claim()
            if block["parent"] is None:
                self._nested.other()
        match role:
            case "answer" if self._brief:
                self._once(block, drawer.parts(block, self._view(document, block)))
            case "answer":
                self._message(document, block)
            case "message" | "thought" if block["parent"]:
                self._nested.hold(document, block, final=final)
            case "thought":
                self._think(document, block, final)
            case "prompt":
                if self._prompts or block["title"]:  # not from the user: say where it is from
                    lines = drawer.rendered(block, [], self._view(document, block))
                    self._once(block, lines if self._prompts else lines[:1])
            case "tool" | "terminal":
                self._call(document, block, final)
            case "plan":
                self._plan(document, block)
            case "ask":
                self._ask(document, block)
            case _:
                self._once(block, drawer.rendered(block, [], self._view(document, block)))

    # ------------------------------------------------------------ lines

    def _lines(self, role: str, lines: list[Line]) -> None:
        if not lines:
            return
        self._close()
        self._separate(role)
        self.screen.write("".join(f"{self.paint.line(line)}\n" for line in lines))

    def _once(self, block: Block, lines: list[Line]) -> None:
        if block["id"] not in self._written:
            self._written.add(block["id"])
            self._lines(block["role"], lines)

    def _separate(self, role: str) -> None:
        if self._last and not (role in CLOSE and self._last in CLOSE) and not self._brief:
            self.screen.write("\n")
        self._last, self._below = role, ""

    # ------------------------------------------------------------ messages

    def _message(self, document: Document, block: Block) -> None:
        name = block["id"]
        if self._open != name:
            self._close()
            self._open, self._starts, self._settled = name, (), 0
        self._length = len(block["text"])
        view = self._view(document, block)
        if view.source:
            self._stream(block)
        else:
            self._grow(block, view)
        if block["parts"] and name not in self._written:
            self._once(block, drawer.parts(block, view))

    def _stream(self, block: Block) -> None:
        """Write what is new, as the agent wrote it: for pipes."""
        name = block["id"]
        text = clean(block["text"][self._sent.get(name, 0) :])
        self._sent[name] = len(block["text"])
        text = text if self._begun else text.lstrip("\n")
        body = text.rstrip("\n")
        if body:
            self._begin()
            self.screen.write(self._held + body)
            self._held = ""
        self._held += text[len(body) :] if self._begun else ""

    def _grow(self, block: Block, view: View) -> None:
        """Write the stretches that will not change, and show the last one as it is."""
        rest = {**block, "text": block["text"][self._sent.get(block["id"], 0) :], "parts": []}
        if not rest["text"].strip():
            return
        self._begin()
        self._starts = starts_of(rest["text"], self._starts)
        for number in range(self._settled, len(self._starts)):
            lines = drawer.stretch_of(rest, self._starts, number, view)
            self.screen.grow([self.paint.line(line) for line in lines])
            if number < len(self._starts) - 1:
                self.screen.settle()
                self._settled += 1

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._separate("answer")

    def _think(self, document: Document, block: Block, final: bool) -> None:
        if self._thought is None or self._thought[1]["id"] != block["id"]:
            self._close()
            self._thought = (document, block)
        if final:
            self._close()

    def _close(self) -> None:
        """End what is being written."""
        thought, self._thought = self._thought, None
        if thought is not None and thought[1]["id"] not in self._written:
            document, block = thought
            self._once(block, drawer.rendered(block, [], self._view(document, block)))
        if self._open:
            self._sent[self._open] = self._length
        if self._open and self._begun and not self.screen.settle():
            self.screen.write("\n")
        self._open, self._held, self._begun = "", "", False

    # ------------------------------------------------------------ cards

    def _call(self, document: Document, block: Block, final: bool) -> None:
        if block.get("kind") == captions.SUBAGENT:
            self._nested.heading(document, block)
            return
        self._nested.tell(block["parent"])
        if block["role"] == "terminal" and block["parent"] in document.blocks:
            self._print_late(document, block, rest=final)  # what its card has not shown
            return
        if block["id"] in self._written or not (final or captions.is_over(block)):
            return
        if block["role"] == "terminal" and not final:
            self._unclaimed[block["id"]] = document  # its call may come later
            return
        self._written.add(block["id"])
        terminals = [block] if block["role"] == "terminal" else _terminals(document, block)
        unwritten = [each for each in terminals if each is block or each["id"] not in self._written]
        self._written.update(each["id"] for each in terminals)
        self._late.written(terminals)
        lines = self._card(document, block, terminals, unwritten)
        self._lines("tool", self._nested.inside(document, block, lines))

    def _card(
        self, document: Document, block: Block, terminals: list[Block], unwritten: list[Block]
    ) -> list[Line]:
        """Return a call's card; without what its ask has shown."""
        view = self._view(document, block)
        head, asked = card.headline(block, terminals, view), self._asked.get(block["id"])
        if self._brief:
            return head
        if asked is None:
            return [*head, *card.rendered(block, unwritten, view)[len(head) :]]
        rest = {**block, "parts": [each for each in block["parts"] if each not in asked]}
        body = card.results(rest, unwritten, view.narrower(2)) if view.opened else []
        return [*head, *prefixed(body, [("  ", "")])]

    def _print_late(self, document: Document, terminal: Block, *, rest: bool) -> None:
        call = document.blocks[terminal["parent"]]
        quiet = call.get("kind") in captions.QUIET and call["status"] != "failed"
        if call["id"] not in self._written or self._brief or (quiet and not self._full):
            return
        text, view = self._late.take(document, terminal, rest=rest), self._view(document, call)
        lines = prefixed(part.output(text, view.narrower(2), view.most), [("  ", "")])
        if lines and self._below != terminal["id"]:
            title = " ".join(filter(None, card.words_of(call, view.cwd)))
            head: Line = [(f"{SIGNS['running'][0]} ", "running"), (title, "ink")]
            lines.insert(0, [*head, (" · still running", "faint")])
        self._lines("tool", prefixed(lines, margin(document, call)))
        self._below = terminal["id"] if lines else self._below

    def _claim(self) -> None:
        """Write the terminals that no call has named."""
        ended, self._unclaimed = self._unclaimed, {}
        for name, document in ended.items():
            if name in document.blocks:
                self._call(document, document.blocks[name], final=True)

    def _plan(self, document: Document, block: Block) -> None:
        before, items = self._plans.get(block["id"], {}), _items(block)
        self._plans[block["id"]] = {key: block[key] for key in ("title", "parts")}
        if before == self._plans[block["id"]]:
            return
        old, view = _items(before), self._view(document, block)
        lines = drawer.rendered(block, [], view)
        if items and [each.get("text") for each in old] == [each.get("text") for each in items]:
            changed = [each for was, each in zip(old, items, strict=True) if was != each]
            steps = [line for each in changed for line in part.step(each, view.narrower(2))]
            lines = [*lines[:1], *prefixed(steps, [("  ", "")])]
        self._lines("plan", lines)

    def _ask(self, document: Document, block: Block) -> None:
        name, view = block["id"], self._view(document, block)
        if block["status"] == "asked":
            if self._asks and name not in self._written and not block.get("ruled"):
                if block["parent"]:
                    self._asked[block["parent"]] = block["parts"]
                self._once(block, drawer.rendered(block, [], view))
            return
        if f"{name}!" in self._written:
            return
        self._written.add(f"{name}!")
        below = name in self._written
        if below:
            self._last = "tool"  # it belongs to the lines above
        self._lines("tool", drawer.rendered(block, [], view._replace(below=below)))


class LateOutput:
    """Output that commands print after their cards were written: a command may outlive its call."""

    def __init__(self) -> None:
        self._sent: dict[str, int] = {}
        """Characters written, by terminal."""
        self._cut: dict[str, Document] = {}
        """Terminals whose last line is incomplete."""

    def written(self, terminals: Iterable[Block]) -> None:
        """Record that a card shows these terminals as they are now."""
        self._sent |= {each["id"]: len(each["text"]) for each in terminals}

    def take(self, document: Document, terminal: Block, *, rest: bool) -> str:
        """Return the lines not written yet; `rest`: also an incomplete one."""
        name, text = str(terminal["id"]), str(terminal["text"])
        sent = self._sent.get(name, 0)
        over = rest or terminal.get("exit") is not None or bool(terminal.get("signal"))
        end = max(sent, len(text) if over else text.rfind("\n") + 1)
        self._sent[name] = end
        self._cut.pop(name, None)
        if end < len(text):
            self._cut[name] = document
        return text[sent:end]

    def left(self) -> list[tuple[Document, Block]]:
        """Return the terminals with an incomplete line."""
        cut = [(document, document.blocks.get(name)) for name, document in self._cut.items()]
        return [(document, block) for document, block in cut if block is not None]


def _items(plan: Block) -> list[Any]:
    return [item for part in plan.get("parts", []) for item in part.get("items", [])]


def _doing(document: Document) -> tuple[str, int]:
    """Return what is running, and since when."""
    header, blocks = document.header, document.blocks.values()
    running = [block for block in blocks if block["role"] == "tool" and not captions.is_over(block)]
    if len(running) == 1:
        title = " ".join(filter(None, card.words_of(running[0], header.cwd)))
        return title, running[0]["since"]
    agent = agent_name(header) or "the agent"
    last = next(reversed(blocks), None)
    label = f"waiting for {agent}"
    if header.critic["state"] == "judging":
        label = "the critic is judging"
    elif running:
        label = f"{len(running)} tools running"
    elif header.process["state"] == "starting":
        label = f"starting {agent}"
    elif last is not None and last["role"] == "thought":
        label = "thinking"
    return label, header.since


def _last_output(document: Document) -> str:
    """Return the last line of the running terminal."""
    for name in reversed(document.terminals):
        block = document.blocks.get(name)
        if block is not None and block["status"] == "running":
            rows = clean_output(block["text"][-2000:], colour=False)
            return next((clean_line(line) for line in reversed(rows) if line.strip()), "")
    return ""


def _terminals(document: Document, block: Block) -> list[Block]:
    """Return the terminals that a call names, and those nested under it."""
    names = [part["id"] for part in block["parts"] if part["type"] == "terminal" and "id" in part]
    known = (document.blocks[name] for name in document.terminals if name in document.blocks)
    return [
        each for each in known if each["parent"] == block["id"] or each.get("terminal") in names
    ]
