"""The slash commands that are ours, and how those of the agent stand beside them."""

from typing import NamedTuple

from rookery.core.json import lenient
from rookery.core.json.events import Json
from rookery.tui.look.plain import clean_line
from rookery.tui.writing.fuzzy import ranked


class Command(NamedTuple):
    name: str
    words: str
    hint: str = ""
    """What may stand behind it."""
    ours: bool = True


OURS = (
    Command("agent", "let another agent take over", "name"),
    Command("agents", "the agents that there are"),
    Command("attach", "attach a file or an image", "path"),
    Command("clear", "begin anew; earlier turns are folded away"),
    Command("confirm", "how much is asked", "every, risky or all"),
    Command("effort", "how hard the model thinks", "value"),
    Command("help", "every key"),
    Command("mcp", "the MCP servers"),
    Command("mode", "the agent's mode", "value"),
    Command("model", "choose the model", "name"),
    Command("new", "a new session"),
    Command("paste", "attach the image of the clipboard"),
    Command("quit", "leave; nothing is stopped"),
    Command("recap", "put what was said, in short, into the composer"),
    Command("rename", "give the session a title", "title"),
    Command("settings", "model, key and other settings"),
    Command("stop", "put the session to sleep; the next prompt wakes it"),
    Command("theme", "the next theme, or a named one", "dark, light or contrast"),
)
NAMES = {command.name: command for command in OURS}


def known(header: Json | None) -> dict[str, Command]:
    """Ours, and the agent's own that ours do not hide, by their names."""
    found = dict(NAMES)
    for each in lenient.mappings(header, "commands") if header else ():
        name = clean_line(lenient.text(each, "name").lstrip("/"), 80)
        if name and " " not in name and name not in found:
            words = clean_line(lenient.text(each, "description"), 200)
            hint = clean_line(lenient.text(lenient.mapping(each, "input"), "hint"), 60)
            found[name] = Command(name, words, hint, ours=False)
    return found


def matching(query: str, header: Json | None, most: int = 8) -> list[Command]:
    found = known(header)
    if not query:
        return list(found.values())
    return [found[name] for name in ranked(query, found, most)]


def parsed(text: str) -> tuple[Command, str] | None:
    """One of ours and what stands behind it; None: it is a prompt."""
    if not text.startswith("/"):
        return None
    word, _, rest = text[1:].partition(" ")
    command = NAMES.get(word.strip())
    return (command, rest.strip()) if command and "\n" not in word else None
