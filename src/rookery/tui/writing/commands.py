"""The slash commands: ours and the agent's."""

from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from rookery.core.header import Header
from rookery.core.json import lenient
from rookery.core.view.fuzzy import ranked
from rookery.operations.catalogue.finding import typed
from rookery.render.runs import clean_line

if TYPE_CHECKING:
    from rookery.operations.catalogue.row import Row


class Command(NamedTuple):
    name: str
    about: str
    hint: str = ""
    """Its value."""
    action: str = ""
    """What it does without a value, as a key would."""
    ours: bool = True
    operates: Literal["", "session", "rookery"] = ""
    """Of an operation of the catalogue: what it is done to."""


OURS = (
    Command("agent", "switch to another agent", "name", "agents"),
    Command("agents", "list the agents", action="agents"),
    Command("attach", "attach a file or an image", "path"),
    Command(
        "confirm", "approvals", "ask always, ask when risky, approve all or plan", "confirm_mode"
    ),
    Command("effort", "set how hard the model thinks", "value", "pick('effort')"),
    Command("export", "write the transcript to a file: .md, .html or .jsonl", "path"),
    Command("find", "find words in the transcript", action="find"),
    Command("help", "list every key", action="keys"),
    Command("mcp", "manage MCP servers", action="servers"),
    Command("mode", "set the agent's mode", "value", "pick('mode')"),
    Command("model", "choose the model", "name", "pick('model')"),
    Command("new", "start a new session", action="new"),
    Command("paste", "attach the image on the clipboard"),
    Command("quit", "leave; stops nothing", action="quit"),
    Command("race", "race agents in worktrees, or compare and pick", "agents task"),
    Command("recap", "put a recap of the session into the composer"),
    Command("sandbox", "start a session in a sandbox", "none, bwrap or container"),
    Command("settings", "model, key and other settings", action="settings"),
    Command("theme", "the next theme, or a named one", "dark, light or contrast", "theme"),
    Command("worktree", "start a session in a git worktree of its own", "name"),
)
ONLY_HERE = frozenset({"agents", "export", "mcp", "settings"})
"""Those that another machine's Rookery does not have here."""
NAMES = {command.name: command for command in OURS}
"""Those that are no operations."""
LOOKS = {
    "asks": ("", "next_ask"),
    "import": ("agent", ""),
    "restore": ("session", "restore"),
    "rewind": ("turn or undo", "rewind"),
    "search": ("words", "search_all"),
}
"""Operations that have windows of their own here: what follows them, and the action."""
_LIST = Command("sessions", "go to the session list", action="sessions")
ALSO = {"exit": NAMES["quit"], "history": _LIST, "sessions": _LIST}
"""Other programs' words: they work, and are not listed."""


def ours() -> dict[str, Command]:
    """Return our commands by name: those above, which are handled here, and the operations of the
    catalogue."""
    commands = {each.name: each for each in _operations()} | NAMES
    return dict(sorted(commands.items()))


@cache
def _operations() -> tuple[Command, ...]:
    return tuple(
        Command(row.name, row.word, *LOOKS[row.name])
        if row.name in LOOKS
        else Command(
            row.name, row.word, _hint(row), operates="session" if row.on_session else "rookery"
        )
        for row in typed()
    )


def _hint(row: "Row") -> str:
    """Return a hint for the argument that is required, or for an optional one that has choices or
    is positional."""
    choices = [*row.arguments[0].choices] if row.arguments else []
    placed = [each.word for each in row.arguments if each.about.positional]
    return " ".join(row.schema["required"]) or ", ".join(choices) or " ".join(placed)


def known(header: Header | None, *, here: bool = True) -> dict[str, Command]:
    """Return our commands, and the agent's where the names differ. `here` means that the sessions
    are on this machine."""
    commands = {name: each for name, each in ours().items() if here or name not in ONLY_HERE}
    for each in header.commands if header else ():
        name = clean_line(lenient.text(each, "name").lstrip("/"), 80)
        if name and " " not in name and name not in commands:
            description = clean_line(lenient.text(each, "description"), 200)
            hint = clean_line(lenient.text(lenient.mapping(each, "input"), "hint"), 60)
            commands[name] = Command(name, description, hint, ours=False)
    return commands


def matching(
    query: str, header: Header | None, most: int = 8, *, here: bool = True
) -> list[Command]:
    commands = known(header, here=here)
    if not query:
        return list(commands.values())
    return [commands[name] for name in ranked(query, commands, most)]


def parsed(text: str) -> tuple[Command, str] | None:
    """Return our command and its value, or None if the text is a prompt."""
    if not text.startswith("/"):
        return None
    word, _, rest = text[1:].partition(" ")
    word = word.strip()
    command = ours().get(word) or ALSO.get(word)
    return (command, rest.strip()) if command and "\n" not in word else None
