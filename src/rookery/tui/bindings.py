"""The keys that work wherever the cursor is. Each has an id, by which `[keys]` can change it; F1
and the last line list them by themselves."""

from textual.binding import Binding, BindingType

from rookery.tui.feedback import WORDS as FEEDBACK

EVERYWHERE: list[BindingType] = [
    Binding("escape", "cancel", "cancel the turn", show=False, id="turn.cancel"),
    Binding("f1", "keys", "keys", priority=True, id="help"),
    Binding("f2", "next_ask", "next ask", priority=True, id="ask.next"),
    Binding("ctrl+b", "sessions", "sessions", priority=True, id="session.list"),
    Binding("ctrl+n", "new", "new", priority=True, id="session.new"),
    Binding("ctrl+q", "quit", "leave", priority=True, id="quit"),
    Binding("alt+down,f4", "switch(1)", "next", priority=True, id="session.next"),
    Binding("alt+up,f3", "switch(-1)", "previous", show=False, priority=True, id="session.back"),
    *(
        Binding(
            f"alt+{n}",
            f"feedback({n - 1})",
            f"the critic was {words}",
            show=False,
            priority=True,
            id=f"critic.{n}",
        )
        for n, words in enumerate(FEEDBACK, 1)
    ),
    Binding("f5", "theme", "theme", show=False, priority=True, id="theme"),
    Binding("f6", "settings", "settings", priority=True, id="settings"),
    Binding("f7", "agents", "agents", show=False, priority=True, id="agents"),
    Binding("f8", "pick", "model, mode, …", show=False, priority=True, id="session.options"),
    Binding("f9", "confirm_mode", "when to ask", show=False, priority=True, id="confirm"),
    Binding("f10", "servers", "MCP servers", show=False, priority=True, id="servers"),
    Binding("q", "quit", "leave", show=False, id="quit.letter"),
    Binding("n", "new", "new", show=False, id="session.new.letter"),
    Binding("tab", "app.focus_next", "move", show=False, id="focus.next"),
    Binding("shift+tab", "app.focus_previous", "move back", show=False, id="focus.back"),
]
