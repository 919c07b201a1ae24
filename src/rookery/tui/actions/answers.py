"""Answers to asks, one key each. Only keys pressed on the card answer it."""

from rookery.core.asks.asks import ALLOWS, REJECTS, answer_to, pick
from rookery.core.blocks.document import Block
from rookery.core.json import lenient
from rookery.core.json.events import Json
from rookery.tui.keys.map import label
from rookery.tui.shell import Shell


class Asking:
    """`next_ask` goes through the open asks of all sessions."""

    def __init__(self, app: Shell) -> None:
        self._app = app
        self._seeking = False
        """A session is being opened for its ask."""
        self._came = False
        """From the composer, which gets the focus back when nothing is asked."""
        self._left: set[str] = set()
        """Sessions left with an open ask; the list may be a second old."""

    def left(self, session: str) -> None:
        """Another session is shown now."""
        self._came = self._came and self._seeking
        if session and self._app.window.open_asks():
            self._left.add(session)
            self._app.reader.glance()

    def listed(self, sessions: list[Block]) -> None:
        self._left -= {str(block["id"]) for block in sessions}

    def next_ask(self) -> None:
        transcript = self._app.transcript
        asks = [block["id"] for block in transcript.window.open_asks()]
        at = asks.index(transcript.cursor) + 1 if transcript.cursor in asks else 0
        if at < len(asks):
            self._go(asks[at])
            return
        others = [
            block["id"]
            for block in self._app.fleet.sessions
            if block["status"] == "needs-you" and block["id"] != self._app.session
        ]
        others += sorted(self._left - {*others, self._app.session})
        if others:
            self._seeking = True
            self._left.discard(others[0])
            self._app.open_session(others[0])
        elif asks:
            self._go(asks[0])
        else:
            self._app.notify("No open asks.", timeout=2)

    def _go(self, name: str) -> None:
        """At once: the next key is for the card."""
        transcript = self._app.transcript
        self._came = self._came or self._app.composer.has_focus
        transcript.screen.set_focus(transcript)
        transcript.go_to(name, begin=True)

    def opened(self) -> None:
        if self._seeking:
            self._seeking = False
            self.next_ask()

    def answered(self, block: Block) -> None:
        """Back to the composer, unless another ask is open here."""
        others = [ask for ask in self._app.window.open_asks() if ask["id"] != block["id"]]
        if self._came and block["role"] == "ask" and not others:
            self._came = False
            self._app.composer.focus()

    def changed(self) -> None:
        """Another client answered, or the turn was cancelled."""
        if self._came and not self._app.window.open_asks():
            self._came = False
            here = self._app.transcript.current
            if here is None or here["role"] == "ask":
                self._app.composer.focus()

    def want(self, what: str, block: Block) -> None:
        if block["role"] != "ask" or block["status"] != "asked":
            return
        match what:
            case "reject":
                self._reject(block)
            case "fill":
                self._fill(block)
            case "open" if any(part.get("type") == "form" for part in block["parts"]):
                self._fill(block)
            case "open":
                self._show_whole(block)
            case "all" | "risky":
                self._go_on(block, what)
            case "decline":
                if command := self._question(block):
                    self._app.send({**command, "action": "decline"})
                    self.answered(block)
            case "defer":
                if command := self._question(block):
                    self._app.send({**command, "defer": True})
                self._app.composer.focus()
                back = label(self._app, "ask.next")
                self._app.notify(f"The agent waits for your answer. {back} comes back to it.")

    def _show_whole(self, block: Block) -> None:
        from rookery.tui.windows.ask import AskScreen

        header = self._app.window.header
        self._app.push_screen(AskScreen(block, str(header["agent"]), str(header["cwd"])))

    def _reject(self, block: Block) -> None:
        """The agent's own way to say no, with a reason."""
        from rookery.tui.windows.parts.modals import LineScreen

        way = pick(block["actions"], REJECTS)
        if way is None:
            self._app.notify("The agent has no option to reject this.", severity="warning")
            return

        def reject(reason: str | None) -> None:
            if reason is not None:
                said: Json = {"reason": reason.strip()} if reason.strip() else {}
                self._app.send({**way["command"], **said})
                self.answered(block)

        screen = LineScreen("Why not?", hint="sent to the agent; may be empty")
        self._app.push_screen(screen, reject)

    def _go_on(self, block: Block, value: str) -> None:
        """Allow this one, and ask less from now on."""
        from rookery.tui.actions.slash_commands import choice, named

        way = pick(block["actions"], ALLOWS)
        if block.get("danger"):
            words = "This cannot be undone: use the key of the option."
            self._app.notify(words, severity="warning")
        elif way is None:
            self._app.notify("The agent has no option to allow this.", severity="warning")
        else:
            self._app.send(choice(value))
            self._app.send(way["command"])
            self.answered(block)
            self._app.notify(
                f"From now on: {named(value)}, in this session. /confirm changes it.", timeout=6
            )

    def _fill(self, block: Block) -> None:
        from rookery.tui.windows.parts.form import FormScreen

        schema = next(
            (lenient.mapping(p, "schema") for p in block["parts"] if p.get("type") == "form"), None
        )
        command = self._question(block)
        if schema is None or command is None:
            return

        def answer(content: Json | None) -> None:
            if content is not None:
                self._app.send({**command, "action": "accept", "content": content})
                self.answered(block)

        self._app.push_screen(FormScreen(block["title"], schema), answer)

    def _question(self, block: Block) -> Json | None:
        """The beginning of the command that answers an ask: the header knows its nonce."""
        for name, ask in self._app.window.header["asks"].items():
            if ask.get("block") == block["id"]:
                return answer_to({**ask, "id": name})
        return None
