"""What an agent that was started by a command line is called: as it calls itself."""

from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import clean_line

MAX_LENGTH = 40


def own_name(header: Json) -> str:
    """Empty for an agent that was chosen by its name, and before it has introduced itself."""
    if not lenient.sequence(header, "argv"):
        return ""
    info = lenient.mapping(header, "info")
    name = clean_line(lenient.text(info, "title")) or clean_line(lenient.text(info, "name"))
    return name if len(name) <= MAX_LENGTH else f"{name[: MAX_LENGTH - 1].rstrip()}…"


def agent_name(header: Json) -> str:
    """For the user; the name of a registered agent is its key."""
    return own_name(header) or clean_line(lenient.text(header, "agent"))
