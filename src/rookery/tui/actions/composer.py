"""Handling of a submitted line: it goes to the agent, to a command of ours, or to the shell. Also
completion, attachments and the queue."""

import asyncio
import os
from urllib.parse import quote

from rookery.client.attach import Attachment, Unattachable, excess, load
from rookery.client.attach import Attachment as Chip
from rookery.core.header import EMPTY, Header
from rookery.core.json import Json, lenient
from rookery.core.refusals import Refused
from rookery.core.view import below_asks
from rookery.operations.work_tree import finder
from rookery.tui import actions, windows, writing
from rookery.tui.actions.shell_line import ShellLines
from rookery.tui.keys.map import label
from rookery.tui.shell import Shell
from rookery.tui.widgets.chips import Chips
from rookery.tui.widgets.queue import Queue
from rookery.tui.widgets.suggestions import Suggestion
from rookery.tui.windows import parts
from rookery.tui.writing import commands, history, pasted
from rookery.tui.writing.pasted import path_of


class ComposerActions:
    def __init__(self, app: Shell) -> None:
        self._app = app
        self.shell = ShellLines(app)
        self._files: dict[str, list[Attachment]] = {}
        self._pasted: dict[str, list[str]] = {}
        self._mentioned: dict[str, None] = {}
        self._wanted = ""
        self._edited: tuple[str, Json] | None = None
        """The queued prompt that is in the composer, and its session."""
        self._held_back = ""
        """The letter that was not sent, since it looks like an answer."""

    def begin(self) -> None:
        home, cwd = self._app.start.home, self._app.start.cwd
        past = self._app.composer.past
        self._app.reader.run(lambda: asyncio.to_thread(history.read, home, cwd), past.load)

    @property
    def cwd(self) -> str:
        shown = self._app.window.header.cwd if self._app.session else ""
        return str(shown or self._app.start.cwd)

    # --- sending -------------------------------------------------------------------------------

    def submit(self, text: str, session: str, *, queue: bool = False) -> None:
        if self._looks_like_answer(text, session):
            return
        if not text.startswith(("!", "/")):
            text = pasted.joined(text, self._pasted.pop(session, []))
        if text.strip():
            home, cwd = self._app.start.home, self.cwd
            self._app.composer.past.add(text)
            self._app.reader.run(lambda: asyncio.to_thread(history.keep, home, cwd, text))
        if text.startswith("!") and self._app.is_elsewhere("The session's directory"):
            return
        if text.startswith("!") and text[1:].strip():
            self.shell.run(text[1:].strip(), self.cwd)
        elif (parsed := commands.parsed(text)) is not None:
            actions.slash_commands.carry_out(self._app, *parsed)
        else:
            self._prompt(text, session, queue=queue)

    def _looks_like_answer(self, text: str, session: str) -> bool:
        """Tell whether a lone letter was meant for a card that came as it was typed: it is held
        back once, with a notice."""
        letter, held, self._held_back = text.strip(), self._held_back, ""
        app = self._app
        asks = app.window.open_asks() if session and session == app.session else []
        if letter == held or not any(app.transcript.asks.is_answer(letter, ask) for ask in asks):
            return False
        self._held_back = letter
        app.composer.put(letter)
        back, send = label(app, "ask.next"), label(app, "composer.send")
        notice = f"“{letter}” is no answer to the open question from here. {back} to answer it; "
        app.notify(f"{notice}{send} again to send it as a prompt.", severity="warning", timeout=8)
        return True

    def _prompt(self, text: str, session: str, *, queue: bool) -> None:
        prompt: list[Json] = [{"type": "text", "text": text}] if text.strip() else []
        mentions = {word[1:] for word in text.split() if word.startswith("@")}
        prompt += [_link(self.cwd, name) for name in self._mentioned if name in mentions]
        files = self._files.pop(session, [])
        self._mentioned = {}
        self.show_files()
        edited, self._edited = self._edited, None
        if edited is not None and edited[0] == session:
            kept = [block for block in edited[1]["prompt"] if block.get("type") != "text"]
            change: Json = {"do": "queue", "op": "edit", "item": edited[1]["id"]}
            self._app.send({**change, "prompt": [*prompt, *kept]}, session)
        elif session:
            command: Json = {"do": "prompt", "prompt": prompt}
            if not queue and session == self._app.session and steers(self._app.window.header):
                command["steer"] = True
            self._app.send(command, session, files)
            if session == self._app.session and (
                notice := below_asks.notice(self._app.window.header)
            ):
                self._app.notify(f"{notice} {label(self._app, 'ask.next')} to answer.", timeout=6)
        else:
            start = self._app.start
            chosen = (start.confirms(""), start.worktree, start.sandbox, start.argv)
            self._app.reader.make(start.agent, start.cwd, prompt, files, *chosen)

    def give_back(self, command: Json, session: str, files: "list[Attachment]") -> None:
        """Put a prompt that was not accepted back."""
        if files:
            self._files.setdefault(session, [])[:0] = files
            self.show_files()
        if not self._app.composer.text:
            self._app.composer.load_text(_text(command["prompt"]))

    # --- completion ----------------------------------------------------------------------------

    def want(self, what: str, word: str) -> None:
        app = self._app
        match what:
            case "commands":
                header = app.window.header if app.session else None
                matches = commands.matching(word, header, here=not app.start.address)
                app.composer.offer("/", word, _offers(matches))
            case "files":
                self._find_files(word)
            case "search":
                app.ask(
                    windows.search.HistoryScreen(app.composer.past, app.composer.text),
                    app.composer.put,
                )
            case "editor":
                if (text := app.edit(app.composer.text)) is not None:
                    app.composer.put(text.rstrip("\n"))
            case "attach":
                hint = "path, relative to the session's directory"
                app.ask(
                    parts.modals.LineScreen("Attach file", hint=hint, verb="attach"), self.attach
                )
            case "paste":
                self._paste()
            case "detach":
                self.detach(-1)
            case "shell":
                self.send_output()
            case "queue" if app.below(Queue).items:
                app.composer.screen.set_focus(app.below(Queue))  # at once: the next key is for it
            case "queue":
                app.notify("The queue is empty.", timeout=2)

    def _find_files(self, query: str) -> None:
        """Complete a file name. Only the last query is answered."""
        self._wanted, cwd, session = query, self.cwd, self._app.session

        async def find() -> list[str] | None:
            if query != self._wanted:
                return None
            return await asyncio.to_thread(self._names, session, cwd, query)

        self._app.reader.run(find, lambda names: self.files_found(query, names))

    def _names(self, session: str, cwd: str, query: str) -> list[str]:
        """Return file names that match; for a session not yet created, those of its directory, if
        that is on this machine."""
        if not session:
            return [] if self._app.start.address else finder().find(cwd, query)
        try:
            reply = self._app.reader.rookery.call("files", session, query=query, limit=8)
        except Refused:
            return []
        return lenient.texts(reply, "files")

    def files_found(self, query: str, names: list[str] | None) -> None:
        if names is not None:
            self._mentioned |= dict.fromkeys(names)
            self._app.composer.offer("@", query, [Suggestion(f"@{name} ", name) for name in names])

    # --- attachments ---------------------------------------------------------------------------

    def attach(self, *paths: str, pasted: str = "") -> None:
        given = [os.path.expanduser(path if pasted else path_of(path)) for path in paths]
        place = os.getcwd() if self._app.start.address else self.cwd  # files of this machine
        files = [os.path.join(place, path) for path in given]
        session = self._app.session

        async def read() -> "list[Attachment] | str":
            try:
                return list(await asyncio.to_thread(load, files))
            except Unattachable as error:
                return str(error)

        self._app.reader.run(read, lambda outcome: self.attached(session, outcome, pasted))

    def _paste(self) -> None:
        """Paste from the system's clipboard, which a terminal does not give us."""
        if refusal := self._refusal():
            self.pasted(self._app.session, refusal)
            return
        session = self._app.session

        async def read() -> "list[Attachment] | str":
            try:
                return [await writing.clipboard.read()]
            except writing.clipboard.NoImage as error:
                return str(error)

        self._app.reader.run(read, lambda outcome: self.pasted(session, outcome))

    def pasted(self, session: str, outcome: "list[Attachment] | str") -> None:
        """Take the content of the clipboard. If it has no image, paste text that was copied
        here."""
        if isinstance(outcome, str) and self._app.clipboard:
            self._app.composer.action_paste()
        else:
            self.attached(session, outcome)

    def _refusal(self) -> str:
        """Return why the agent takes no image, if known, else ""."""
        header = self._app.window.header if self._app.session else EMPTY
        takes = header.capabilities
        if not takes or lenient.flag(lenient.mapping(takes, "promptCapabilities"), "image"):
            return ""
        return f"{header.agent or 'This agent'} does not accept images."

    def attached(self, session: str, outcome: "list[Attachment] | str", pasted: str = "") -> None:
        """Take files for the next prompt, or the reason why there are none. `pasted`: the text that
        named them."""
        here = session == self._app.session
        if isinstance(outcome, str):
            why, quiet = outcome, bool(pasted)
        else:
            files = [*self._files.get(session, []), *outcome]
            image = any(each.is_image for each in outcome)
            why, quiet = (self._refusal() if image and here else "") or excess(files), False
        if why:
            if not quiet:
                self._app.notify(why, severity="warning", markup=False)
            if pasted and here:
                self._app.composer.insert(pasted)
            return
        self._files[session] = files
        self.show_files()

    def hold(self, text: str) -> None:
        """Keep a long pasted text as a chip until it is sent."""
        self._pasted.setdefault(self._app.session, []).append(text)
        self.show_files()

    def with_pasted(self, drafts: dict[str, str]) -> dict[str, str]:
        """Return the drafts together with the pasted texts that wait in chips."""
        held = {name: texts for name, texts in self._pasted.items() if texts}
        more = {name: pasted.joined(drafts.get(name, ""), texts) for name, texts in held.items()}
        return {**drafts, **more}

    def detach(self, place: int) -> None:
        """Remove a chip. They are in order: pasted texts, then files."""
        texts = self._pasted.get(self._app.session, [])
        files = self._files.get(self._app.session, [])
        at = place if place >= 0 else len(texts) + len(files) + place
        if 0 <= at < len(texts):
            del texts[at]
        elif 0 <= at - len(texts) < len(files):
            del files[at - len(texts)]
        self.show_files()

    def show_files(self) -> None:
        shown = list(self._files.get(self._app.session, []))
        if texts := self._pasted.get(self._app.session):
            shown[:0] = [Chip(pasted.name_of(each), each.encode(), "text/plain") for each in texts]
        self._app.below(Chips).tell(shown)
        self._app.composer.has_files = bool(shown)

    def send_output(self) -> None:
        """Send the output of a shell command, with what is written in the composer."""
        session = self._app.session
        written = pasted.joined(self._app.composer.text, self._pasted.get(session, []))
        if prompt := self.shell.hand_over(written):
            self._pasted.pop(session, None)
            self._app.composer.clear()
            self._prompt(prompt, session, queue=False)
        else:
            self._app.notify("No output to send yet. !command runs a command.", timeout=3)

    # --- the queue -----------------------------------------------------------------------------

    def change_queue(self, message: Queue.Changed) -> None:
        app, item = self._app, message.item
        base: Json = {"do": "queue", "item": item.get("id")}
        match message.what:
            case "edit" if app.composer.text.strip():
                app.notify("Send or clear the text in the composer first.", severity="warning")
            case "edit":
                self._edited = (app.session, item)
                app.composer.put(_text(item.get("prompt", [])))
                app.composer.focus()
                app.notify(f"{label(app, 'composer.send')} to put it back in the queue.", timeout=3)
            case "earlier" | "later":
                to = message.place + (1 if message.what == "later" else -1)
                app.send({**base, "op": "move", "to": max(0, to)})
            case op:
                app.send({**base, "op": op})


def steers(header: Header) -> bool:
    """Tell whether a prompt would go into the running turn."""
    return header.state != "idle" and header.steers


def _text(prompt: list[Json]) -> str:
    return "".join(str(block.get("text", "")) for block in prompt)


def _offers(matches: list[commands.Command]) -> list[Suggestion]:
    offers = []
    for each in matches:
        hint = f"  {each.hint}" if each.hint else ""
        mine = "" if each.ours else "  (from the agent)"
        done = each.ours and not each.hint
        offers.append(Suggestion(f"/{each.name} ", f"/{each.name}{hint}", each.about + mine, done))
    return offers


def _link(cwd: str, name: str) -> Json:
    return {"type": "resource_link", "uri": "file://" + quote(f"{cwd}/{name}"), "name": name}
