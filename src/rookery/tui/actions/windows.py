"""The windows that keys and commands open, and what is done with their answers.

Each is loaded when it is opened: the first picture needs none of them.
"""

from typing import Any

from rookery.core.json.events import Json
from rookery.core.limits import Interface
from rookery.core.policy import modes
from rookery.core.vendors import options
from rookery.tui import messages
from rookery.tui.actions.hung import Hung

BEHIND = frozenset(
    {
        *("settings", "agents", "pick", "confirm_mode", "servers"),
        *("new", "switch", "sessions", "next_ask"),
    }
)
"""Actions whose keys are for the screen below."""


class Windows(Hung):
    """The part of the program that opens them."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Under a window nothing moves, and no second one is opened by a key."""
        if action in BEHIND and len(self.screen_stack) > 1:
            return False
        return super().check_action(action, parameters)

    def look_around(self) -> None:
        self.room.look_around(self.start.cwd, self.start.agent)

    def on_fetched(self, message: messages.Fetched) -> None:
        message.then(message.found)

    # --- keys ----------------------------------------------------------------------------------

    def action_keys(self) -> None:
        """Also over a window; once more, and it is gone."""
        from rookery.tui.windows.key_help import KeysScreen, all_keys

        if isinstance(self.screen, KeysScreen):
            self.screen.action_leave()
        else:
            self.push_screen(KeysScreen(all_keys(self)))

    def take_keys(self, chosen: dict[str, str]) -> None:
        """The keys of a person's own, as config.toml says them now."""
        if chosen == self._own_keys:
            return
        from rookery.tui.windows.key_help import take_keys

        self._own_keys = chosen
        take_keys(self, chosen)

    # --- settings ------------------------------------------------------------------------------

    def action_settings(self) -> None:
        from rookery.tui.windows.hub import SettingsScreen

        self.push_screen(SettingsScreen())

    def action_model(self) -> None:
        """The one form in which a model is set up."""
        from rookery.tui.windows.model import ModelForm

        def saved(answer: Json | None) -> None:
            if answer is not None:
                self.notify(answer["words"], markup=False)
                self.look_around()

        self.push_screen(ModelForm(), saved)

    def action_models(self) -> None:
        from rookery.tui.windows.model import ModelsScreen

        self.push_screen(ModelsScreen())

    def action_servers(self) -> None:
        from rookery.tui.windows.server import ServersScreen

        self.push_screen(ServersScreen())

    def action_rules(self) -> None:
        from rookery.tui.windows.rule import RulesScreen

        self.push_screen(RulesScreen())

    def take_taste(self, taste: Interface) -> None:
        """How things are shown, as config.toml says it now."""
        if taste == self.taste:
            return
        self.taste = taste
        self.theme = f"rookery-{taste.theme}"
        self.transcript.split = taste.diff == "split"
        self.window.forget_lines()
        self.transcript.settle()

    def keep_taste(self, **changes: Any) -> None:
        """A choice made with a key holds the next time, too."""
        self.taste = self.taste._replace(**changes)
        wanted = {
            f"interface.{name}": None if value == Interface._field_defaults[name] else value
            for name, value in changes.items()
        }
        home = self.start.home

        def write() -> str:
            from rookery.client.config import edit

            return edit.attempt(home, wanted)

        def written(why: str) -> None:
            if why:
                self.notify(f"It holds until you leave: {why}", severity="warning", markup=False)

        self.room.fetch(write, written)

    # --- agents --------------------------------------------------------------------------------

    def action_agents(self) -> None:
        """Who takes over the session that is shown; without one, who answers the first prompt."""
        current = str(self.window.header["agent"]) if self.session else ""
        self._choose_agent({"do": "switch"}, current, "")

    def choose_agent(self, command: Json) -> None:
        """A block's action that lets a person choose the agent."""
        current = str(self.window.header["agent"])
        self._choose_agent(command, current, "Who goes on with this session?")

    def _choose_agent(self, command: Json, current: str, title: str) -> None:
        from rookery.tui.windows.agent import AgentsScreen, takeover

        session = self.session

        def chosen(name: str | None) -> None:
            if name is None:
                return
            if not session:
                self.start.agent = name
                self.look_around()
                self.notify(f"{name} answers your first prompt.", markup=False)
                return
            screen = takeover(self.window.header, name)
            made = {**command, "agent": name}
            self.push_screen(screen, lambda yes: self.send(made, session) if yes else None)

        self.push_screen(AgentsScreen(current, title), chosen)

    # --- choices of a session ------------------------------------------------------------------

    def action_pick(self, name: str = "") -> None:
        """Model, mode, effort or any other option; without a name, the list of them."""
        if not self.session:
            if name in ("", "model"):
                self.action_models()
            else:
                self.notify("A session has its options once its agent runs: write first.")
            return
        found = list(self.window.header["options"])
        if not name:
            self._pick_option(found)
            return
        option = options.find(found, name)
        if option is None:
            who = self.window.header["agent"]
            words = f"{who} offers no choice of {name}." if found else _not_yet(who)
            self.notify(words, severity="warning", markup=False)
            return
        self._pick_value(option)

    def _pick_option(self, found: list[Json]) -> None:
        from rookery.tui.windows.choice import ChoiceScreen, of_session

        if not found:
            self.notify(_not_yet(self.window.header["agent"]), severity="warning", markup=False)
            return

        def chosen(name: str | None) -> None:
            if name is not None:
                option = next(each for each in found if each["id"] == name)
                self._pick_value(option)

        title = f"What {self.window.header['agent']} lets you choose"
        self.push_screen(ChoiceScreen(title, of_session(self.window.header)), chosen)

    def _pick_value(self, option: Json) -> None:
        from rookery.tui.windows.choice import ChoiceScreen, command, of_option

        session = self.session

        def chosen(value: str | None) -> None:
            if value is not None:
                self.send(command(option, value), session)

        words = "It is shown once the agent confirmed it."
        self.push_screen(ChoiceScreen(str(option["name"]), of_option(option), words), chosen)

    def action_confirm_mode(self) -> None:
        """How much is asked: every action, what is risky, nothing."""
        from rookery.tui.windows.confirm import open_dialog

        open_dialog(self)

    def tell_set(self, message: messages.Sent) -> None:
        """A choice was taken: it is named."""
        from rookery.tui.windows import choice, confirm

        command, here = message.command, message.session == self.session
        if command["option"] == modes.OPTION:
            header = self.window.header if here else {"agent": "", "argv": []}
            self.notify(confirm.told(command, header), markup=False)
        else:
            self.notify(choice.told(command, message.outcome), markup=False)

    # --- actions of blocks ---------------------------------------------------------------------

    def act(self, action: Json) -> None:
        """What an action of a block asks for (docs/sessions.md)."""
        match action:
            case {"command": dict(command), "choose": "agent"}:
                self.choose_agent(command)
            case {"command": dict(command)}:
                self.send(command)
            case {"compose": {"recap": int(before)}}:
                self._compose_recap(before)
            case {"window": "model"}:
                self.action_model()
            case {"window": "agents"}:
                self.action_agents()
            case _:
                self.notify("A later Rookery knows how to do this.", severity="warning")

    def _compose_recap(self, before: int) -> None:
        from rookery.client.reading import recap
        from rookery.home.paths import session_dir
        from rookery.log.errors import LogError
        from rookery.log.reader import Reader

        session, home = self.session, self.start.home

        def read() -> tuple[str, str]:
            try:
                with Reader.open(session_dir(home, session)) as log:
                    return recap(log, before).text(), "Nothing was said before that."
            except LogError as error:
                return "", str(error)

        def put(found: tuple[str, str]) -> None:
            text, why = found
            if session != self.session:
                return
            if not text:
                self.notify(why, severity="warning", markup=False)
                return
            typed = self.composer.text
            self.composer.load_text(f"{text}\n\n{typed}" if typed else f"{text}\n\n")
            self.composer.move_cursor(self.composer.document.end)
            self.composer.focus()
            self.notify("The recap is in the composer: change it, then send it.")

        self.room.fetch(read, put)


def _not_yet(agent: object) -> str:
    return f"{agent} has told no choices yet: it tells them when it starts."
