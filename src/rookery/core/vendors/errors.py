"""What an agent's error says to a person: its message, and what many hide in its data."""

from rookery.core.json import lenient
from rookery.core.json.events import Json

DETAILS = ("details", "detail", "message", "error", "reason")
LONGEST = 2000


def error_words(error: Json) -> str:
    """ "Internal error: the model is not there"; the message alone where there is no more."""
    said = lenient.text(error, "message").strip()
    more = details(error)
    if more and more.lower() not in said.lower():
        said = f"{said.rstrip('.:')}: {more}" if said else more
    return said[:LONGEST] or "no reason given"


def details(error: Json) -> str:
    """The text in `data`, or in one of the fields that agents put it into."""
    data = error.get("data")
    if isinstance(data, str):
        return data.strip()
    found = [_text(lenient.mapping(error, "data").get(key)) for key in DETAILS]
    return next(filter(None, found), "")


def _text(value: object) -> str:
    if isinstance(value, dict):
        value = value.get("message")
    return value.strip() if isinstance(value, str) else ""
