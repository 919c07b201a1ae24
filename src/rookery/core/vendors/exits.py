"""How an agent's process ended, in words: by itself, or killed."""

from rookery.core.json import lenient
from rookery.core.json.events import Json, dumps

SIGNALS = {1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS"}
SIGNALS |= {8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM"}
KILL = 9
LINES = 20


def title(who: str, status: object) -> str:
    """`status`: as the system says it, or as a shell does (128 and the signal)."""
    if not isinstance(status, int) or isinstance(status, bool):
        return f"{who} ended with status {dumps(status)}"
    number = -status if status < 0 else status - 128 if status - 128 in SIGNALS else 0
    if not number:
        return f"{who} ended with status {status}"
    name = SIGNALS.get(number, f"signal {number}")
    if number == KILL:
        return f"{who} was killed ({name}): by hand, or out of memory"
    return f"{who} was ended by {name}"


def said(process: Json) -> str:
    """What it wrote to stderr in its last seconds."""
    return "\n".join(lenient.texts(process, "stderr")[-LINES:])
