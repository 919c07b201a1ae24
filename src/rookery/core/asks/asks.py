"""Asks: what an agent wants to know of the user before it goes on.

An ask is closed exactly once. The nonce is made by the worker and never told to the agent, so that
only a client that has read the log can answer.
"""

from typing import NamedTuple

from rookery.core.asks import form_words, forms
from rookery.core.json import lenient
from rookery.core.json.events import Draft, Json

CANCELLED: Json = {"outcome": {"outcome": "cancelled"}}
"""The answer to a permission request whose turn was cancelled (acp-C1)."""


class Answer(NamedTuple):
    """The event that closes an ask, and what the agent is told."""

    draft: Draft
    reply: Json


class Ruling(NamedTuple):
    """What is said for the user."""

    allow: bool
    by: str
    """For the log: rule:NAME, confirm:VALUE or unattended:VALUE."""
    words: str
    """For people: allowed by rule NAME."""
    reason: str = ""


class Refusal(NamedTuple):
    reason: str
    message: str


def pick(ask: Json, kinds: tuple[str, ...]) -> Json | None:
    """Of the options that the agent offers, the first of the kind that is wanted most."""
    found = [each for each in lenient.mappings(ask, "options") if lenient.text(each, "optionId")]
    for kind in kinds:
        for option in found:
            if lenient.text(option, "kind") == kind:
                return option
    return None


def allowing(ask: Json) -> str:
    """The id of the option that allows it once, else for good; "" where there is none."""
    option = pick(ask, ("allow_once", "allow_always"))
    return option["optionId"] if option else ""


def asked(name: str, nonce: str, method: str, params: object, danger: str = "") -> Json | None:
    """The `_ask` of an agent's request; None when it is not one that the user could answer.

    `danger`: why the call wants a second confirmation.
    """
    base: Json = {"sessionUpdate": "_ask", "id": name, "state": "asked", "nonce": nonce}
    if not isinstance(params, dict):
        return None
    if method == "session/request_permission":
        if not any(
            lenient.text(option, "optionId") for option in lenient.mappings(params, "options")
        ):
            return None
        call, options = lenient.mapping(params, "toolCall"), lenient.sequence(params, "options")
        ask = base | {"kind": "permission", "toolCall": call, "options": options}
        return ask | ({"danger": danger} if danger else {})
    schema = lenient.mapping(params, "requestedSchema")
    if method == "elicitation/create" and schema:
        message = lenient.text(params, "message")
        return base | {"kind": "question", "message": message, "schema": schema}
    return None


def answered(ask: Json, command: Json, by: str | None) -> Answer | Refusal:
    """What a client's answer does to an open ask."""
    if command.get("nonce") != ask.get("nonce"):
        return Refusal("wrong_nonce", "This answer is for another question than the open one.")
    if ask.get("kind") == "question":
        return _question(ask, command, by)
    if command.get("cancel") is True:
        return _close(ask, CANCELLED, "cancelled", command["id"], by)
    for option in lenient.mappings(ask, "options"):
        if lenient.text(option, "optionId") and option["optionId"] == command.get("option"):
            return _unsafe(ask, option, command) or _selected(ask, option, command, by)
    names = ", ".join(
        lenient.text(option, "optionId") for option in lenient.mappings(ask, "options")
    )
    return Refusal("unknown_option", f"The agent offers: {names}.")


def _unsafe(ask: Json, option: Json, command: Json) -> Refusal | None:
    """What cannot be undone is confirmed twice, and never for good."""
    danger, kind = lenient.text(ask, "danger"), lenient.text(option, "kind")
    if not danger or not kind.startswith("allow"):
        return None
    if kind == "allow_always":
        return Refusal(
            "always_disabled", f"This {danger}: it can only be allowed once, not always."
        )
    if command.get("confirm") is not True:
        return Refusal("confirm_needed", f"This {danger}. Confirm it to allow it.")
    return None


def _selected(ask: Json, option: Json, command: Json, by: str | None) -> Answer:
    outcome: Json = {"outcome": "selected", "optionId": option["optionId"]}
    said = lenient.text(command, "reason")
    if said:  # for agents that pass it on to their model
        outcome["_meta"] = {"rookery": {"reason": said}}
    return _close(ask, {"outcome": outcome}, lenient.text(option, "name"), command["id"], by)


def _question(ask: Json, command: Json, by: str | None) -> Answer | Refusal:
    action = command.get("action")
    if action not in ("accept", "decline", "cancel"):
        return Refusal("unknown_action", "Answer a form with accept, decline or cancel.")
    reply: Json = {"action": action}
    if action == "accept":
        content = lenient.mapping(command, "content")
        if wrong := forms.check(lenient.mapping(ask, "schema"), content):
            problems = "; ".join(f"{field} {why}" for field, why in wrong.items())
            return Refusal("invalid_form", problems[:1000] + ".")
        reply["content"] = content
    words = form_words.answer(lenient.mapping(ask, "schema"), lenient.mapping(reply, "content"))
    return _close(ask, reply, words or str(action), command["id"], by)


def _close(ask: Json, reply: Json, words: str, cause: str | None, by: str | None) -> Answer:
    outcome = reply.get("outcome", reply)
    update = closed(lenient.text(ask, "id"), outcome, name=words)
    return Answer(Draft(update, cause, by), reply)


def closed(ask: str, outcome: Json, **fields: str) -> Json:
    return {"sessionUpdate": "_ask", "id": ask, "state": "closed", "outcome": outcome, **fields}


def cancelled(ask: Json, reason: str) -> Answer:
    """The turn or the agent ended: nobody waits for the answer any more."""
    question = ask.get("kind") == "question"
    reply: Json = {"action": "cancel"} if question else CANCELLED
    outcome = {"outcome": "cancelled"}
    return Answer(Draft(closed(lenient.text(ask, "id"), outcome, reason=reason)), reply)
