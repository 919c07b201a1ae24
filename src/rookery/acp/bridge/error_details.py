"""Clients that show an error's `data.details` and never its message: they get the message there, so
that a person reads what happened and what helps. Others would read it twice."""

from rookery.core.json import lenient
from rookery.core.json.events import Json

DETAILS_ONLY = frozenset(["toad"])
"""As they call themselves in `clientInfo`."""


def for_client(info: Json, message: str, data: object) -> object:
    """The data of an error with this message."""
    if lenient.text(info, "name").lower() not in DETAILS_ONLY:
        return data
    given: Json = data if isinstance(data, dict) else {}
    return {**given, "details": message.replace("[", r"\[")}  # it reads markup in it
