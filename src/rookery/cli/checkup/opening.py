"""An agent's start: its answers to `initialize` and `session/new`, and how long they took."""

from typing import Any

import rookery
from rookery.cli.checkup.card import NOT_OK, OK, UNAUTHENTICATED, Card
from rookery.cli.checkup.subject import Subject
from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import count
from rookery.core.turn.remedies import LOG_IN
from rookery.core.vendors import logins
from rookery.render.session_state import login_words
from rookery.wire.dialect import DRAFT


def params(version: int = 1) -> Json:
    """Return params of a client that offers nothing: whatever an agent calls is a mistake."""
    client = {"name": "rookery-doctor", "title": "Rookery", "version": rookery.__version__}
    return {"protocolVersion": version, "clientCapabilities": {}, "clientInfo": client}


async def initialize(card: Card, agent: Subject, within: float) -> bool:
    """Send `initialize` and judge the answer; return False if there is no use in going on."""
    reply = await agent.ask("initialize", params(), within)
    response = reply.result if isinstance(reply.result, dict) else None
    if response is None:
        card.say("initialize", NOT_OK, f"initialize: {reply.message or 'answered with no object'}")
        return False
    card.facts["initializeSeconds"] = round(agent.age, 3)
    version = response.get("protocolVersion")
    card.facts["protocolVersion"] = version
    shape = type(version) is int
    card.judge("initialize", shape, "initialize is answered", f"protocolVersion is {version!r}")
    if version == DRAFT:
        card.say("version", OK, "speaks draft 2 of the protocol, not version 1")
    else:
        card.judge("version", version == 1, "speaks version 1", f"asked for 1, answers {version!r}")
    info = lenient.mapping(response, "agentInfo")
    card.facts["agentInfo"] = info or None
    named = bool(lenient.text(info, "name") and lenient.text(info, "version"))
    card.judge(
        "agent-info", named, "reports its name and version", "does not report its name and version"
    )
    card.facts["capabilities"] = lenient.mapping(response, "agentCapabilities")
    _judge_logins(card, list(lenient.mappings(response, "authMethods")))
    if logins.has_status(card.facts["capabilities"]):
        reply = await agent.ask(logins.STATUS, {}, within)
        login = logins.status_of(reply.result)
        card.facts["login"] = login.state
        statement = login_words(*login, 0, 0).partition(" (")[0] or login.state
        card.judge("auth/status", reply.good, statement, f"not answered: {reply.message}")
    return True


def _judge_logins(card: Card, methods: list[Json]) -> None:
    names = [lenient.text(method, "id") for method in methods]
    card.facts["authMethods"] = names
    unique = len(set(names)) == len(names) and all(names)
    card.judge("login-methods", unique, "login methods have unique ids", f"ids: {names}")
    terminal = [lenient.text(each, "id") for each in methods if each.get("type") == "terminal"]
    statement = "no terminal login, which was not offered"
    card.judge(
        "terminal-login",
        not terminal,
        statement,
        f"terminal login, not offered: {', '.join(terminal)}",
    )


async def new_session(card: Card, agent: Subject, cwd: str, within: float) -> str:
    """Create a session, judge the answer and return the session's id, or "" if none was created."""
    before = len(agent.updates)
    reply = await agent.ask("session/new", {"cwd": cwd, "mcpServers": []}, within)
    if not reply.good:
        _judge_refusal(card, reply.code, reply.message)
        return ""
    session = lenient.text(reply.result, "sessionId")
    card.judge("session/new", bool(session), "session/new gives an id", "session/new gives no id")
    card.facts["newSeconds"] = round(agent.age, 3)
    card.usable = bool(session)
    early = reply.updates - before
    statement = "no update before the session is known"
    card.judge(
        "early-updates",
        not early,
        statement,
        f"{count(early, 'update')} before the session is known",
    )
    _judge_choices(card, reply.result)
    card.offers = reply.result if isinstance(reply.result, dict) else {}
    return session


def _judge_refusal(card: Card, code: int | None, message: str) -> None:
    if code == UNAUTHENTICATED:
        card.say("login", OK, f"needs a login first ({LOG_IN} {card.name}): {message}")
        if not card.facts["authMethods"]:
            card.say("login-methods", NOT_OK, "needs a login but offers no login method")
        return
    card.say("session/new", NOT_OK, f"session/new: {message}" + (f" ({code})" if code else ""))


def _judge_choices(card: Card, made: Any) -> None:
    modes, models = lenient.mapping(made, "modes"), lenient.mapping(made, "models")
    ids = [lenient.text(each, "id") for each in lenient.mappings(modes, "availableModes")]
    current = lenient.text(modes, "currentModeId")
    card.facts |= {"modes": ids, "mode": current or None}
    if modes:
        statement = "the current mode is one of its modes"
        card.judge("modes", current in ids, statement, f"mode {current!r} is not one of {ids}")
    known = [lenient.text(each, "modelId") for each in lenient.mappings(models, "availableModels")]
    card.facts |= {"models": known, "model": lenient.text(models, "currentModelId") or None}
    options = list(lenient.mappings(made, "configOptions"))
    card.facts["options"] = {lenient.text(each, "id"): each.get("currentValue") for each in options}
    selects = [each for each in options if lenient.text(each, "type") == "select"]
    wrong = [lenient.text(each, "id") for each in selects if not _is_choice(each)]
    if selects:
        statement = "each option has one of its listed values"
        card.judge("options", not wrong, statement, f"not a listed value: {', '.join(wrong)}")
    if len(selects) < len(options):
        card.say("option-kinds", NOT_OK, "an option of a kind the client did not offer")


def _is_choice(option: Json) -> bool:
    choices = list(lenient.mappings(option, "options"))
    grouped = [one for each in choices for one in lenient.mappings(each, "options")]
    return option.get("currentValue") in [each.get("value") for each in choices + grouped]
