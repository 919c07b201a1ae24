"""The windows that keys and commands open, and what is done with their answers.

Each is imported when it is opened: the first paint needs none of them.
"""

from typing import Any

from rookery import tui
from rookery.core.header import EMPTY
from rookery.core.json import Json
from rookery.core.limits import Interface
from rookery.core.refusals import Refused
from rookery.render.runs import clean_line
from rookery.tui import messages
from rookery.tui.actions.parts import Parts
from rookery.tui.widgets.session_list import Fleet

BEHIND = frozenset(
    {
        *("settings", "agents", "pick", "confirm_mode", "servers"),
        *("new", "switch", "sessions", "next_ask"),
        *("find", "palette", "search_all", "panel", "export"),
    }
)
"""Actions of the screen below a window."""


class Windows(Parts):
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable keys under a window: nothing moves there, and no key opens a second one."""
        if action in BEHIND and len(self.screen_stack) > 1:
            return False
        return super().check_action(action, parameters)

    def look_around(self) -> None:
        place = (self.start.home, self.start.cwd, self.start.agent)
        tell, rookery = self.post_message, self.start.rookery
        self.reader.fetch(
            lambda: (
                tui.splash.look_around_there(*place, rookery)
                if rookery
                else tui.splash.look_around(*place)
            ),
            lambda set_up: tell(messages.SetUpFound(set_up)),
        )

    def on_fetched(self, message: messages.Fetched) -> None:
        message.then(*message.results)

    # --- keys ----------------------------------------------------------------------------------

    def action_keys(self) -> None:
        """Show the help on keys, also over a window; the second time closes it."""
        if isinstance(self.screen, tui.windows.key_help.KeysScreen):
            self.screen.action_leave()
        else:
            self.push_screen(tui.windows.key_help.KeysScreen(tui.windows.key_help.all_keys(self)))

    def take_keys(self, chosen: dict[str, str]) -> None:
        """Apply the keys of config.toml."""
        if chosen == self._own_keys:
            return
        self._own_keys = chosen
        tui.windows.key_help.take_keys(self, chosen)

    # --- settings ------------------------------------------------------------------------------

    def action_settings(self) -> None:
        if self.is_elsewhere("The settings of these sessions"):
            return
        self.push_screen(tui.windows.hub.SettingsScreen())

    def action_model(self) -> None:
        if self.is_elsewhere("The model of these sessions"):
            return
        from rookery.models import profiles

        def saved(answer: Json) -> None:
            self.notify(answer["words"], markup=False)
            self.look_around()

        self.ask(tui.windows.model.ModelForm(profiles.look(self.start.home)[0]), saved)

    def action_models(self) -> None:
        if self.is_elsewhere("The models of these sessions"):
            return
        self.push_screen(tui.windows.model.ModelsScreen())

    def action_servers(self) -> None:
        if self.is_elsewhere("The list of MCP servers"):
            return
        self.push_screen(tui.windows.server.ServersScreen())

    def take_taste(self, taste: Interface) -> None:
        """Apply the interface settings of config.toml."""
        if taste == self.taste:
            return
        self.taste = taste
        self.theme = f"rookery-{taste.theme}"
        self.transcript.split = taste.diff == "split"
        self.fleet.set_compact(taste.compact_list)
        self.window.forget_lines()
        self.transcript.settle()

    def keep_taste(self, **changes: Any) -> None:
        """Save a choice that was made with a key."""
        self.taste = self.taste._replace(**changes)
        settings = {
            f"interface.{name}": None if value == Interface._field_defaults[name] else value
            for name, value in changes.items()
        }
        home = self.start.home

        def write() -> str:
            from rookery.client.config import edit

            return edit.attempt(lambda: edit.change(home, settings))

        def written(why: str) -> None:
            if why:
                self.notify(f"Not saved: {why}", severity="warning", markup=False)
            elif isinstance(self.screen, tui.windows.hub.SettingsScreen):
                self.screen.reload()  # it may have read what was before

        self.reader.fetch(write, written)

    # --- agents --------------------------------------------------------------------------------

    def action_agents(self) -> None:
        """Choose the agent that takes over the session that is shown, or answers the first
        prompt."""
        self._choose_agent({"do": "switch"})

    def _choose_agent(self, command: Json, title: str = "") -> None:
        session = self.session
        other = f"switch-agent {session} AGENT" if session else "run --agent AGENT --cwd DIR"
        if self.is_elsewhere("The list of agents", other):
            return
        from rookery.agents.registry import title_of

        current = str(self.window.header.agent) if session else ""

        def chosen(name: str) -> None:
            if not session:
                self.start.agent, self.start.argv = name, ()
                self.look_around()
                self.notify(f"{name} answers your first prompt.", markup=False)
                return
            question = f"Switch from {title_of(current)} to {title_of(name)}?"

            def send() -> None:
                self.send({**command, "agent": name}, session)

            tui.actions.working.foresee(self, "switch", session, send, question, agent=name)

        self.ask(tui.windows.agent.AgentsScreen(current, title), chosen)

    def action_rewind(self) -> None:
        """Choose the turn to go back to."""
        tui.actions.going_back.choose(self)

    # --- keys of the session list --------------------------------------------------------------

    def on_fleet_requested(self, message: Fleet.Requested) -> None:
        block = message.block
        session, title = str(block["id"]), clean_line(block["title"], 60)
        match message.what:
            case "menu":
                tui.actions.operating.menu(self, block)
            case "rename" | "archive" | "stop":
                tui.actions.operating.choose(self, message.what, block)
            case "delete":
                tui.actions.restoring.ask_to_delete(self, session, title)

    def action_restore(self) -> None:
        """Choose the session to bring back from the trash."""
        tui.actions.restoring.choose(self)

    # --- choices of a session ------------------------------------------------------------------

    def action_pick(self, name: str = "") -> None:
        """Pick a model, mode, effort or any other option; without a name, list the options."""
        if not self.session:
            if name in ("", "model"):
                self.action_models()
            else:
                self.notify("Options are available once the agent runs: send a prompt first.")
            return
        offered = list(self.window.header.options)
        if not name:
            self._pick_option(offered)
            return
        from rookery.core.vendors import options

        option = options.find(offered, name)
        if option is None:
            who = self.window.header.agent
            text = f"{who} has no {name} option." if offered else _not_yet(who)
            self.notify(text, severity="warning", markup=False)
            return
        self._pick_value(option)

    def _pick_option(self, offered: list[Json]) -> None:
        if not offered:
            self.notify(_not_yet(self.window.header.agent), severity="warning", markup=False)
            return

        by_name = {each["id"]: each for each in reversed(offered)}
        title = f"Options of {self.window.header.agent}"
        choice = tui.windows.choice
        screen = choice.ChoiceScreen(title, choice.of_session(self.window.header))
        self.ask(screen, lambda name: self._pick_value(by_name[name]))

    def _pick_value(self, option: Json) -> None:
        session, hint = self.session, "The change appears once the agent confirms it."
        choice = tui.windows.choice
        screen = choice.ChoiceScreen(str(option["name"]), choice.of_option(option), hint)
        self.ask(screen, lambda value: self.send(choice.command(option, value), session))

    def action_confirm_mode(self) -> None:
        """Choose how the session asks for approval."""
        if self.is_elsewhere("This session", f"set {self.session or 'SESSION'} confirm VALUE"):
            return
        tui.windows.confirm.open_dialog(self)

    def is_told(self, message: messages.Sent) -> bool:
        """Report a command that was done, or reopen its window; return whether nothing is left to
        say about it."""
        if not message.problem:
            if message.command["do"] == "set":
                self.tell_set(message)
            else:
                tui.actions.operating.report_done(self, message.command, message.session)
            return True
        if message.command["do"] != "rewind" or message.session != self.session:
            return False
        return tui.actions.going_back.changed(self, message.command, message.problem)

    def tell_set(self, message: messages.Sent) -> None:
        """Say which option was set."""
        from rookery.core.policy import modes

        command, here = message.command, message.session == self.session
        if command["option"] == modes.OPTION:
            header = self.window.header if here else EMPTY
            self.notify(tui.windows.confirm.outcome_text(command, header), markup=False)
        else:
            text = tui.windows.choice.outcome_text(command, message.outcome or {})
            self.notify(text, markup=False)

    # --- actions of blocks ---------------------------------------------------------------------

    def act(self, action: Json) -> None:
        """Carry out an action of a block (docs/sessions.md)."""
        match action:
            case {"command": dict(command), "choose": "agent"}:
                self._choose_agent(command, "Which agent continues this session?")
            case {"command": {"do": "rewind", "undo": True}}:
                tui.actions.going_back.show(self, None)
            case {"command": dict(command)}:
                self.send(command)
            case {"compose": {"recap": int(before)}}:
                self.action_recap(before)
            case {"window": "model"}:
                self.action_model()
            case {"compose": {"prompt": int(turn)}}:
                self._edit_prompt(turn)
            case {"window": "log"}:
                self._show_log(str(action.get("of", "agent")))
            case {"window": "kill"}:
                self._kill()
            case {"window": "servers"}:
                self.action_servers()
            case {"window": "move"}:
                tui.actions.racing.move(self, self.session)
            case {"window": "login", "agent": str(agent)}:
                if not self.is_elsewhere(f"The login of {agent}"):
                    self.notify(self.log_in(agent), markup=False)
                    self.look_around()
            case {"window": "agents"}:
                self.action_agents()
            case _:
                self.notify("This needs a newer version of Rookery.", severity="warning")

    def _show_log(self, of: str) -> None:
        title = "the worker" if of == "worker" else str(self.window.header.agent)
        self.push_screen(tui.windows.whole.LogScreen(self.session, title, of))

    def _kill(self) -> None:
        """Kill the processes of a session that does not respond."""
        session, rookery = self.session, self.reader.rookery

        def kill() -> str:
            try:
                return str(rookery.call("kill", session)["summary"])
            except Refused as error:
                return error.sentences

        self.reader.fetch(kill, lambda summary: self.notify(summary, markup=False))

    def _edit_prompt(self, turn: int) -> None:
        """Put the prompt of a turn into the composer."""
        session, rookery = self.session, self.reader.rookery

        def read() -> str:
            from rookery.client.reading import prompt_text

            try:
                with rookery.history(session) as log:
                    return prompt_text(log, turn)
            except Refused:
                return ""

        def put(text: str) -> None:
            if session != self.session:
                return
            if not text:
                self.notify("The prompt is no longer in the log.", severity="warning")
                return
            self.composer.put(text)
            self.composer.focus()

        self.reader.fetch(read, put)

    def action_recap(self, before: int | None = None) -> None:
        """Put a recap of the session into the composer."""
        session = self.session

        def put(text: str, why: str) -> None:
            if session != self.session:
                return
            if not text:
                self.notify(why, severity="warning", markup=False)
                return
            typed = self.composer.text
            self.composer.put(f"{text}\n\n{typed}")
            self.composer.focus()
            self.notify("The recap is in the composer: edit it, then send it.")

        self.reader.recap(session, before, put)


def _not_yet(agent: object) -> str:
    return f"{agent} lists its options once it has started."
