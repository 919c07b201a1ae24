"""A session written as text while it happens: text streams, a card is written when its call ends.

On a terminal the last line says what is running. A thought is one line with its length, unless
nothing is cut; a plan is written again only where it changed."""

from typing import Any

from rookery.cli.output import card, lines
from rookery.cli.output.nested import Nested, depth_of, in_order
from rookery.cli.output.safe import clean, clean_line, clean_output
from rookery.cli.output.screen import Screen
from rookery.cli.output.wrap import Wrap, wrapped
from rookery.core.agent.names import agent_name
from rookery.core.blocks import Block, Document, Op, asks, captions
from rookery.core.units import duration

CLOSE = frozenset({"tool", "thought", "message", "raw", "notice"})
"""Roles without an empty line around them."""


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
        self._thought: Block | None = None
        self._wrap = Wrap(screen.width)
        self._sent: dict[str, int] = {}  # of each message, how many characters are written
        self._written: set[str] = set()
        self._late = card.LateOutput()
        self._below = ""  # the terminal whose late output was written last
        self._plans: dict[str, Block] = {}
        self._asked: dict[str, list[Any]] = {}  # the parts of a call that its ask has shown
        self._nested = Nested(self.paint, self._lines, full=full, brief=brief)
        self._unclaimed: dict[str, Document] = {}  # terminals that ended before a call named them

    def feed(self, document: Document, ops: list[Op]) -> None:
        """Write what these operations changed in the document."""
        for op in ops:
            name = op[1]["id"] if op[0] == "put" else op[1]
            if op[0] != "drop" and name in document.blocks:
                self._show(document, document.blocks[name])
            elif op[0] == "drop" and self._thought is not None and self._thought["id"] == name:
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

    def hurry(self) -> None:
        """Write an incomplete word: nothing came for a while."""
        if self._open and self._begun and self.screen.live:
            self.screen.write(self._wrap.hurry())

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

    def _show(self, document: Document, block: Block, *, final: bool = False) -> None:
        """Write what is new in a block."""
        role = block["role"]
        if role not in ("tool", "terminal"):
            self._claim()
            if block["parent"] is None:
                self._nested.other()
        match role:
            case "answer" if self._brief:
                rows = [each for part in block["parts"] for each in lines.of_part(part, self.paint)]
                self._once(block, rows)
            case "answer":
                self._message(block)
            case "message" | "thought" if block["parent"]:
                self._nested.hold(document, block, final=final)
            case "thought":
                self._think(block, final)
            case "prompt":
                rows = lines.of_prompt(block, self.paint)
                if self._prompts or block["title"]:  # not from the user: say where it is from
                    self._once(block, rows if self._prompts else rows[:1])
            case "tool" | "terminal":
                self._call(document, block, final)
            case "plan":
                self._plan(block)
            case "ask":
                self._ask(document, block)
            case "raw":
                self._once(block, [lines.of_raw(block, self.paint)])
            case _:
                render = lines.of_divider if role == "divider" else lines.of_notice
                rows = render(block, self.paint) + self._hints(document, block)
                self._once(block, self._folded(rows))

    def _hints(self, document: Document, block: Block) -> list[str]:
        """Return what the user can do about a block, while following a session."""
        session = clean_line(document.header.id)
        return lines.of_actions(block, session, self.paint) if session else []

    # ------------------------------------------------------------ lines

    def _lines(self, role: str, rows: list[str]) -> None:
        if not rows:
            return
        self._close()
        self._separate(role)
        self.screen.write("\n".join(rows) + "\n")

    def _once(self, block: Block, rows: list[str]) -> None:
        if block["id"] not in self._written:
            self._written.add(block["id"])
            self._lines(block["role"], rows)

    def _folded(self, rows: list[str]) -> list[str]:
        """Wrap our own sentences between words."""
        return [wrapped(line, self.screen.width) if self.screen.fits else line for line in rows]

    def _separate(self, role: str) -> None:
        if self._last and not (role in CLOSE and self._last in CLOSE) and not self._brief:
            self.screen.write("\n")
        self._last, self._below = role, ""

    # ------------------------------------------------------------ messages

    def _message(self, block: Block) -> None:
        name = block["id"]
        if self._open != name:
            self._close()
            self._open = name
        text = clean(block["text"][self._sent.get(name, 0) :])
        self._sent[name] = len(block["text"])
        text = text if self._begun else text.lstrip("\n")
        body = text.rstrip("\n")
        if body:
            if not self._begun:
                self._begun = True
                self._separate("answer")
            chunk = self._held + body  # in a pipe, lines stay as the agent wrote them
            self.screen.write(self._wrap.feed(chunk) if self.screen.live else chunk)
            self._held = ""
        self._held += text[len(body) :] if self._begun else ""
        if block["parts"] and name not in self._written:
            rows = [line for part in block["parts"] for line in lines.of_part(part, self.paint)]
            self._once(block, rows)

    def _think(self, block: Block, final: bool) -> None:
        if self._thought is None or self._thought["id"] != block["id"]:
            self._close()
            self._thought = block
        if final:
            self._close()

    def _close(self) -> None:
        """End what is being written."""
        thought, self._thought = self._thought, None
        if thought is not None and thought["id"] not in self._written:
            self._written.add(thought["id"])
            self._separate("thought")
            rows = lines.of_thought(thought, self.paint, full=self._full)
            self.screen.write("\n".join(self._folded(rows)) + "\n")
        if self._open and self._begun:
            self.screen.write((self._wrap.end() if self.screen.live else "") + "\n")
        self._open, self._held, self._begun = "", "", False

    # ------------------------------------------------------------ cards

    def _call(self, document: Document, block: Block, final: bool) -> None:
        if block.get("kind") == captions.SUBAGENT:
            self._nested.heading(document, block, timed=self._durations)
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
        cwd, timed = document.header.cwd, self._durations
        rows = [card.headline(block, terminals, self.paint, cwd, durations=timed)]
        if not self._brief:
            asked = self._asked.get(block["id"])
            opened = card.details(block, unwritten, self.paint, full=self._full, shown=asked)
            rows += [f"    {line}" for line in opened]
        self._lines("tool", self._nested.inside(document, block, rows))

    def _print_late(self, document: Document, terminal: Block, *, rest: bool) -> None:
        call = document.blocks[terminal["parent"]]
        quiet = call.get("kind") in captions.QUIET and call["status"] != "failed"
        if call["id"] not in self._written or self._brief or (quiet and not self._full):
            return
        text = self._late.take(document, terminal, rest=rest)
        rows = [f"    {line}" for line in lines.of_output(text, self.paint, full=self._full)]
        if rows and self._below != terminal["id"]:
            mark, dot = self.paint.mark("running"), self.paint.sign("dot")
            title = card.title(call, document.header.cwd)
            rows.insert(0, f"{mark} {title} {dot} {self.paint.faint('still running')}")
        indent = "  " * depth_of(document, call)
        self._lines("tool", [indent + line for line in rows])
        self._below = terminal["id"] if rows else self._below

    def _claim(self) -> None:
        """Write the terminals that no call has named."""
        ended, self._unclaimed = self._unclaimed, {}
        for name, document in ended.items():
            if name in document.blocks:
                self._call(document, document.blocks[name], final=True)

    def _plan(self, block: Block) -> None:
        before, items = self._plans.get(block["id"], {}), _items(block)
        self._plans[block["id"]] = {key: block[key] for key in ("title", "parts")}
        if before == self._plans[block["id"]]:
            return
        old = _items(before)
        if items and [each.get("text") for each in old] == [each.get("text") for each in items]:
            changed = [each for was, each in zip(old, items, strict=True) if was != each]
            rows = [lines.of_item(item, self.paint) for item in changed]
        else:
            rows = [line for part in block["parts"] for line in lines.of_part(part, self.paint)]
        self._lines("plan", [clean_line(block["title"]), *(f"  {line}" for line in rows)])

    def _ask(self, document: Document, block: Block) -> None:
        name = block["id"]
        if block["status"] == "asked":
            if self._asks and name not in self._written and not block.get("ruled"):
                if block["parent"]:
                    self._asked[block["parent"]] = block["parts"]
                header = document.header
                self._once(block, lines.of_ask(block, self.paint, agent_name(header), header.cwd))
            return
        if name + "!" in self._written:
            return
        self._written.add(name + "!")
        outcome = lines.of_outcome(block, self.paint)
        if name in self._written:
            self._last = "tool"  # it belongs to the lines above
            self._lines("tool", outcome)
            return
        asked = asks.question(block, agent_name(document.header), document.header.cwd)
        self._lines("tool", [f"{self.paint.mark('needs-you')} {asked}", *outcome])


def _items(plan: Block) -> list[Any]:
    return [item for part in plan.get("parts", []) for item in part.get("items", [])]


def _doing(document: Document) -> tuple[str, int]:
    """Return what is running, and since when."""
    header, blocks = document.header, document.blocks.values()
    running = [block for block in blocks if block["role"] == "tool" and not captions.is_over(block)]
    if len(running) == 1:
        return card.title(running[0], header.cwd), running[0]["since"]
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
