"""Answering asks with one key each. Only keys pressed on the card answer it."""

from time import monotonic

from textual.timer import Timer

from rookery import render
from rookery.core.agent.names import agent_name
from rookery.core.ask import answer_to, asks_of
from rookery.core.asks.asks import ALLOWS, REJECTS
from rookery.core.blocks import Block, asks
from rookery.core.blocks.ask_actions import first_action
from rookery.core.json import Json, lenient
from rookery.tui import actions, system, windows
from rookery.tui.keys.map import label
from rookery.tui.shell import Shell
from rookery.tui.transcript.answer_guard import FIRST
from rookery.tui.transcript.ask_keys import is_open
from rookery.tui.windows import parts

QUIET = 1.0
"""Seconds without a key after which nobody is typing."""
RETRY = 0.2
"""Seconds between two looks whether an ask that waits may have the focus."""


class Answers:
    """Answers asks, and decides when a card gets the focus. `next_ask` goes through the open asks
    of all sessions."""

    def __init__(self, app: Shell) -> None:
        self._app = app
        self._seeking = False
        """A session is being opened for its ask."""
        self._came = False
        """From the composer, which gets the focus back when nothing is asked."""
        self._followed = False
        """The end of the transcript was in view then."""
        self._left: set[str] = set()
        """Sessions left with an open ask; the list may be a second old."""
        self.takes_focus = True
        self._typed = -QUIET
        self._known: dict[str, float] = {}
        """The open asks of the shown session, and when each came."""
        self._waiting: list[str] = []
        """Those that did not have the focus yet."""
        self._timer: Timer | None = None
        """Runs while there are any."""

    def begin(self) -> None:
        self._timer = self._app.set_interval(RETRY, self.take_focus, pause=True)

    # --- an ask takes the focus ----------------------------------------------------------------

    def typed(self) -> None:
        """Note that a key was pressed in the composer."""
        self._typed = monotonic()
        self._app.transcript.asks.guard.typed(self._typed)

    def _notice(self, came: float) -> None:
        asks = [block["id"] for block in self._app.window.open_asks()]
        if came - self._typed < QUIET and any(name not in self._known for name in asks):
            self._say_typed()
        kept = [name for name in self._waiting if name in asks]
        self._wait(kept + [name for name in asks if name not in self._known])
        self._known = {name: self._known.get(name, came) for name in asks}
        self.take_focus()

    def _say_typed(self) -> None:
        """Point out a letter that was typed just before an ask came, perhaps for it: it is in the
        composer."""
        app, letter = self._app, self._app.composer.text.strip()
        if any(app.transcript.asks.is_answer(letter, ask) for ask in app.window.open_asks()):
            text = f"“{letter}” was typed before the question came, and is in the composer."
            app.notify(f"{text} {label(app, 'ask.next')} to answer.", timeout=6)

    def _wait(self, names: list[str]) -> None:
        self._waiting = names
        if self._timer is not None:
            (self._timer.resume if names else self._timer.pause)()

    def take_focus(self) -> None:
        """Give an ask the focus as soon as nobody types, or reads further up."""
        app = self._app
        if not self._waiting or not self.takes_focus or len(app.screen_stack) > 1:
            return
        idle = monotonic() - self._typed >= QUIET and app.transcript.following
        empty = not app.composer.text and not app.composer.has_files
        if idle and empty and app.screen.focused is app.composer:
            self._go(self._waiting[0], by_itself=True)

    def leave(self) -> None:
        """Give no waiting ask the focus any more: the user goes elsewhere."""
        self._came = False
        self._wait([])

    def write(self, text: str) -> None:
        """Write into the composer what somebody types on the card, which gets the focus again once
        that is sent."""
        self.typed()
        self._came = False
        self._wait(list(self._known))
        self._app.write(text)

    @property
    def _is_here(self) -> bool:
        return self._app.transcript.screen.focused is self._app.transcript

    # --- from ask to ask -----------------------------------------------------------------------

    def left(self, session: str) -> None:
        """Note that another session is shown now."""
        self._came = self._came and self._seeking
        if session and self._app.window.open_asks():
            self._left.add(session)
            self._app.reader.glance()

    def listed(self, sessions: list[Block]) -> None:
        self._left -= {str(block["id"]) for block in sessions}

    def next_ask(self) -> None:
        transcript = self._app.transcript
        if self._is_here:
            transcript.asks.settle()
        asks = [block["id"] for block in transcript.window.open_asks()]
        at = asks.index(transcript.cursor) + 1 if transcript.cursor in asks else 0
        if at < len(asks):
            self._go(asks[at])
            return
        needy = [each["id"] for each in self._app.fleet.sessions if each["status"] == "needs-you"]
        others = [name for name in needy if name != self._app.session]
        others += sorted(self._left - {*others, self._app.session})
        if others:
            self._seeking = True
            self._left.discard(others[0])
            self._app.open_session(others[0])
        elif asks:
            self._go(asks[0])
        else:
            self._app.notify("No open questions.", timeout=2)

    def _go(self, name: str, *, by_itself: bool = False) -> None:
        """Focus the card of an ask at once: the next key is for it."""
        transcript = self._app.transcript
        self._wait([each for each in self._waiting if each != name])
        if transcript.screen.focused is self._app.composer:
            self._came, self._followed = True, transcript.following
        transcript.screen.set_focus(transcript)
        transcript.go_to(name, begin=True)
        new = monotonic() - self._known.get(name, -FIRST) < FIRST
        transcript.asks.begin(by_itself=by_itself, new=new)

    def opened(self) -> None:
        self._known = {}
        self._wait([])
        if self._seeking:
            self._seeking = False
            self.next_ask()
        if self._app.window.header.asks:
            self._notice(-FIRST)

    def answered(self, block: Block) -> None:
        """Go back to the composer, unless another ask is open here."""
        if self._came and block["role"] == "ask":
            self._leave_ask(block["id"])

    def _leave_ask(self, name: str) -> None:
        others = [each["id"] for each in self._app.window.open_asks() if each["id"] != name]
        if others and self._is_here:
            self._go(others[0], by_itself=True)
        else:
            self._return()

    def _return(self) -> None:
        if self._came and self._followed:
            self._app.transcript.to_end()
        self._came = False
        self._app.composer.screen.set_focus(self._app.composer)

    def changed(self) -> None:
        """Look for changes: an ask may have come, or been answered elsewhere."""
        here = self._app.transcript.current
        asks = bool(self._app.window.header.asks)
        gone = not is_open(here) and (here is None or here["role"] == "ask")
        if self._came and self._is_here and gone:
            self._leave_ask("")
        if asks or self._known:
            self._notice(monotonic())

    def want(self, what: str, block: Block) -> None:
        if block["role"] != "ask" or block["status"] != "asked":
            return
        match what:
            case "focus":
                self._go(block["id"])
            case "reject":
                self._reject(block)
            case "amend":
                self._amend(block)
            case "allow alike" | "reject alike":
                for each in lenient.sequence(block, "same"):
                    answer = answer_to(each["ask"], each["nonce"])
                    self._app.send({**answer, "option": each[what.split(maxsplit=1)[0]]})
                self.answered(block)
            case "fill":
                self._fill(block)
            case "open" | "qr":
                self._show(block, what)
            case "all" | "risky":
                self._go_on(block, what)
            case "decline":
                if command := self._question(block):
                    self._app.send({**command, "action": "decline"})
                    self.answered(block)
            case "defer":
                if command := self._question(block):
                    self._app.send({**command, "defer": True})
                self._return()
                back = label(self._app, "ask.next")
                self._app.notify(f"The agent is still waiting for your answer. {back} to go back.")

    def _show(self, block: Block, what: str) -> None:
        """Show all of an ask in a window, or its address as a QR code."""
        header = self._app.window.header
        if what == "qr":
            self._app.push_screen(windows.whole.QRScreen(asks.as_text(block)))
        elif any(part.get("type") == "form" for part in block["parts"]):
            self._fill(block)
        else:
            self._app.push_screen(windows.whole.AskScreen(block, agent_name(header), header.cwd))

    def opens(self, action: Json) -> bool:
        """Tell whether an action may be sent: if it opens an address, once a browser was
        started."""
        address = lenient.text(action, "open")
        if not address:
            return True
        if why := system.external_programs.no_browser():
            ways = (("block.copy", "to copy the address"), ("ask.qr", "for a QR code"))
            keys = " or ".join(f"{label(self._app, key)} {purpose}" for key, purpose in ways)
            self._app.notify(f"{why} Press {keys}.", severity="warning", timeout=10)
            return False
        self._app.notify(system.external_programs.follow(address), markup=False)
        return True

    def _reject(self, block: Block) -> None:
        """Reject an ask by the agent's own option for that, with a reason."""
        way = first_action(block["actions"], REJECTS)
        if way is None:
            self._app.notify("The agent has no option to reject this.", severity="warning")
            return

        def reject(reason: str) -> None:
            extra: Json = {"reason": reason} if reason else {}
            self._app.send({**way["command"], **extra})
            self.answered(block)

        hint = "optional; sent to the agent"
        title = "What should change?" if render.ask_choices.is_go(block) else "Why not?"
        line = parts.modals.LineScreen(
            title, hint=hint, verb="reject", may_be_empty=True, below=True
        )
        self._app.ask(line, reject)

    def _amend(self, block: Block) -> None:
        """Allow a call once, with a remark to the agent."""
        way = first_action(block["actions"], ALLOWS[:1])
        if way is None or way.get("danger"):
            self._app.notify("The agent has no option to allow this.", severity="warning")
            return

        def allow(remark: str) -> None:
            self._app.send({**way["command"], "reason": remark})
            self.answered(block)

        hint, verb = "what else the agent should mind", "allow and send"
        self._app.ask(
            parts.modals.LineScreen("Yes, and …", hint=hint, verb=verb, below=True), allow
        )

    def _go_on(self, block: Block, value: str) -> None:
        """Allow this call, and ask less from now on."""
        app, way = self._app, first_action(block["actions"], ALLOWS)
        if block.get("danger"):
            app.notify("This cannot be undone: press the number of the option.", severity="warning")
        elif way is None:
            app.notify("The agent has no option to allow this.", severity="warning")
        else:
            app.send(actions.slash_commands.choice(value))
            app.send(way["command"])
            self.answered(block)
            name = actions.slash_commands.named(value)
            text = f"From now on: {name}, in this session. /confirm changes it."
            app.notify(text, timeout=6)

    def _fill(self, block: Block) -> None:
        schema = next(
            (lenient.mapping(p, "schema") for p in block["parts"] if p.get("type") == "form"), None
        )
        command = self._question(block)
        if schema is None or command is None:
            return

        def answer(content: Json) -> None:
            self._app.send({**command, "action": "accept", "content": content})
            self.answered(block)

        self._app.ask(parts.form.FormScreen(block["title"], schema), answer)

    def _question(self, block: Block) -> Json | None:
        """Return the beginning of the command that answers an ask; None if it is not open."""
        known = asks_of(self._app.window.header).values()
        return next((ask.answer for ask in known if ask.block == block["id"]), None)
