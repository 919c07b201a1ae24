"""Asks: the questions and permission requests that an agent puts to the user before it goes on.

An ask is closed exactly once. The worker makes its nonce and never sends it to the agent, so that
only a client that has read the log can answer."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rookery.core.ask import Ask, Option, from_agent, options_in
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


def pick(options: Sequence[Option], kinds: Iterable[str]) -> Option | None:
    """Return the first option of the best kind, or None. `kinds`: best first."""
    return next((each for kind in kinds for each in options if each.kind == kind), None)


def pick_id(options: Sequence[Option], kinds: Iterable[str]) -> str:
    """Return the id of that option; "" if there is none."""
    option = pick(options, kinds)
    return option.id if option else ""


def allows(ask: Ask, command: Json) -> bool:
    """Whether an answer allows what is asked."""
    return any(each.allows and each.id == command.get("option") for each in ask.options)


def selected(option: Option | None, reason: str = "") -> Json:
    """Return the outcome of a request that this option answers; None cancels it."""
    if option is None:
        return dict(CANCELLED["outcome"])
    outcome: Json = {"outcome": "selected", "optionId": option.id}
    if reason:  # for agents that pass it on to their model
        outcome["_meta"] = {"rookery": {"reason": reason}}
    return outcome


def reason_of(outcome: object) -> str:
    """Return the reason that a client gives with an outcome; "" if it gives none."""
    return lenient.text(lenient.mapping(lenient.mapping(outcome, "_meta"), "rookery"), "reason")


def without_reason(reply: Json) -> Json:
    """Return the reply for an agent that passes no reason on: it gets that as a prompt, once."""
    outcome = lenient.mapping(reply, "outcome")
    if not reason_of(outcome):
        return reply
    return {"outcome": {key: value for key, value in outcome.items() if key != "_meta"}}


MEANINGS = {"y": "allow once", "n": "reject", "a": "always allow", "d": "decide later"}
"""Answers by what they mean, whatever an agent calls its options and in which order."""


def meant(ask: Ask, letter: str) -> Json | Refusal:
    """Return the fields of an answer command for one of `MEANINGS`, or why there are none."""
    if letter == "d":
        return {"defer": True}
    if ask.is_question:
        form = {"y": "accept", "n": "decline"}.get(letter)
        noun = "link" if ask.is_link else "form"
        message = f"A {noun} cannot be always allowed."
        return {"action": form} if form else Refusal("no_rule", message)
    if letter == "a" and ask.danger:
        return Refusal("always_disabled", once_only(ask.danger))
    if letter == "a" and ask.always:
        return {"always": True}
    kinds = {"y": ALLOWS[:1], "n": REJECTS, "a": ALLOWS[1:]}[letter]
    option = pick(ask.options, kinds)
    if option is None:
        names = ", ".join(each.name for each in ask.options)
        return Refusal("unknown_option", f"No option to {MEANINGS[letter]}. Options: {names}.")
    return {"option": option.id}


def letters(ask: Ask) -> list[str]:
    """Return the keys of `MEANINGS` that are valid answers to this ask."""
    return [each for each in MEANINGS if not isinstance(meant(ask, each), Refusal)]


def once_only(danger: str) -> str:
    """Return the message that a destructive call cannot be allowed always."""
    return f"Can't be always-allowed: this {danger}."


def asked(name: str, nonce: str, method: str, params: object, danger: str = "") -> Ask | None:
    """Return the ask that an agent's request makes; None if the user could not answer it.

    `danger`: why the call needs a second confirmation. Raises links.BadLink."""
    ask: Json = {"id": name, "nonce": nonce}
    if not isinstance(params, dict):
        return None
    if method == "session/request_permission":
        if not options_in(params):
            return None
        call, options = lenient.mapping(params, "toolCall"), lenient.sequence(params, "options")
        ask |= {"kind": "permission", "toolCall": call, "options": options}
        return from_agent(ask | ({"danger": danger} if danger else {}))
    schema = lenient.mapping(params, "requestedSchema")
    if method == "elicitation/create" and params.get("mode") == "url":
        return from_agent(ask | links.fields(params))
    if method == "elicitation/create" and schema:
        message = lenient.text(params, "message")
        return from_agent(ask | {"kind": "question", "message": message, "schema": schema})
    return None


def answered(ask: Ask, command: Json, by: str | None) -> Answer | Refusal:
    """Return the event and reply for a client's answer to an open ask, or the Refusal."""
    if command.get("nonce") != ask.nonce:
        return WRONG_NONCE
    if ask.is_question:
        return _question(ask, command, by)
    if command.get("cancel") is True:
        return _close(ask, CANCELLED, "cancelled", command["id"], by)
    for option in ask.options:
        if option.id == command.get("option"):
            reply = {"outcome": selected(option, lenient.text(command, "reason"))}
            unsafe = _unsafe(ask, option, command)
            return unsafe or _close(ask, reply, option.name, command["id"], by)
    names = ", ".join(option.id for option in ask.options)
    return Refusal("unknown_option", f"The agent offers: {names}.")


def _unsafe(ask: Ask, option: Option, command: Json) -> Refusal | None:
    """Refuse an unconfirmed or lasting permission for what cannot be undone."""
    if not ask.danger or not option.allows:
        return None
    if option.kind == "allow_always":
        return Refusal("always_disabled", once_only(ask.danger))
    if command.get("confirm") is not True:
        return Refusal("confirm_needed", f"This {ask.danger}. Confirm it to allow it.")
    return None


def _question(ask: Ask, command: Json, by: str | None) -> Answer | Refusal:
    action = command.get("action")
    if action not in ("accept", "decline", "cancel"):
        return Refusal("unknown_action", "Answer a form with accept, decline or cancel.")
    reply: Json = {"action": action}
    if action == "accept":
        content = lenient.mapping(command, "content")
        if wrong := forms.check(ask.schema or {}, content):
            problems = "; ".join(f"{field} {why}" for field, why in wrong.items())
            return Refusal("invalid_form", problems[:1000] + ".")
        if not ask.is_link:
            reply["content"] = content
    text = forms.answer(ask.schema or {}, lenient.mapping(reply, "content"))
    if ask.is_link:
        text = links.ANSWERED[action]
    return _close(ask, reply, text or str(action), command["id"], by)


def _close(ask: Ask, reply: Json, text: str, cause: str | None, by: str | None) -> Answer:
    update = closed(ask.id, reply.get("outcome", reply), name=text)
    return Answer(Draft(update, cause, by), reply)


def closed(ask: str, outcome: Json, **fields: str) -> Json:
    return {"sessionUpdate": "_ask", "id": ask, "state": "closed", "outcome": outcome, **fields}


def cancelled(ask: Ask, reason: str) -> Answer:
    """Close an ask after the turn or the agent ended: nobody waits for the answer any more."""
    reply: Json = {"action": "cancel"} if ask.is_question else CANCELLED
    outcome = {"outcome": "cancelled"}
    return Answer(Draft(closed(ask.id, outcome, reason=reason)), reply)


def completed(ask: Ask) -> Answer:
    """Close the ask of a link that was completed, as it was opened elsewhere."""
    answer = _close(ask, {"action": "accept"}, links.DONE, None, None)
    return answer._replace(draft=Draft(answer.draft.update | {"completed": True}))
