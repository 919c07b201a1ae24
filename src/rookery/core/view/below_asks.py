"""The notice for a prompt that is sent while an ask is open: it answers nothing, and waits."""

from rookery.core.ask import asks_of
from rookery.core.header import Header
from rookery.core.json import lenient
from rookery.core.policy import go_asks
from rookery.core.vendors.profiles import profile_for


def notice(header: Header) -> str:
    """Return a notice that a prompt does not answer what is open, and when it is read; "" if
    nothing is open, or if the prompt counts as a reply to a plan."""
    waiting = (ask for ask in asks_of(header).values() if ask.is_waiting)
    open_asks = [ask for ask in waiting if not ask.is_about_budget]
    tools = [lenient.text(ask.call, "name") for ask in open_asks]
    if not open_asks or (go_asks.TOOL in tools and profile_for(header).judged):
        return ""
    asks = (
        "the open question"
        if len(open_asks) == 1
        else f"any of the {len(open_asks)} open questions"
    )
    return f"This is no answer to {asks}. {when_read(header)}"


def when_read(header: Header) -> str:
    """Return when the agent reads a prompt that is sent now, as a sentence."""
    if any(ask.away for ask in asks_of(header).values()):
        return "It is sent once you have answered."
    if header.steers:
        return "The agent reads it after your answer."
    return "The agent reads it when this turn ends."
