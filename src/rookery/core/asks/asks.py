"""Asks: the questions and permission requests that an agent puts to the user before it goes on.

An ask is closed exactly once. The worker makes its nonce and never sends it to the agent, so that
only a client that has read the log can answer."""

from collections.abc import Iterable
from typing import NamedTuple

from rookery.core.asks import forms, links
from rookery.core.json import Draft, Json, lenient

CANCELLED: Json = {"outcome": {"outcome": "cancelled"}}
"""The answer to a permission request whose turn was cancelled."""

ALLOWS = ("allow_once", "allow_always")
REJECTS = ("reject_once", "reject_always")
"""Kinds of options, the least far-reaching first."""


class Answer(NamedTuple):
    """The event that closes an ask, and the reply to the agent."""

    draft: Draft
    reply: Json


class Judgement(NamedTuple):
    """The outcome of judging a call, in words for the user."""

    outcome: str
    """allow, deny or ask; "": nobody could judge."""
    by: str = ""
    """For the log: rule:NAME, guard, confirm:MODE or unattended:VALUE."""
    words: str = ""
    """For people: allowed by rule NAME."""
    reason: str = ""
    """Of a denial, the rule's; of an ask, what makes the action dangerous."""

    @property
    def allow(self) -> bool:
        return self.outcome == "allow"

    @property
    def by_rule(self) -> bool:
        return self.by.startswith("rule:")

    @property
    def denial(self) -> str:
        """The denial as the model is told of it."""
        sentence = self.words[:1].upper() + self.words[1:]
        return f"{sentence}: {self.reason}" if self.reason else f"{sentence}."

    def as_json(self) -> Json:
        return {key: value for key, value in self._asdict().items() if value}


class Refusal(NamedTuple):
    reason: str
    message: str


WRONG_NONCE = Refusal("wrong_nonce", "The agent asks something else now; your answer was not sent.")


def options_of(ask: object) -> list[Json]:
    """Return the options of an ask, or of a permission request, that can be chosen: those with an
    id."""
    return [each for each in lenient.mappings(ask, "options") if lenient.text(each, "optionId")]


def pick(options: Iterable[Json], kinds: Iterable[str]) -> Json | None:
    """Return the first option of the most preferred kind; None if there is none. `kinds`: best
    first."""
    offered = list(options)
    fitting = (each for kind in kinds for each in offered if lenient.text(each, "kind") == kind)
    return next(fitting, None)


def allowing(ask: Json) -> str:
    """Return the id of the option that allows the call once, else always; "" if there is none."""
    return lenient.text(pick(options_of(ask), ALLOWS), "optionId")


def allows(ask: Json, command: Json) -> bool:
    """Whether an answer allows what is asked."""
    kinds = {option["optionId"]: lenient.text(option, "kind") for option in options_of(ask)}
    return kinds.get(lenient.text(command, "option"), "").startswith("allow")


def selected(option: Json | None, reason: str = "") -> Json:
    """Return the outcome of a request that is answered with this option; None means it is
    cancelled."""
    if option is None:
        return dict(CANCELLED["outcome"])
    outcome: Json = {"outcome": "selected", "optionId": option["optionId"]}
    if reason:  # for agents that pass it on to their model
        outcome["_meta"] = {"rookery": {"reason": reason}}
    return outcome


def reason_of(outcome: object) -> str:
    """Return the reason that a client gives with an outcome; "" if it gives none."""
    return lenient.text(lenient.mapping(lenient.mapping(outcome, "_meta"), "rookery"), "reason")


def without_reason(reply: Json) -> Json:
    """Return the reply for an agent that does not pass a reason on: it gets that as a
    prompt, once."""
    outcome = lenient.mapping(reply, "outcome")
    if not reason_of(outcome):
        return reply
    return {"outcome": {key: value for key, value in outcome.items() if key != "_meta"}}


MEANINGS = {"y": "allow once", "n": "reject", "a": "always allow", "d": "decide later"}
"""Answers by what they mean, whatever an agent calls its options and in which order."""


def meant(ask: Json, letter: str) -> Json | Refusal:
    """Return the fields of an answer command for one of `MEANINGS`, or a Refusal if this ask has no
    such answer."""
    if letter == "d":
        return {"defer": True}
    if ask.get("kind") == "question":
        form = {"y": "accept", "n": "decline"}.get(letter)
        noun = "link" if links.is_one(ask) else "form"
        message = f"A {noun} cannot be always allowed."
        return {"action": form} if form else Refusal("no_rule", message)
    if letter == "a" and (danger := lenient.text(ask, "danger")):
        return Refusal("always_disabled", once_only(danger))
    if letter == "a" and ask.get("always"):
        return {"always": True}
    kinds = {"y": ALLOWS[:1], "n": REJECTS, "a": ALLOWS[1:]}[letter]
    option = pick(options_of(ask), kinds)
    if option is None:
        names = ", ".join(lenient.text(each, "name") for each in options_of(ask))
        return Refusal("unknown_option", f"No option to {MEANINGS[letter]}. Options: {names}.")
    return {"option": option["optionId"]}


def letters(ask: Json) -> list[str]:
    """Return the keys of `MEANINGS` that are valid answers to this ask."""
    return [each for each in MEANINGS if not isinstance(meant(ask, each), Refusal)]


def answer_to(ask: Json) -> Json:
    """Return the command that answers an ask, without the answer itself."""
    return {"do": "answer", "ask": lenient.text(ask, "id"), "nonce": lenient.text(ask, "nonce")}


def once_only(danger: str) -> str:
    """Return the message that a destructive call cannot be allowed always."""
    return f"Can't be always-allowed: this {danger}."


def asked(name: str, nonce: str, method: str, params: object, danger: str = "") -> Json | None:
    """Return the `_ask` for an agent's request; None if it is not one that the user could answer.

    `danger`: why the call needs a second confirmation. Raises links.BadLink."""
    base: Json = {"sessionUpdate": "_ask", "id": name, "state": "asked", "nonce": nonce}
    if not isinstance(params, dict):
        return None
    if method == "session/request_permission":
        if not options_of(params):
            return None
        call, options = lenient.mapping(params, "toolCall"), lenient.sequence(params, "options")
        ask = base | {"kind": "permission", "toolCall": call, "options": options}
        return ask | ({"danger": danger} if danger else {})
    schema = lenient.mapping(params, "requestedSchema")
    if method == "elicitation/create" and params.get("mode") == "url":
        return base | links.fields(params)
    if method == "elicitation/create" and schema:
        message = lenient.text(params, "message")
        return base | {"kind": "question", "message": message, "schema": schema}
    return None


def answered(ask: Json, command: Json, by: str | None) -> Answer | Refusal:
    """Return the event and reply for a client's answer to an open ask, or the Refusal."""
    if command.get("nonce") != ask.get("nonce"):
        return WRONG_NONCE
    if ask.get("kind") == "question":
        return _question(ask, command, by)
    if command.get("cancel") is True:
        return _close(ask, CANCELLED, "cancelled", command["id"], by)
    for option in options_of(ask):
        if option["optionId"] == command.get("option"):
            reply = {"outcome": selected(option, lenient.text(command, "reason"))}
            name = lenient.text(option, "name")
            return _unsafe(ask, option, command) or _close(ask, reply, name, command["id"], by)
    names = ", ".join(option["optionId"] for option in options_of(ask))
    return Refusal("unknown_option", f"The agent offers: {names}.")


def _unsafe(ask: Json, option: Json, command: Json) -> Refusal | None:
    """Refuse an unconfirmed or lasting permission for what cannot be undone."""
    danger, kind = lenient.text(ask, "danger"), lenient.text(option, "kind")
    if not danger or not kind.startswith("allow"):
        return None
    if kind == "allow_always":
        return Refusal("always_disabled", once_only(danger))
    if command.get("confirm") is not True:
        return Refusal("confirm_needed", f"This {danger}. Confirm it to allow it.")
    return None


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
        if not links.is_one(ask):
            reply["content"] = content
    text = forms.answer(lenient.mapping(ask, "schema"), lenient.mapping(reply, "content"))
    if links.is_one(ask):
        text = links.ANSWERED[action]
    return _close(ask, reply, text or str(action), command["id"], by)


def _close(ask: Json, reply: Json, text: str, cause: str | None, by: str | None) -> Answer:
    outcome = reply.get("outcome", reply)
    update = closed(lenient.text(ask, "id"), outcome, name=text)
    return Answer(Draft(update, cause, by), reply)


def closed(ask: str, outcome: Json, **fields: str) -> Json:
    return {"sessionUpdate": "_ask", "id": ask, "state": "closed", "outcome": outcome, **fields}


def cancelled(ask: Json, reason: str) -> Answer:
    """Close an ask after the turn or the agent ended: nobody waits for the answer any more."""
    question = ask.get("kind") == "question"
    reply: Json = {"action": "cancel"} if question else CANCELLED
    outcome = {"outcome": "cancelled"}
    return Answer(Draft(closed(lenient.text(ask, "id"), outcome, reason=reason)), reply)


def completed(ask: Json) -> Answer:
    """Close the ask of a link that was completed though nobody answered here: the user opened it
    elsewhere."""
    answer = _close(ask, {"action": "accept"}, links.DONE, None, None)
    return answer._replace(draft=Draft(answer.draft.update | {"completed": True}))
