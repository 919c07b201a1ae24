"""Every key that there is, by where it works: the widgets and windows have theirs from here, F1 and
the last line list them from here. Which keys they are by default says core.settings.keys."""

from textual.binding import Binding, BindingType

from rookery.core.settings.keys import DEFAULTS
from rookery.core.settings.keys import EVERYWHERE as EVERYWHERE_KEYS

FEEDBACK = ("right", "too kind", "too harsh")
"""What can be said of a critic's verdict, with a key each."""


def key(name: str, action: str, words: str, more: str = "", *, first: bool = False) -> Binding:
    """`more`: for F1, where there is room. `first`: before the widget that has the cursor."""
    return Binding(DEFAULTS[name], action, words, tooltip=more, priority=first, id=name)


def quiet(name: str, action: str, words: str, *, first: bool = False) -> Binding:
    """Not in the last line, which has little room."""
    return Binding(DEFAULTS[name], action, words, show=False, priority=first, id=name)


EVERYWHERE: list[BindingType] = [
    quiet("turn.cancel", "cancel", "cancel the turn; again: end the agent"),
    key("help", "keys", "keys", "this list of keys", first=True),
    key("ask.next", "next_ask", "next ask", "the next ask, in any session", first=True),
    key("session.list", "sessions", "sessions", "to the list of sessions, and back", first=True),
    key("session.new", "new", "new", "a new session", first=True),
    key("quit", "quit", "leave", "leave; nothing is stopped", first=True),
    key("session.next", "switch(1)", "next", "the next session", first=True),
    quiet("session.back", "switch(-1)", "the session before", first=True),
    quiet("theme", "theme", "the next theme", first=True),
    key("settings", "settings", "settings", first=True),
    quiet("agents", "agents", "agents: who answers, who takes over", first=True),
    quiet("session.options", "pick", "model, mode and other options", first=True),
    quiet("confirm", "confirm_mode", "when you are asked", first=True),
    quiet("servers", "servers", "MCP servers", first=True),
    quiet("quit.letter", "quit", "leave, outside of a text"),
    quiet("session.new.letter", "new", "a new session, outside of a text"),
    # Digits, since a terminal may send a letter for one that is held with Alt.
    *(
        quiet(f"critic.{n}", f"feedback({n - 1})", f"the critic was {words}, outside of a text")
        for n, words in enumerate(FEEDBACK, 1)
    ),
    quiet("focus.next", "app.focus_next", "to the next part of the screen"),
    quiet("focus.back", "app.focus_previous", "to the part before"),
]

LETTERS = {
    letter: [name for name, key in EVERYWHERE_KEYS.items() if key == letter]
    for letter in EVERYWHERE_KEYS.values()
    if len(letter) == 1
}
"""What is a letter where a text has the cursor, and whose key it is elsewhere."""

WRITING: list[BindingType] = [
    key("composer.send", "submit", "send"),
    quiet("composer.newline", "newline", "a new line"),
    quiet("past.older", "older", "earlier prompt, on the first line"),
    quiet("past.newer", "newer", "later prompt, on the last line"),
    quiet("past.search", "want('search')", "search earlier prompts"),
    quiet("composer.editor", "want('editor')", "write in your editor"),
    quiet("composer.attach", "want('attach')", "attach a file"),
    quiet("composer.paste", "want('paste')", "paste, also an image"),
    quiet("queue.focus", "want('queue')", "to what waits for the turn to end"),
    quiet("composer.complete", "complete", "complete / and @"),
]
AT_THE_BEGINNING = [quiet("composer.detach", "want('detach')", "take the last file away")]
"""Means this only where nothing stands before the cursor."""

SUGGESTED = [
    quiet("suggestion.next", "next", "next"),
    quiet("suggestion.back", "back", "previous"),
    quiet("suggestion.take", "take", "complete"),
    quiet("suggestion.do", "do", "complete, and send what is whole"),
    quiet("suggestion.close", "close", "close the list"),
]
"""Means this only while there are suggestions."""

QUEUE: list[BindingType] = [
    quiet("queue.up", "choose(-1)", "up"),
    quiet("queue.down", "choose(1)", "down"),
    key("queue.edit", "change('edit')", "edit", "edit it in the composer"),
    key("queue.earlier", "change('earlier')", "earlier", "send it earlier"),
    key("queue.later", "change('later')", "later", "send it later"),
    key("queue.remove", "change('remove')", "take back"),
    key("queue.send", "change('send')", "send now"),
]

TRANSCRIPT: list[BindingType] = [
    quiet("block.up", "move(-1)", "up"),
    quiet("block.down", "move(1)", "down"),
    key("block.open", "unfold", "open", "open or fold the block; of an ask: show all of it"),
    key("block.copy", "want('copy')", "copy", "copy the block"),
    key("block.edit", "want('edit')", "editor", "open it in your editor"),
    quiet("block.show", "want('show')", "open the image"),
    quiet("block.split", "split", "diffs side by side, or not"),
    quiet("ask.reject", "want('reject')", "reject the ask, with a reason"),
    quiet("ask.defer", "want('defer')", "decide later: it stays open"),
    quiet("ask.fill", "want('fill')", "fill in the form"),
    quiet("ask.decline", "want('decline')", "decline the form"),
    quiet("ask.all", "want('all')", "allow, approve all from now on"),
    quiet("ask.risky", "want('risky')", "allow, ask only when risky from now on"),
    quiet("ask.confirm", "confirm", "confirm what cannot be undone"),
    *(quiet(f"ask.option{n}", f"press({n - 1})", f"choose option {n}") for n in range(1, 10)),
    quiet("view.start", "first", "to the beginning"),
    quiet("view.end", "last", "to the end"),
]

FLEET: list[BindingType] = [
    quiet("fleet.up", "move(-1)", "up"),
    quiet("fleet.down", "move(1)", "down"),
    key("fleet.open", "choose", "open", "show the session"),
]

# --- windows -----------------------------------------------------------------------------------

WINDOW: list[BindingType] = [key("window.back", "leave", "back", first=True)]
SURE: list[BindingType] = [key("sure.yes", "yes", "yes")]
LINE: list[BindingType] = [key("line.take", "take", "send")]
LEAVING: list[BindingType] = [
    key("leave.yes", "leave_now", "leave", first=True),
    quiet("leave.no", "leave", "stay", first=True),
]
KEYS: list[BindingType] = [
    quiet("keys.up", "scroll(-1)", "up", first=True),
    quiet("keys.down", "scroll(1)", "down", first=True),
    quiet("keys.pageup", "turn(-1)", "a page up", first=True),
    quiet("keys.pagedown", "turn(1)", "a page down", first=True),
]
WHOLE: list[BindingType] = [
    quiet("whole.up", "up", "up"),
    quiet("whole.down", "down", "down"),
    key("whole.pageup", "page_up", "a page up"),
    key("whole.pagedown", "page_down", "a page down"),
    quiet("whole.start", "first", "to the beginning"),
    key("whole.end", "last", "to the end"),
]
SEARCH: list[BindingType] = [
    key("search.take", "take", "take"),
    quiet("search.up", "move(-1)", "up", first=True),
    quiet("search.down", "move(1)", "down", first=True),
]


def form(words: str) -> list[BindingType]:
    # Sending not first: what was typed before has to be in its field. The next field first: the
    # letter after it is meant for that.
    return [
        key("form.send", "send", words),
        quiet("form.next", "app.focus_next", "next field", first=True),
        quiet("form.back", "app.focus_previous", "field before", first=True),
    ]


FORM = form("send")
SAVED = form("save")
MODEL: list[BindingType] = [
    *form("test and save"),
    key("model.test", "test", "test"),
    key("model.keep", "keep", "save untested"),
]
MODELS: list[BindingType] = [
    key("models.edit", "edit", "change"),
    key("models.new", "new", "new"),
    key("models.default", "default", "make default"),
    key("models.test", "test", "test"),
    key("models.remove", "remove", "remove"),
]
CHOICE: list[BindingType] = [key("choice.take", "take", "choose")]
SETTINGS: list[BindingType] = [key("settings.open", "open", "open")]
AGENTS: list[BindingType] = [
    key("agents.take", "take", "use here"),
    key("agents.default", "default", "make default"),
    key("agents.copy", "copy", "copy install line"),
]
SERVERS: list[BindingType] = [
    key("servers.edit", "edit", "change"),
    key("servers.new", "new", "new"),
    key("servers.toggle", "turn", "on or off", first=True),
    key("servers.test", "test", "test"),
    key("servers.remove", "remove", "remove"),
]
RULES: list[BindingType] = [key("rules.remove", "remove", "remove")]

PLACES: tuple[tuple[str, list[BindingType]], ...] = (
    ("Everywhere", EVERYWHERE),
    ("Writing", [*WRITING, *AT_THE_BEGINNING]),
    ("While there are suggestions", [*SUGGESTED]),
    ("On what waits", QUEUE),
    ("In the transcript", TRANSCRIPT),
    ("In the list of sessions", FLEET),
    ("In every window", WINDOW),
    ("In this window", KEYS),
    ("In an ask, opened", WHOLE),
    ("In earlier prompts", SEARCH),
    ("In the settings", SETTINGS),
    ("In the list of models", MODELS),
    ("In the form of a model", MODEL),
    ("In the list of agents", AGENTS),
    ("In the list of MCP servers", SERVERS),
    ("In the list of rules", RULES),
    ("In a list to choose from", CHOICE),
    ("In a form", form("send, or save")),
    ("In a line to fill in", LINE),
    ("When you are asked whether you are sure", SURE),
    ("When you leave while turns run", LEAVING),
)
"""In the order of F1."""
