"""Opening an ACP session: the parameters we send, the modes and models the agent offers, and the
agent sessions found in a log."""

from collections.abc import Iterable
from typing import NamedTuple

from rookery.core.agent.messages import Applied, Setting, Wish
from rookery.core.json import Event, Json, kind_of, lenient, notice
from rookery.core.policy import approvals, modes
from rookery.core.vendors import options
from rookery.core.vendors.errors import error_words


def can(capabilities: Json | None, ability: str) -> bool:
    """Whether an agent declares a session capability, such as resume, close or delete."""
    return isinstance(lenient.mapping(capabilities, "sessionCapabilities").get(ability), dict)


def taken(capabilities: Json | None, servers: list[Json]) -> list[Json]:
    """Return the MCP servers whose transport the agent accepts; every agent accepts stdio."""
    left = untaken(capabilities, servers)
    return [server for server in servers if server not in left]


def untaken(capabilities: Json | None, servers: list[Json]) -> list[Json]:
    """Return the MCP servers whose transport the agent does not accept."""
    takes = lenient.mapping(capabilities, "mcpCapabilities")
    kinds = [(server, lenient.text(server, "type", "stdio")) for server in servers]
    return [server for server, kind in kinds if kind != "stdio" and not takes.get(kind)]


def offers_of(result: object, wish: Wish) -> Json:
    offers: Json = {
        key: result[key]
        for key in ("modes", "models", "configOptions")
        if isinstance(result, dict) and result.get(key) is not None
    }
    if wish.known_modes and not options.find(options.offered(offers), "mode"):
        offers["modes"] = wish.known_modes
    return offers


CHOSEN = ("model", "mode", "effort")


def chosen_with(wanted: Json, saved: str) -> Json:
    """Return what the user chose, plus the saved model for this agent if they chose no other."""
    return {**wanted, "model": saved} if saved and not lenient.text(wanted, "model") else wanted


def settings(session: str, offers: Json, wish: Wish) -> tuple[Setting, ...]:
    """Return the settings that differ from what the agent starts with. A value that it does not
    know is skipped, and `unavailable` reports it."""
    pending: list[Setting] = []
    confirm = lenient.text(wish.chosen, modes.OPTION)
    for name in CHOSEN:
        option = options.find(options.offered(offers), name)
        wanted = lenient.text(wish.chosen, name)
        if name == "mode" and not wanted and confirm:
            wanted = modes.mode_for(wish.profile, option, confirm) or ""
        value = options.choice_of(option, wanted) if option and wanted else None
        if option and value and value != option["value"]:
            pending.append(Setting(name, value, *options.setting(session, option, value)))
    return tuple(pending)


def unoffered(offers: Json, wish: Wish) -> str:
    """Return a notice that the agent does not offer today what it is known to have, or ""."""
    if lenient.text(wish.chosen, "mode"):
        return ""
    mode = options.find(options.offered(offers), "mode")
    wanted = lenient.text(wish.chosen, modes.OPTION)
    return modes.unoffered(wish.name, wish.profile, mode, wanted)


def unavailable(offers: Json, wish: Wish, *, fresh: bool) -> list[str]:
    """Return a sentence for each choice of the user's that the agent does not have; it goes on with
    its own. An option that is missing is reported only if `fresh`: an agent that resumes an old
    session may report its options later."""
    sentences = []
    for name in CHOSEN:
        wanted = lenient.text(wish.chosen, name)
        option = options.find(options.offered(offers), name)
        if wanted and option and options.choice_of(option, wanted) is None:
            sentences.append(options.lacking(wish.name, name, wanted, option))
        elif wanted and option is None and fresh:
            sentences.append(options.lacking(wish.name, name, wanted, None))
    return sentences


def no_plan(offers: Json, wish: Wish) -> Json | None:
    """Return the error if the user chose plan mode and the agent has none: it gets no prompt."""
    if approvals.id_of(lenient.text(wish.chosen, "mode")) != approvals.PLAN:
        return None
    option = options.find(options.offered(offers), "mode")
    if option is not None and options.choice_of(option, approvals.PLAN):
        return None
    return _no_plan(f"{wish.name} has no plan mode.")


def plan_refused(setting: Setting, given: Applied, wish: Wish) -> Json | None:
    """Return the error if the agent has a plan mode and did not enter it."""
    plans = setting.name == "mode" and approvals.id_of(str(setting.value)) == approvals.PLAN
    if given.error is None or not plans:
        return None
    return _no_plan(f"{wish.name} rejected its plan mode: {error_words(given.error)}")


def _no_plan(message: str) -> Json:
    return {"message": message, "data": {"errorKind": "no_plan"}}


def applied(setting: Setting, given: Applied, wish: Wish) -> Json:
    """Return the update that logs the outcome of a setting."""
    if given.error is None:
        return options.confirmation(setting.name, setting.value, given.result)
    text = f"{wish.name} rejected the {setting.name} {setting.value}: {error_words(given.error)}"
    if setting.name == "mode" and setting.value == dict(wish.profile.confirms).get("all"):
        text += modes.hint(wish.profile, modes.ALL)
    return notice(text)


KINDS = ("_session", "_agent", "_context")
"""Kinds of events that mention the agent's sessions."""


class Conversation(NamedTuple):
    agent: str
    argv: tuple[str, ...]
    """Empty: the agent is found by its name."""
    id: str
    """The agent's own."""
    deletable: bool
    """The agent said that it can delete sessions."""


def conversations(events: Iterable[Event]) -> list[Conversation]:
    """Return the agent sessions found in events of `KINDS`, each once, in order."""
    agent, argv, able = "", tuple[str, ...](), False
    by_session: dict[tuple[str, tuple[str, ...], str], Conversation] = {}
    for event in events:
        update = event.update
        match kind_of(update), update.get("state"):
            case ("_session", _):
                agent = lenient.text(update, "agent") or agent
                argv = tuple(lenient.texts(update, "argv")) if "argv" in update else argv
                update = {"sessionId": lenient.mapping(update, "imported").get("session")}
            case ("_agent", "switched"):
                agent, able = lenient.text(update, "to") or agent, False
                argv = tuple(lenient.texts(update, "argv"))
                continue
            case ("_agent", "ready"):
                able = can(lenient.mapping(update, "capabilities"), "delete")
            case ("_context", "cleared"):
                pass
            case _:
                continue
        if name := lenient.text(update, "sessionId"):
            by_session[agent, argv, name] = Conversation(agent, argv, name, able)
    return list(by_session.values())
