"""The window for approvals: in the current or the next session, and, as a second step, in all new
ones."""

import os
from collections.abc import Sequence
from functools import partial

from rookery.client.config import edit
from rookery.core.header import Header
from rookery.core.json import Json
from rookery.core.policy import approvals, modes
from rookery.forms.lists import Row
from rookery.home import config
from rookery.models.choice import default_agent
from rookery.tui.shell import Shell
from rookery.tui.windows.choice import ChoiceScreen, marked

NEW = "new"
"""The row that leads to the second step."""


def open_dialog(app: Shell) -> None:
    home, agent = app.start.home, app.start.agent
    app.reader.fetch(lambda: beginning(home, agent), lambda defaults: _choose(app, *defaults))


def beginning(home: str, agent: str) -> tuple[str, str]:
    """Return the agent of a new session, and how much it asks; the strictest setting if config.toml
    is damaged."""
    settings = config.load_or_defaults(home)
    return agent or default_agent(home, settings.default_agent, os.environ), settings.confirm


def rows(known: Sequence[tuple[str, str, str]], current: str, begins: str = "") -> list[Row]:
    """Return the choices; with `begins`, the default of new sessions, also a way to change that."""
    choices = [marked(Row(*each), each[0] == current) for each in known]
    if begins:
        note = f"now: {_title(begins)}"
        choices.append(Row(NEW, "Also for new sessions…", note))
    return choices


def _choose(app: Shell, agent: str, begins: str) -> None:
    session = app.session
    header = app.window.header if session else None
    agent = header.agent if header else agent
    vendor = header.vendor if header else None
    sandbox = header.sandbox if header else ""
    current = modes.current(header) if header else app.start.confirms(begins)

    def chosen(value: str) -> None:
        if value == NEW:
            _choose_default(app, begins)
        elif session:
            app.send({"do": "set", "option": modes.OPTION, "value": value}, session)
        else:
            app.start.once = value
            text = modes.words_of(agent, vendor, value)
            app.notify(f"{text}, in the next session.", markup=False)
            app.look_around()

    title = approvals.TITLE if session else f"{approvals.TITLE} in the new session"
    begun = header or modes.beginning(agent, current)
    known = modes.choices_of(agent, vendor, sandbox)
    known += [modes.PLAN_CHOICE] if modes.plan_of(begun) else []
    sentence = modes.sentence(header) if header and modes.brief(header) else ""
    alone = modes.SANDBOX if modes.decides_alone(agent, vendor) and not sandbox else ""
    note = " ".join(filter(None, (sentence, alone)))
    app.ask(ChoiceScreen(title, rows(known, current, begins), note), chosen)


def _choose_default(app: Shell, begins: str) -> None:
    def chosen(value: str) -> None:
        changes = {"session.confirm": None if value == modes.EVERY else value}
        write = partial(edit.change, app.start.home, changes)
        app.reader.fetch(partial(edit.attempt, write), partial(_saved, app, value))

    note = "Existing sessions keep theirs. Agents that decide on their own still do."
    known = modes.choices_of("", "")
    screen = ChoiceScreen(f"{approvals.TITLE} in new sessions", rows(known, begins), note)
    app.ask(screen, chosen)


def _saved(app: Shell, value: str, why: str) -> None:
    if why:
        app.notify(why, severity="error", markup=False)
        return
    app.notify(f"New sessions: {_title(value)}.", markup=False)
    app.look_around()


def _title(value: str) -> str:
    return approvals.WORDS.get(value, value)


def outcome_text(sent: Json, header: Header) -> str:
    """Describe the outcome of `set confirm`."""
    text = modes.words_of(header.agent, header.vendor, str(sent["value"]))
    return f"{text}, in this session."
