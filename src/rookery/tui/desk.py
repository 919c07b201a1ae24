"""Where what was written goes: to the agent, to a command of ours, to the shell; and what helps on
the way there."""

from typing import TYPE_CHECKING

from rookery.core.json import lenient
from rookery.core.json.events import Json
from rookery.tui.errands import Errands
from rookery.tui.keys.map import label
from rookery.tui.shell import Shell
from rookery.tui.widgets.chips import Chips
from rookery.tui.widgets.queue import Queue
from rookery.tui.widgets.shell_panel import ShellPanel
from rookery.tui.widgets.suggestions import Suggestion
from rookery.tui.writing import commands, news

if TYPE_CHECKING:
    from rookery.client.attach import Attachment


class Desk:
    """For one app."""

    def __init__(self, app: Shell) -> None:
        self._app = app
        self.errands = Errands(app.room)
        self._files: dict[str, list[Attachment]] = {}
        self._mentioned: dict[str, None] = {}
        self._edited: tuple[str, Json] | None = None
        """The queued prompt that is in the composer, and its session."""

    def begin(self) -> None:
        self.errands.read_past(self._app.start.cwd)

    @property
    def _panel(self) -> ShellPanel:
        return self._app.screen_stack[0].query_one("#shell", ShellPanel)

    @property
    def cwd(self) -> str:
        shown = self._app.window.header["cwd"] if self._app.session else ""
        return str(shown or self._app.start.cwd)

    # --- sending -------------------------------------------------------------------------------

    def submit(self, text: str, session: str) -> None:
        if text.strip():
            self._app.composer.past.add(text)
            self.errands.keep(self.cwd, text)
        if text.startswith("!") and text[1:].strip():
            self.run_line(text[1:].strip())
        elif (found := commands.parsed(text)) is not None:
            from rookery.tui.actions.slash_commands import carry_out

            carry_out(self._app, self, *found)
        else:
            self._prompt(text, session)

    def _prompt(self, text: str, session: str) -> None:
        prompt: list[Json] = [{"type": "text", "text": text}] if text.strip() else []
        said = {word[1:] for word in text.split() if word.startswith("@")}
        prompt += [_link(self.cwd, name) for name in self._mentioned if name in said]
        files = self._files.pop(session, [])
        self._mentioned = {}
        self.show_files()
        edited, self._edited = self._edited, None
        if edited is not None and edited[0] == session:
            kept = [block for block in edited[1]["prompt"] if block.get("type") != "text"]
            change: Json = {"do": "queue", "op": "edit", "item": edited[1]["id"]}
            self._app.send({**change, "prompt": [*prompt, *kept]}, session)
        elif session:
            self._app.send({"do": "prompt", "prompt": prompt}, session, files)
        else:
            start = self._app.start
            self._app.room.make(start.agent, start.cwd, prompt, files, start.confirms(""))

    def give_back(self, command: Json, session: str, files: "list[Attachment]") -> None:
        """What was not taken is not lost."""
        composer = self._app.composer
        if files:
            self._files.setdefault(session, [])[:0] = files
            self.show_files()
        if not composer.text:
            said = (str(block.get("text", "")) for block in command["prompt"])
            composer.load_text("".join(said))

    # --- completion ----------------------------------------------------------------------------

    def want(self, what: str, word: str) -> None:
        app = self._app
        match what:
            case "commands":
                header = app.window.header if app.session else None
                app.composer.offer("/", word, _offers(commands.matching(word, header)))
            case "files":
                self.errands.find_files(self.cwd, word)
            case "search":
                self._search()
            case "editor":
                self._edit()
            case "attach":
                self.ask_file()
            case "paste":
                self.paste()
            case "detach":
                self.detach(-1)
            case "queue":
                queue = app.screen_stack[0].query_one("#queue", Queue)
                if queue.items:
                    queue.focus()
                else:
                    app.notify("Nothing waits.", timeout=2)

    def files_found(self, message: news.FilesFound) -> None:
        offers = [Suggestion(f"@{name} ", name) for name in message.names]
        for name in message.names:
            self._mentioned.setdefault(name)
        self._app.composer.offer("@", message.query, offers)

    def _search(self) -> None:
        from rookery.tui.windows.history_search import SearchScreen

        def take(text: str | None) -> None:
            if text is not None:
                self._app.composer.put(text)

        composer = self._app.composer
        self._app.push_screen(SearchScreen(composer.past.found, composer.text), take)

    def _edit(self) -> None:
        from rookery.tui.system import external_programs

        composer = self._app.composer
        if not external_programs.editor():
            self._app.notify("There is no editor: set EDITOR.", severity="warning")
            return
        with self._app.suspend():
            text = external_programs.edit(composer.text)
        self._app.refresh()
        if text is not None:
            composer.put(text.rstrip("\n"))

    def recap(self) -> None:
        self.errands.recap(self._app.session)

    # --- attachments ---------------------------------------------------------------------------

    def ask_file(self) -> None:
        from rookery.tui.windows.parts.modals import LineScreen

        def take(path: str | None) -> None:
            if path and path.strip():
                self.attach(path.strip())

        hint = "a path, from the session's directory"
        self._app.push_screen(LineScreen("Attach which file?", hint=hint), take)

    def attach(self, *paths: str, pasted: str = "") -> None:
        import os

        from rookery.tui.writing.dropped import path_of

        given = [os.path.expanduser(path if pasted else path_of(path)) for path in paths]
        files = [os.path.join(self.cwd, path) for path in given]
        self.errands.attach(self._app.session, files, pasted)

    def paste(self) -> None:
        """From the system's clipboard, which a terminal does not give us."""
        if words := self._untaken():
            self.not_pasted(news.NotPasted(words))
        else:
            self.errands.paste(self._app.session)

    def not_pasted(self, message: news.NotPasted) -> None:
        """What was copied here is text."""
        if self._app.clipboard:
            self._app.composer.action_paste()
        else:
            self._app.notify(message.words, severity="warning", markup=False)

    def _untaken(self) -> str:
        """Why no image can go to the agent, as far as it is known."""
        header = self._app.window.header if self._app.session else None
        takes = lenient.mapping(header, "capabilities")
        if not takes or lenient.flag(lenient.mapping(takes, "promptCapabilities"), "image"):
            return ""
        return f"{lenient.text(header, 'agent') or 'This agent'} takes no images."

    def attached(self, message: news.Attached) -> None:
        from rookery.client.attach import excess

        files = [*self._files.get(message.session, []), *message.attachments]
        image = any(each.is_image for each in message.attachments)
        here = message.session == self._app.session
        if words := (self._untaken() if image and here else "") or excess(files):
            self._app.notify(words, severity="warning", markup=False)
            if message.pasted and here:
                self._app.composer.insert(message.pasted)
            return
        self._files[message.session] = files
        self.show_files()

    def unattached(self, message: news.Unattached) -> None:
        if message.pasted:
            self._app.composer.insert(message.pasted)
        else:
            self._app.notify(message.words, severity="warning", markup=False)

    def detach(self, place: int) -> None:
        files = self._files.get(self._app.session, [])
        if files:
            del files[place]
        self.show_files()

    def show_files(self) -> None:
        files = self._files.get(self._app.session, [])
        self._app.screen_stack[0].query_one("#chips", Chips).tell(list(files))
        self._app.composer.has_files = bool(files)

    # --- shell lines ---------------------------------------------------------------------------

    def run_line(self, line: str) -> None:
        if self._panel.running:
            key = label(self._app, "turn.cancel")
            self._app.notify(f"A line is running: {key} ends it.", severity="warning")
            self._app.composer.put(f"!{line}")
            return
        self._panel.begin(line)
        self.errands.run_shell(line, self.cwd)

    def shell_said(self, message: news.ShellSaid) -> None:
        self._panel.say(message.text, message.code)

    def left_shell(self) -> bool:
        """Esc: the line is ended, or what it said is put away; whether there was one."""
        if self._panel.running:
            self.errands.end_shell()
            return True
        shown = bool(self._panel.display)
        self._panel.close()
        return shown

    # --- what waits ----------------------------------------------------------------------------

    def change_queue(self, message: Queue.Changed) -> None:
        app, item = self._app, message.item
        base: Json = {"do": "queue", "item": item.get("id")}
        match message.what:
            case "edit":
                if app.composer.text.strip():
                    app.notify("Send or clear what is written first.", severity="warning")
                    return
                self._edited = (app.session, item)
                said = (str(block.get("text", "")) for block in item.get("prompt", []))
                app.composer.put("".join(said))
                app.composer.focus()
                app.notify(f"{label(app, 'composer.send')} puts it back in its place.", timeout=3)
            case "earlier" | "later":
                to = message.place + (1 if message.what == "later" else -1)
                app.send({**base, "op": "move", "to": max(0, to)})
            case op:
                app.send({**base, "op": op})


def _offers(found: list[commands.Command]) -> list[Suggestion]:
    offers = []
    for each in found:
        hint = f"  {each.hint}" if each.hint else ""
        mine = "" if each.ours else "  (the agent's)"
        done = each.ours and not each.hint
        offers.append(Suggestion(f"/{each.name} ", f"/{each.name}{hint}", each.words + mine, done))
    return offers


def _link(cwd: str, name: str) -> Json:
    from urllib.parse import quote

    return {"type": "resource_link", "uri": "file://" + quote(f"{cwd}/{name}"), "name": name}
