"""A session's open asks as dialogs of one editor. The first answer wins, wherever it is given: if
an ask is closed elsewhere, its dialog is withdrawn.

A dialog shows everything that will run, before the agent's own title for it. Editors render
Markdown, which could hide a part of a command: text that is not ours is quoted as code."""

import os
import re
from collections.abc import Callable

from rookery.core.ask import Ask, ask_of, asks_of
from rookery.core.asks import links
from rookery.core.asks.asks import ALLOWS, REJECTS, pick, reason_of
from rookery.core.blocks import Block, asks, captions
from rookery.core.blocks.parts import diffs
from rookery.core.header import Header
from rookery.core.json import Json, lenient, safe_text
from rookery.core.tools.calls import key_of
from rookery.wire.jsonrpc import Answer, ConnectionClosed, Peer, TooLarge
from rookery.wire.params import offers


class Questions:
    """The dialogs of one editor. `tell` sends an update to it."""

    def __init__(
        self, peer: Peer, session: str, client: Json, tell: Callable[[Json], None]
    ) -> None:
        self._peer = peer
        self._tell = tell
        self._session = session
        self._forms = offers(client, "elicitation", "form")
        self._links = offers(client, "elicitation", "url")
        self.answer: Callable[[Json], None] = lambda _: None
        """Called with the command that a dialog's end stands for."""
        self._open: dict[str, int] = {}
        """By the ask's id: the id of our request."""
        self._sent: dict[str, tuple[Ask, Json, Header] | None] = {}
        """By the ask's id: its answer is on the way, and it was asked again meanwhile, as by a
        worker that takes over from one that was killed."""
        self._titles: dict[str, tuple[str, str, str]] = {}
        """By the id of an ask about a call: the call's id, its title in the dialog without the
        number, and that number."""

    def takes(self, ask: Ask) -> bool:
        """Tell whether this editor can show an ask."""
        return ask.kind == "permission" or self._forms or ask.is_link

    def ask(self, ask: Ask, call: Json, header: Header) -> None:
        """Open the dialog of an ask that `takes` allows. `call`: the tool call that it is about, as
        the editor knows it."""
        if ask.id in self._open:
            return
        if ask.id in self._sent:
            self._sent[ask.id] = (ask, call, header)
            return
        if ask.is_link:
            self._link(ask, header)
        elif ask.kind == "permission":
            now = ask_of(header, ask.id)
            ask = ask.with_(step=now.step if now else None)
            shown = told_call(call, ask, header)
            try:
                self._permit(ask, shown)
            except TooLarge:
                self._permit(ask, small_call(shown, self._session))
            known = asks_of(header)
            for name in self._titles:
                self._number(name, asks.number(known[name].step if name in known else []))
        else:
            self._form(ask, ask.message)

    def _link(self, ask: Ask, header: Header) -> None:
        """Have the editor open a link, or show it in a permission request for the user to open."""
        if self._links:
            params: Json = {"mode": "url", "elicitationId": ask.id, "url": ask.url}
            params["message"] = ask.message
            self._request("elicitation/create", ask, params, _form_answer)
            return
        call: Json = {"toolCallId": f"link-{ask.id}", "kind": "other", "status": "pending"}
        call = told_call(call, ask, header)
        call["title"] = f"Open a page of {links.host_of(ask.url)} in your browser"
        params = {"toolCall": call, "options": LINK_OPTIONS}
        self._request("session/request_permission", ask, params, _link_answer)

    def _permit(self, ask: Ask, call: Json) -> None:
        number = asks.number(ask.step)
        title = lenient.text(call, "title")
        params: Json = {"toolCall": {**call, "title": number + title} if number else call}
        params["options"] = _options(ask)
        about: Json = {"step": ask.step} if ask.step else {}
        about |= {"explains": ask.explains} if ask.explains else {}
        params |= {"_meta": {"rookery": about}} if about else {}
        self._request("session/request_permission", ask, params, _permission)
        if not (ask.is_about_budget or ask.decide):
            self._titles[ask.id] = (call["toolCallId"], title, number)

    def _number(self, ask: str, number: str) -> None:
        """Tell the editor the position of an open ask among all of them."""
        call, title, before = self._titles[ask]
        if number != before and title:
            update = {"sessionUpdate": "tool_call_update", "toolCallId": call}
            self._tell({**update, "title": number + title})
        self._titles[ask] = (call, title, number)

    def _end(self, ask: str) -> int | None:
        """End the dialog of an ask and return its request, if any; the call keeps its title without
        the number."""
        if ask in self._titles:
            self._number(ask, "")
            del self._titles[ask]
        return self._open.pop(ask, None)

    def ask_again(self, ask: Ask, problem: str) -> None:
        """Show a form again that was filled in wrongly."""
        self._form(ask, f"{problem}\n\n{ask.message}")

    def arrived(self, ask: str, *, taken: bool) -> None:
        """Note an answer: if it was not taken, show an ask that was repeated meanwhile."""
        again = self._sent.pop(ask, None)
        if again is not None and not taken:
            self.ask(*again)

    def ended(self, update: Json) -> None:
        """Close the dialog of an ask that is closed, or whose link has served its purpose, wherever
        it was opened."""
        name = lenient.text(update, "id")
        self.closed(name)
        done = update.get("completed") is True or update.get("state") == "completed"
        if done and self._links:
            self._peer.notify("elicitation/complete", {"elicitationId": name})

    def closed(self, ask: str) -> None:
        self._sent.pop(ask, None)
        request = self._end(ask)
        if request is not None:
            self._peer.notify("$/cancel_request", {"requestId": request})

    def close_all(self) -> None:
        for ask in list(self._open):
            self.closed(ask)

    def _form(self, ask: Ask, message: str) -> None:
        params: Json = {"mode": "form", "message": message, "requestedSchema": ask.schema or {}}
        self._request("elicitation/create", ask, params, _form_answer)

    def _request(
        self, method: str, ask: Ask, params: Json, understand: Callable[[Ask, Answer], Json]
    ) -> None:
        def answered(answer: Answer) -> None:
            # A dialog that was withdrawn answers nothing; nor does an editor that went away: the
            # ask waits.
            if self._open.get(ask.id) != request:
                return
            self._end(ask.id)
            if not isinstance(answer.error, ConnectionClosed):
                self._sent[ask.id] = None
                self.answer(ask.answer | understand(ask, answer))

        request = self._peer.send_request(method, {"sessionId": self._session, **params}, answered)
        self._open[ask.id] = request


LINK_OPTIONS: list[Json] = [
    {"optionId": "accept", "name": "I opened it", "kind": "allow_once"},
    {"optionId": "decline", "name": links.DECLINE, "kind": "reject_once"},
]
"""For an editor that opens no addresses."""


def _options(ask: Ask) -> list[Json]:
    """Return the agent's options; for a dangerous call, without those that hold always."""
    options = []
    for option in ask.options:
        kind = option.kind
        if ask.danger and kind.endswith("_always"):
            continue
        if kind not in (*ALLOWS, *REJECTS):
            kind = "allow_once" if option.allows else "reject_once"
        shown = {"optionId": option.id, "name": option.name or option.id, "kind": kind}
        options.append(shown | ({} if option.meta is None else {"_meta": option.meta}))
    return options


def _permission(ask: Ask, answer: Answer) -> Json:
    """Return the answer to a permission request. Anything but a clear yes is a no."""
    outcome = lenient.mapping(answer.result, "outcome")
    offered = [option["optionId"] for option in _options(ask)]
    if outcome.get("outcome") == "selected" and outcome.get("optionId") in offered:
        extra: Json = {"confirm": True} if ask.danger else {}
        extra |= {"reason": reason} if (reason := reason_of(outcome).strip()) else {}
        return {"option": outcome["optionId"]} | extra
    if outcome.get("outcome") == "cancelled":
        return {"cancel": True}
    reject = pick(ask.options, REJECTS)
    return {"option": reject.id} if reject else {"cancel": True}


def _link_answer(_ask: Ask, answer: Answer) -> Json:
    outcome = lenient.mapping(answer.result, "outcome")
    return {"action": "accept" if outcome.get("optionId") == "accept" else "decline"}


def _form_answer(_ask: Ask, answer: Answer) -> Json:
    action = lenient.text(answer.result, "action")
    if action == "accept":
        return {"action": action, "content": lenient.mapping(answer.result, "content")}
    return {"action": action if action in ("decline", "cancel") else "cancel"}


_MARKUP = re.compile(r"[*<>\[\]`~\\]|\b_|_\b|&\w+;")


def told_call(call: Json, ask: Ask, header: Header) -> Json:
    """Return the call of a permission request; unchanged if its title says everything."""
    block = asks.block_of(ask, header)
    added = _added(block, ask, header)
    content = [*added, *lenient.sequence(call, "content"), *_explained(block)]
    if added or block.get("explains"):
        call = {**call, "content": content}
    title = asks.headline(block, header.cwd, _ticked)
    if title and (added or _MARKUP.search(lenient.text(call, "title") or "*")):
        call = {**call, "title": title}
    if ask.is_about_budget:  # no call of the agent's
        return {"toolCallId": f"budget-{ask.id}", "title": ask.message}
    if ask.decide:
        return {**call, "title": f"{lenient.text(call, 'title') or ask.message} — {ask.why}"}
    if ask.danger:  # said here, so that the answer is the confirmation
        call = {**call, "title": f"⚠ This {ask.danger}: {lenient.text(call, 'title')}"}
    return call


def small_call(call: Json, session: str) -> Json:
    """Return a short version of a call that is too large for a message."""
    text = {"type": "text", "text": f"Too large to show here: rookery answer {session}"}
    kept: Json = {key: value for key, value in call.items() if key in ("toolCallId", "kind")}
    listed = [{"type": "content", "content": text}]
    return {**kept, "title": lenient.text(call, "title")[:1000], "content": listed}


def _added(block: Json, ask: Ask, header: Header) -> list[Json]:
    """Return what goes before the agent's own content, unless that shows it already."""
    given = ask.call
    mine = key_of(given) if diffs(given) else None
    own = _own_texts(given)
    pieces = asks.pieces(block, header.agent, header.cwd, _ticked, short=False)
    content: list[Json] = []
    shown = [p for p in pieces if p.look != "diff" and p.text not in own and not _reads(p, given)]
    if shown:
        text = {"type": "text", "text": "\n\n".join(map(_markdown, shown))}
        content.append({"type": "content", "content": text})
    for piece in pieces:
        if (part := piece.part) is not None and piece.call != mine:
            path = os.path.join(header.cwd, lenient.text(part, "path"))
            sides = {"oldText": part.get("old"), "newText": part.get("new")}
            content.append({"type": "diff", "path": path, **sides})
    return content


def _explained(block: Block) -> list[Json]:
    """Return our own explanation of what the call would do."""
    rows = "\n".join(f"- {_ticked(line)}" for line in lenient.texts(block, "explains"))
    text = {"type": "text", "text": f"What this would do:\n\n{rows}"}
    return [{"type": "content", "content": text}] if rows else []


def _reads(piece: asks.Piece, given: Json) -> bool:
    """Tell whether a piece is a plan that the editor shows already: just above, or in the agent's
    content."""
    content = [lenient.mapping(part, "content") for part in lenient.mappings(given, "content")]
    texts = [lenient.text(each, "text").strip() for each in content]
    return piece.look == "plan" and (bool(piece.title) or piece.text in texts)


def _own_texts(given: Json) -> list[str]:
    """Return the texts in code fences in the agent's content, such as the command."""
    texts = []
    for part in lenient.mappings(given, "content"):
        text = lenient.text(lenient.mapping(part, "content"), "text").strip()
        if text.startswith("```") and text.count("```") == 2:
            texts.append(captions.unfenced(text).strip("\n"))
    return texts


def _markdown(piece: asks.Piece) -> str:
    if piece.look in ("words", "note", "plan"):
        return piece.text
    fence = safe_text.fence(piece.text)
    return f"{fence}{'sh' if piece.look == 'code' else ''}\n{piece.text}\n{fence}"


def _ticked(text: str) -> str:
    """Return the text on one line, as code if it has markup."""
    line = safe_text.clean_line(text)
    if not _MARKUP.search(line):
        return line
    ticks = safe_text.fence(line, 1)
    pad = " " if len(ticks) > 1 else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"
