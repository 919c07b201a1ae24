"""Describing an agent's errors, including the details that many hide in `data`, and how its process
ended."""

from rookery.core.json import Json, dumps, lenient

DETAILS = ("details", "detail", "message", "error", "reason")
MAX_LENGTH = 2000


def error_words(error: Json) -> str:
    """Return "Internal error: the model is not there"; the message alone if there are no
    details."""
    message = lenient.text(error, "message").strip()
    more = details(error)
    if more and more.lower() not in message.lower():
        message = f"{message.rstrip('.:')}: {more}" if message else more
    return message[:MAX_LENGTH] or "no reason given"


def details(error: Json) -> str:
    """Return the text in `data`, or in one of the fields that agents put it into."""
    data = error.get("data")
    if isinstance(data, str):
        return data.strip()
    texts = [_text(lenient.mapping(error, "data").get(key)) for key in DETAILS]
    return next(filter(None, texts), "")


def _text(value: object) -> str:
    if isinstance(value, dict):
        value = value.get("message")
    return value.strip() if isinstance(value, str) else ""


# --- its process ---------------------------------------------------------------------------------

SIGNALS = {1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS"}
SIGNALS |= {8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM"}
LINES = 20


def exit_title(who: str, status: object) -> str:
    """Describe how a process ended. `status`: as the system reports it, or a shell (128 plus the
    signal)."""
    if not isinstance(status, int) or isinstance(status, bool):
        return f"{who} ended with status {dumps(status)}"
    number = -status if status < 0 else status - 128 if status - 128 in SIGNALS else 0
    if not number:
        return f"{who} ended with status {status}"
    name = SIGNALS.get(number, f"signal {number}")
    if number == 9:
        return f"{who} was killed ({name}): by hand, or out of memory"
    return f"{who} was ended by {name}"


def last_words(process: Json) -> str:
    """Return the last lines that the process wrote to stderr."""
    return "\n".join(lenient.texts(process, "stderr")[-LINES:])
