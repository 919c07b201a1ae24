"""A session's open asks as dialogs of one editor. The first answer wins, wherever it is given: if
an ask is closed elsewhere, its dialog is withdrawn."""

from collections.abc import Callable

from rookery.acp.bridge import ask_content
from rookery.core.asks.asks import ALLOWS, REJECTS, answer_to, options_of, pick
from rookery.core.json import Json, lenient
from rookery.wire.jsonrpc import Answer, ConnectionClosed, Peer, TooLarge
from rookery.wire.params import offers


class Questions:
    """`answer` is called with the command that a dialog's end stands for."""

    def __init__(
        self, peer: Peer, session: str, client: Json, answer: Callable[[Json], None]
    ) -> None:
        self._peer = peer
        self._session = session
        self._forms = offers(client, "elicitation", "form")
        self._answer = answer
        self._open: dict[str, int] = {}
        """By the ask's id: the id of our request."""

    def takes(self, ask: Json) -> bool:
        """Whether this editor can show it."""
        return ask.get("kind") == "permission" or self._forms

    def ask(self, ask: Json, call: Json, header: Json) -> None:
        """Open the dialog of an ask that `takes` allows. `call`: the tool call that it is about, as
        the editor knows it."""
        if ask["id"] in self._open:
            return
        if ask.get("kind") == "permission":
            shown = ask_content.told(call, ask, header)
            try:
                self._permit(ask, shown)
            except TooLarge:
                self._permit(ask, ask_content.small(shown, self._session))
        else:
            self._form(ask, lenient.text(ask, "message"))

    def _permit(self, ask: Json, call: Json) -> None:
        params = {"toolCall": call, "options": _options(ask)}
        self._request("session/request_permission", ask, params, _permission)

    def ask_again(self, ask: Json, problem: str) -> None:
        """A form that was filled in wrongly."""
        self._form(ask, f"{problem}\n\n{lenient.text(ask, 'message')}")

    def closed(self, ask: str) -> None:
        request = self._open.pop(ask, None)
        if request is not None:
            self._peer.notify("$/cancel_request", {"requestId": request})

    def close_all(self) -> None:
        for ask in list(self._open):
            self.closed(ask)

    def _form(self, ask: Json, message: str) -> None:
        params = {"mode": "form", "message": message, "requestedSchema": ask["schema"]}
        self._request("elicitation/create", ask, params, _form_answer)

    def _request(
        self, method: str, ask: Json, params: Json, understand: Callable[[Json, Answer], Json]
    ) -> None:
        def answered(answer: Answer) -> None:
            # A dialog that was withdrawn answers nothing; nor does an editor that went away: the
            # ask waits.
            if self._open.get(ask["id"]) != request:
                return
            del self._open[ask["id"]]
            if not isinstance(answer.error, ConnectionClosed):
                self._answer(answer_to(ask) | understand(ask, answer))

        request = self._peer.send_request(method, {"sessionId": self._session, **params}, answered)
        self._open[ask["id"]] = request


def _options(ask: Json) -> list[Json]:
    """The agent's own; of a dangerous call, without those that hold always."""
    found = []
    for option in options_of(ask):
        kind, name = lenient.text(option, "kind"), option["optionId"]
        if ask.get("danger") and kind.endswith("_always"):
            continue
        if kind not in (*ALLOWS, *REJECTS):
            kind = "allow_once" if kind.startswith("allow") else "reject_once"
        shown = {"optionId": name, "name": lenient.text(option, "name") or name, "kind": kind}
        meta = option.get("_meta")
        found.append(shown | ({"_meta": meta} if isinstance(meta, dict) else {}))
    return found


def _permission(ask: Json, answer: Answer) -> Json:
    """Anything but a clear yes is a no."""
    outcome = lenient.mapping(answer.result, "outcome")
    offered = [option["optionId"] for option in _options(ask)]
    if outcome.get("outcome") == "selected" and outcome.get("optionId") in offered:
        return {"option": outcome["optionId"]} | ({"confirm": True} if ask.get("danger") else {})
    if outcome.get("outcome") == "cancelled":
        return {"cancel": True}
    reject = pick(options_of(ask), REJECTS)
    return {"option": reject["optionId"]} if reject else {"cancel": True}


def _form_answer(_ask: Json, answer: Answer) -> Json:
    action = lenient.text(answer.result, "action")
    if action == "accept":
        return {"action": action, "content": lenient.mapping(answer.result, "content")}
    return {"action": action if action in ("decline", "cancel") else "cancel"}
