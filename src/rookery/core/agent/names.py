"""The name of an agent that was started by a command line: the one it reports itself."""

from rookery.core.header import Header
from rookery.core.json import lenient
from rookery.core.json.safe_text import clean_line

MAX_LENGTH = 40


def own_name(header: Header) -> str:
    """Return the name that the agent reports; "" if it was chosen by its name, or has not reported
    one yet."""
    if not header.argv:
        return ""
    info = header.info
    name = clean_line(lenient.text(info, "title")) or clean_line(lenient.text(info, "name"))
    return name if len(name) <= MAX_LENGTH else f"{name[: MAX_LENGTH - 1].rstrip()}…"


def agent_name(header: Header) -> str:
    """Return the agent's name for the user; for a registered agent this is its key."""
    return own_name(header) or clean_line(header.agent)
