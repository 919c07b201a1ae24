"""A prompt that is written while something is asked: it answers nothing, and waits."""

from rookery.core import budgets
from rookery.core.asks.kept_asks import is_waiting
from rookery.core.json import Json, lenient
from rookery.core.policy import go_asks
from rookery.core.vendors.profiles import profile_for


def words(header: Json) -> str:
    """Says that a prompt does not answer what is open, and when it is read; "": nothing is, or what
    is said of a plan answers it."""
    found = [ask for ask in header["asks"].values() if is_waiting(ask) and not budgets.is_one(ask)]
    tools = [lenient.text(lenient.mapping(ask, "toolCall"), "name") for ask in found]
    if not found or (go_asks.TOOL in tools and profile_for(header).judged):
        return ""
    asks = "the open question" if len(found) == 1 else f"any of the {len(found)} open questions"
    return f"This is no answer to {asks}. {when_read(header)}"


def when_read(header: Json) -> str:
    """When the agent reads a prompt that is sent now."""
    if any(ask.get("away") for ask in header["asks"].values()):
        return "It is sent once you have answered."
    if lenient.flag(header, "steers"):
        return "The agent reads it after your answer."
    return "The agent reads it when this turn ends."
