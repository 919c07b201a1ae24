"""Every key by where it works, for widgets, windows, F1 and the last line. The default keys are in
core.settings.keys."""

from textual.binding import Binding, BindingType

from rookery.core.settings.keys import DEFAULTS
from rookery.core.settings.keys import EVERYWHERE as EVERYWHERE_KEYS

FEEDBACK = ("right", "too kind", "too harsh")
"""Feedback on a critic's verdict, with a key each."""


def key(name: str, action: str, label: str, more: str = "", *, first: bool = False) -> Binding:
    """Return a binding. `more`: a longer label, for F1. `first`: before the focused widget."""
    return Binding(DEFAULTS[name], action, label, tooltip=more, priority=first, id=name)


def quiet(name: str, action: str, label: str, *, first: bool = False) -> Binding:
    """Return a binding that is not shown in the last line."""
    return Binding(DEFAULTS[name], action, label, show=False, priority=first, id=name)


EVERYWHERE: list[BindingType] = [
    quiet("turn.cancel", "cancel", "cancel the turn; again: stop the agent"),
    key("help", "keys", "keys", "this list of keys", first=True),
    key("ask.next", "next_ask", "next ask", "the next ask, in any session", first=True),
    key("session.list", "sessions", "sessions", "to the session list", first=True),
    key("session.new", "new", "new", "a new session", first=True),
    key("quit", "quit", "leave", "leave; stops nothing", first=True),
    key("session.next", "switch(1)", "next", "the next session", first=True),
    quiet("session.back", "switch(-1)", "the previous session", first=True),
    quiet("theme", "theme", "the next theme", first=True),
    key("settings", "settings", "settings", first=True),
    quiet("agents", "agents", "agents: choose, switch", first=True),
    quiet("session.options", "pick", "model, mode and other options", first=True),
    quiet("confirm", "confirm_mode", "approvals: when to ask", first=True),
    quiet("servers", "servers", "MCP servers", first=True),
    key("palette", "palette", "commands", "find any command, session or setting", first=True),
    quiet("find", "find", "find in the transcript", first=True),
    quiet("panel", "panel", "show or hide the side panel", first=True),
    quiet("help.letter", "keys", "this list, outside a text field, or where nothing is written"),
    quiet("quit.letter", "quit", "leave, outside a text field"),
    quiet("session.new.letter", "new", "a new session, outside a text field"),
    # Digits: a terminal may send a letter for one pressed with Alt.
    *(
        quiet(f"critic.{n}", f"feedback({n - 1})", f"the critic was {text}, outside a text field")
        for n, text in enumerate(FEEDBACK, 1)
    ),
    quiet("focus.next", "app.focus_next", "to the next part of the screen"),
    quiet("focus.back", "app.focus_previous", "to the previous part of the screen"),
]

LETTERS = {
    letter: [name for name, key in EVERYWHERE_KEYS.items() if key == letter]
    for letter in EVERYWHERE_KEYS.values()
    if len(letter) == 1
}
"""Letters in a text field that are keys elsewhere."""

WRITING: list[BindingType] = [
    key("composer.send", "submit", "send"),
    quiet("composer.queue", "submit(True)", "send after the running turn"),
    quiet("composer.newline", "newline", "a new line"),
    quiet("composer.clear", "clear_text", "clear the text; ↑ brings it back"),
    quiet("past.older", "older", "earlier prompt, on the first line"),
    quiet("past.newer", "newer", "later prompt, on the last line"),
    quiet("past.search", "want('search')", "search earlier prompts"),
    quiet("composer.editor", "want('editor')", "edit in your editor"),
    quiet("composer.attach", "want('attach')", "attach a file"),
    quiet("composer.paste", "want('paste')", "paste text or an image"),
    quiet("queue.focus", "want('queue')", "to the queue"),
    quiet("shell.give", "want('shell')", "send a shell command's output to the agent"),
    quiet("composer.complete", "complete", "complete / and @"),
]
AT_THE_BEGINNING = [quiet("composer.detach", "want('detach')", "remove the last file")]
"""Only at the start of the text."""

SUGGESTED = [
    quiet("suggestion.next", "next", "next"),
    quiet("suggestion.back", "back", "previous"),
    quiet("suggestion.take", "take", "complete"),
    quiet("suggestion.do", "do", "complete, and send if complete"),
    quiet("suggestion.close", "close", "close the list"),
]
"""Only while there are suggestions."""

QUEUE: list[BindingType] = [
    quiet("queue.up", "choose(-1)", "up"),
    quiet("queue.down", "choose(1)", "down"),
    key("queue.edit", "change('edit')", "edit", "edit it in the composer"),
    key("queue.earlier", "change('earlier')", "earlier", "send it earlier"),
    key("queue.later", "change('later')", "later", "send it later"),
    key("queue.remove", "change('remove')", "remove"),
    key("queue.send", "change('send')", "send now"),
]

TRANSCRIPT: list[BindingType] = [
    key("ask.allow", "answer('allow')", "allow once"),
    quiet("ask.amend", "want('amend')", "allow it, and tell the agent something with it"),
    quiet("ask.alike", "answer('alike')", "allow all asks that are alike; shows them first"),
    quiet("ask.alike_deny", "answer('alike_deny')", "reject all that are alike; shows them first"),
    key("ask.always", "answer('always')", "always allow", "always allow; shows the rule first"),
    key("ask.deny", "answer('deny')", "reject"),
    key("ask.reject", "want('reject')", "say why", "reject, and say why"),
    key("ask.defer", "want('defer')", "later", "decide later: it stays open"),
    key("ask.fill", "want('fill')", "fill in", "fill in the form"),
    key("ask.decline", "want('decline')", "decline", "decline the form"),
    quiet("ask.qr", "want('qr')", "show the address as a QR code"),
    quiet("ask.all", "want('all')", "allow, and approve all from now on"),
    quiet("ask.risky", "want('risky')", "allow, and ask when risky from now on"),
    key("ask.more", "answer('more')", "more", "more ways to answer"),
    key("ask.confirm", "confirm", "confirm", "confirm what cannot be undone"),
    *(quiet(f"ask.option{n}", f"press({n - 1})", f"choose option {n}") for n in range(1, 10)),
    quiet("block.up", "move(-1)", "up"),
    quiet("block.down", "move(1)", "down"),
    key("block.open", "unfold", "open", "open or fold the block; show all of an ask"),
    key("block.copy", "want('copy')", "copy", "copy the block"),
    key("block.edit", "want('edit')", "editor", "open it in your editor"),
    quiet("ask.explain", "answer('explain')", "explain what it would do: files, network, code"),
    quiet("block.view", "want('view')", "see its pictures large, where the terminal draws them"),
    quiet("block.show", "want('show')", "open it in the browser, or its image"),
    quiet("block.split", "split", "diffs side by side or in one column"),
    quiet("view.start", "first", "to the beginning"),
    quiet("view.end", "last", "to the end"),
]

FLEET: list[BindingType] = [
    quiet("fleet.up", "move(-1)", "up"),
    quiet("fleet.down", "move(1)", "down"),
    key("fleet.open", "choose", "open", "show the session"),
    key("fleet.filter", "filter", "filter", "show only sessions with the words you type"),
    key("fleet.rename", "want('rename')", "rename"),
    key("fleet.archive", "want('archive')", "archive", "hide it; a prompt brings it back"),
    key("fleet.stop", "want('stop')", "stop", "put it to sleep; the next prompt wakes it"),
    key("fleet.menu", "want('menu')", "more", "what else can be done with it"),
    key("fleet.delete", "want('delete')", "delete", "move it to the trash"),
    quiet("fleet.restore", "app.restore", "bring a session back from the trash"),
    quiet("fleet.compact", "compact", "one line per session, or two"),
]

FIND: list[BindingType] = [
    key("find.older", "move(-1)", "match above", "the match above; Enter does it, too"),
    key("find.newer", "move(1)", "match below", "the match below"),
    key("find.close", "close", "close", "close it and go back to the composer"),
]

PANEL: list[BindingType] = [
    quiet("panel.up", "move(-1)", "the file above"),
    quiet("panel.down", "move(1)", "the file below"),
    key("panel.open", "open", "open", "show the call that changed it last"),
]

# --- windows -----------------------------------------------------------------------------------

WINDOW: list[BindingType] = [key("window.back", "leave", "back", first=True)]
SURE: list[BindingType] = [key("sure.yes", "yes", "yes")]
LINE: list[BindingType] = [key("line.take", "take", "send", "send, save or attach")]
LEAVING: list[BindingType] = [
    key("leave.yes", "leave_now", "leave", first=True),
    quiet("leave.no", "leave", "stay", first=True),
]
KEYS: list[BindingType] = [
    quiet("keys.up", "scroll(-1)", "up", first=True),
    quiet("keys.down", "scroll(1)", "down", first=True),
    quiet("keys.pageup", "turn(-1)", "page up", first=True),
    quiet("keys.pagedown", "turn(1)", "page down", first=True),
]
WHOLE: list[BindingType] = [
    quiet("whole.up", "move(-1)", "up"),
    quiet("whole.down", "move(1)", "down"),
    key("whole.pageup", "page_up", "page up"),
    key("whole.pagedown", "page_down", "page down"),
    quiet("whole.start", "first", "to the beginning"),
    key("whole.end", "last", "to the end"),
]
SEARCH: list[BindingType] = [
    key("search.take", "take", "use"),
    quiet("search.up", "move(-1)", "up", first=True),
    quiet("search.down", "move(1)", "down", first=True),
]


def form(label: str) -> list[BindingType]:
    # Sending is not first: earlier keys must reach their field. The next field is: the next letter
    # belongs there.
    return [
        key("form.send", "send", label),
        quiet("form.next", "app.focus_next", "next field", first=True),
        quiet("form.back", "app.focus_previous", "previous field", first=True),
    ]


FORM = form("send")
SAVED = form("save")
MODEL: list[BindingType] = [
    *form("test and save"),
    key("model.test", "test", "test"),
    key("model.keep", "keep", "save untested"),
]
MODELS: list[BindingType] = [
    key("models.edit", "choose", "change"),
    key("models.new", "new", "new"),
    key("models.default", "act('default')", "make default"),
    key("models.test", "act('test')", "test"),
    key("models.remove", "remove", "remove"),
]
CHOICE: list[BindingType] = [key("choice.take", "choose", "choose")]
PICTURE: list[BindingType] = [
    quiet("picture.next", "turn(1)", "the block's next picture"),
    quiet("picture.back", "turn(-1)", "the block's previous picture"),
    key("picture.show", "show", "open", "open it in the system's viewer"),
]
PREVIEW: list[BindingType] = [
    key("preview.pageup", "page_up", "page up", first=True),
    key("preview.pagedown", "page_down", "page down", first=True),
]
SETTINGS: list[BindingType] = [
    key("settings.open", "choose", "open"),
    key("settings.find", "find", "search"),
]
AGENTS: list[BindingType] = [
    key("agents.take", "choose", "use or install"),
    key("agents.default", "act('default')", "make default"),
    key("agents.login", "log_in", "log in"),
    key("agents.copy", "copy", "copy command"),
]
INSTALL: list[BindingType] = [
    key("install.run", "run", "install"),
    quiet("install.cancel", "leave", "cancel", first=True),
]
SERVERS: list[BindingType] = [
    key("servers.edit", "choose", "change"),
    key("servers.new", "new", "new"),
    key("servers.toggle", "turn", "on or off", first=True),
    key("servers.test", "act('test')", "test"),
    key("servers.login", "log_in", "log in"),
    key("servers.remove", "remove", "remove"),
]
RULES: list[BindingType] = [
    key("rules.edit", "choose", "change"),
    key("rules.new", "new", "new"),
    key("rules.earlier", "act('up')", "earlier", "try it before the rule above"),
    key("rules.later", "act('down')", "later", "try it after the rule below"),
    key("rules.remove", "remove", "remove"),
]

PLACES: tuple[tuple[str, list[BindingType]], ...] = (
    ("Everywhere", EVERYWHERE),
    ("Writing", [*WRITING, *AT_THE_BEGINNING]),
    ("While there are suggestions", [*SUGGESTED]),
    ("In the queue", QUEUE),
    ("In the transcript", TRANSCRIPT),
    ("In the session list", FLEET),
    ("In the side panel", PANEL),
    ("In the line for finding", FIND),
    ("In every window", WINDOW),
    ("In this window", KEYS),
    ("In an opened ask", WHOLE),
    ("In a picture's window", PICTURE),
    ("In earlier prompts", SEARCH),
    ("In the settings", SETTINGS),
    ("In the list of models", MODELS),
    ("In a model's form", MODEL),
    ("In the list of agents", AGENTS),
    ("Before and while an agent is installed", INSTALL),
    ("In the list of MCP servers", SERVERS),
    ("In the list of rules", RULES),
    ("In a list to choose from", CHOICE),
    ("In a preview", PREVIEW),
    ("In a form", form("send, or save")),
    ("In a line of text", LINE),
    ("When asked to confirm", SURE),
    ("When leaving while turns run", LEAVING),
)
"""In the order of F1."""
OF_THIS_MACHINE = frozenset(
    {
        *("In the settings", "In the list of models", "In a model's form"),
        *("In the list of agents", "Before and while an agent is installed"),
        *("In the list of MCP servers", "In the list of rules"),
    }
)
"""Places that are never reached while another machine's sessions are shown."""
