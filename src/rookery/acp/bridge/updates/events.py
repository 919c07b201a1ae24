"""Converts events to `session/update`s: the one place that decides what an editor sees of a
session.

Updates come in the order of the log, and are the same when sent again, ids included. Two
exceptions: an editor's own prompts are not echoed live, and state (commands, usage, options, the
title) is sent as it is at the end."""

from rookery.acp.bridge.offered import Offered
from rookery.acp.bridge.updates import shapes
from rookery.acp.bridge.updates.children import Children, call_id
from rookery.acp.bridge.updates.plans import Plans
from rookery.acp.bridge.updates.terminals import Screens
from rookery.core.agent import children as memory
from rookery.core.agent import pictures
from rookery.core.agent.message_blocks import is_system_prompt
from rookery.core.ask import Ask
from rookery.core.asks.kept_asks import ORIGIN as ASKED_AGAIN
from rookery.core.blocks import parts
from rookery.core.blocks.notices import meets_others
from rookery.core.blocks.verdicts import verdict
from rookery.core.fold import advance
from rookery.core.header import EMPTY, Header
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.settings import held
from rookery.core.tools import terminals
from rookery.core.tools.calls import ENDED, asked_of, block_of, key_of, unfinished
from rookery.core.vendors.options import as_offered
from rookery.wire.params import offers


class Sharing:
    """The fold of one session for one editor."""

    def __init__(self, client: Json, offered: Offered, load: pictures.Load) -> None:
        self.header = EMPTY
        self.screens = Screens(client)
        self._offered = offered
        self._load = load
        self._notices = offers(client, "session", "notices")
        self._compaction = offers(client, "session", "compaction")
        flat = offers(client, "_meta", "subagent-transcript")
        self.children = Children(sessions=offers(client, "subagents"), flat=flat)
        self._plans = Plans(by_id=offers(client, "plan"))
        self._ids: dict[str, str] = {}
        """Of each block of a tool call: the id that the editor knows it by."""
        self._used: set[str] = set()
        self._calls: dict[str, Json] = {}
        """By that id: the fields sent so far of calls that may show a terminal, and the changes
        that an ask showed."""

    def take(self, event: Event, *, live: bool, echo: bool) -> list[Json]:
        """Return the updates of an event. `echo`: include its prompt."""
        before = self.header
        self.header = before.with_(**advance(before, event))
        event = event._replace(update=pictures.whole(event.update, self._load))
        if kind_of(event.update) in memory.KINDS:
            return self.children.take(self.header, event)
        updates = self._history(before, event, echo=echo)
        return updates + self._state(before, event) if live else updates

    def state(self) -> list[Json]:
        """Return what an editor that opens a session needs besides its history and options."""
        header = self.header
        updates = [shapes.commands(header.commands)] if header.commands else []
        updates += shapes.usage(header.usage)
        return updates + ([_titled(header)] if header.title else [])

    def stale(self) -> list[Json]:
        """Return the text of terminals that have written more since it was sent."""
        return [self._content(call) for call in self.screens.stale()]

    def notice(self, event: Event) -> list[Json]:
        """Return the notice of an event from before the editor knew the session, if it is one."""
        if not self._notices or kind_of(event.update) != "_notice":
            return []
        return [shapes.notice(each) for each in _noticed(self.header, self.header, event.update)]

    # --- history ---------------------------------------------------------------------------------

    def _history(self, before: Header, event: Event, *, echo: bool) -> list[Json]:
        update = event.update
        match kind_of(update):
            case "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk":
                return [] if is_system_prompt(before, update) else shapes.chunk(update)
            case "tool_call" | "tool_call_update":
                return self._call(before, update)
            case "plan" | "plan_update" | "plan_removed":
                return self._plans.take(update)
            case "compaction_update" | "compaction_summary_chunk" if self._compaction:
                return shapes.compaction(update)
            case "_prompt":
                return self._prompt(event, echo=echo)
            case "_ask":
                return self._ask(before, update)
            case "_terminal":
                ended = update.get("state") == "ended"
                return self.screens.take(event) + (self.stale() if ended else [])
            case "_turn" if update.get("state") == "idle":
                text = "The turn is waiting for your answer"
                waits = update.get("reason") == "waiting"
                return self._idle(before, update) + self._aside(event, text if waits else "")
            case "_critic" | "_settings" as kind:
                critic = kind == "_critic"
                title = verdict(self.header, event)["title"] if critic else ""
                return self._aside(event, title or held.sentence(update))
            case "_context":
                return self._aside(event, _context_words(update, self._recap(before)))
            case "_agent" if update.get("state") == "switched" and before.turn:
                text = (
                    f"{lenient.text(update, 'to')} continues from here, "
                    "with no memory of earlier turns"
                )
                return self._aside(event, text + self._recap(before))
        return []

    def _recap(self, before: Header) -> str:
        """Return a hint on how to give the new agent the history: an editor has no composer that we
        could fill."""
        has_turns = before.turn - (before.state != "idle") > 0
        return f" (`rookery recap {self.header.id}` prints it for a prompt)" if has_turns else ""

    def _prompt(self, event: Event, *, echo: bool) -> list[Json]:
        if event.update.get("steered") is not True:
            self.screens.forget()
            self._calls = {}
        if not echo or event.update.get("origin") == ASKED_AGAIN:  # the user said it once
            return []
        message = {"sessionUpdate": "user_message_chunk", "messageId": f"prompt-{event.seq}"}
        return [
            chunk
            for block in lenient.mappings(event.update, "prompt")
            for chunk in shapes.chunk(
                {**message, "content": pictures.whole_block(block, self._load)}
            )
        ]

    def _aside(self, event: Event, text: str) -> list[Json]:
        """Return a remark for the conversation, if the editor has no better place for it."""
        if not text or self._notices:
            return []
        content = {"type": "text", "text": f"_{text}._\n\n"}
        aside = {"sessionUpdate": "agent_message_chunk", "messageId": f"aside-{event.seq}"}
        return [{**aside, "content": content}]

    def _idle(self, before: Header, update: Json) -> list[Json]:
        """Return the updates of a turn's end. After a bad end, no call stays open."""
        updates = self.screens.alone() + self.stale() + self.children.over(self.header)
        if update.get("reason") == "end_turn":
            return updates
        for block in unfinished(before):
            if block in self._ids:
                call = {"toolCallId": self._ids[block], "status": "failed"}
                updates.append({"sessionUpdate": "tool_call_update", **call})
        return updates

    # --- tool calls ------------------------------------------------------------------------------

    def shown_call(self, ask: Ask) -> Json:
        """Return the tool call that a permission is asked for."""
        call = ask.call
        if who := memory.asking(self.header, ask.session):
            return self._child_call(who, call)
        key = asked_of(self.header, ask)
        block = block_of(self.header, key)
        fields = shapes.call(call, self.header.cwd, self.screens.show)
        id = self._ids.get(block, key) if block else "ask"
        known = self._calls.get(id, {})
        if key != key_of(call) and "title" in known:  # of the call itself: "Confirm" says nothing
            fields.pop("title", None)
        announced: Json = {key: known[key] for key in ("title", "kind", "rawInput") if key in known}
        return {"toolCallId": id, **announced, **fields}  # it may carry nothing but its id

    def _child_call(self, who: str, call: Json) -> Json:
        """Return a sub-agent's call, with the name of the sub-agent that asks in its title."""
        fields = shapes.call(call, self.header.cwd, self.screens.show)
        title = f"{memory.name_of(self.header, who)}: {lenient.text(call, 'title')}"
        id = key_of(call) if self.children.sessions else call_id(who)
        fields.pop("status", None)
        return {**fields, "toolCallId": id, "title": title}

    def _ask(self, before: Header, update: Json) -> list[Json]:
        """Announce a call before it is asked about."""
        call, session = lenient.mapping(update, "toolCall"), lenient.text(update, "session")
        if update.get("state") != "asked" or not call or memory.asking(self.header, session):
            return []
        fresh = self._is_fresh(before, call)
        updates = self._call(before, {"status": "pending", **call}) if fresh else []
        changes = [part for part in lenient.mappings(call, "content") if _is_diff(part)]
        block = block_of(self.header, key_of(call))
        if changes and block:
            self._calls.setdefault(self._ids.get(block, ""), {})["_changes"] = changes
        return updates

    def _is_fresh(self, before: Header, call: Json) -> bool:
        key = key_of(call)
        now = block_of(self.header, key)
        return now is not None and now != block_of(before, key)

    def _call(self, before: Header, update: Json) -> list[Json]:
        """Return the updates of a call. It is announced once, under an id that is used for nothing
        else in the session."""
        key = key_of(update)
        block = block_of(self.header, key)
        assert block is not None
        fresh = self._is_fresh(before, update)
        if fresh or block not in self._ids:
            fresh = True
            self._ids[block] = key if key and key not in self._used else f"{key}#{block}"
            self._used.add(self._ids[block])
        id = self._ids[block]
        heard = self.screens.hear(id, update, self.header.cwd)
        update = self._whole(id, update)
        news = self.screens.refer(id, update)
        fields = shapes.call(update, self.header.cwd, self.screens.show)
        known = self._calls.get(id, {})
        self._calls[id] = known | _remembered(update, fields)
        if news and self.screens.native:  # only the announcement of a call can bring a terminal
            fields = self._calls[id] | fields
            fields["_meta"] = {**lenient.mapping(fields, "_meta"), **self.screens.info(news[0])}
            fresh = True
        for kept in ("_raw", "_changes"):
            fields.pop(kept, None)
        if fresh:
            fields = {"title": key or "Tool", **fields}
        kind = "tool_call" if fresh else "tool_call_update"
        message: Json = {"sessionUpdate": kind, "toolCallId": id, **fields}
        if update.get("status") in ENDED:
            heard += self.stale()  # what it said comes before its end
        return [*heard, message, *(each for screen in news for each in self.screens.so_far(screen))]

    def _whole(self, id: str, update: Json) -> Json:
        """Return an update with everything that its call shows: the agent's own terminals, the
        result of an MCP tool, changes that only its ask had; without the `_meta` of terminals."""
        known, given = self._calls.get(id, {}), update.get("content")
        content = terminals.result(update) or (given if isinstance(given, list) else None)
        shown = self.screens.shown_by(id, content or known.get("_raw", []))
        if content is not None or shown != known.get("_raw", []):
            changes = [] if any(map(_is_diff, shown)) else known.get("_changes", [])
            update = {**update, "content": [*changes, *shown]}
        meta = lenient.mapping(update, "_meta")
        if meta.keys() & set(terminals.KEYS):
            rest = {key: meta[key] for key in meta if key not in terminals.KEYS}
            update = {**update, "_meta": rest or None}
        return update

    def _content(self, call: str) -> Json:
        content = self.screens.own(call)
        if content is None:
            raw = {"content": self._calls.get(call, {}).get("_raw", [])}
            content = shapes.call(raw, self.header.cwd, self.screens.show)["content"]
        return {"sessionUpdate": "tool_call_update", "toolCallId": call, "content": content}

    # --- state -----------------------------------------------------------------------------------

    def _state(self, before: Header, event: Event) -> list[Json]:
        header, update = self.header, event.update
        updates: list[Json] = []
        match kind_of(update):
            case "available_commands_update":
                updates.append(shapes.commands(header.commands))
            case "usage_update":
                updates += shapes.usage(update)
            case "notice" | "_notice" | "_settings" | "_context" | "_rate_limit" | "_agent" if (
                self._notices
            ):
                updates += [shapes.notice(each) for each in _noticed(before, header, update)]
            case "notice":  # as the agent itself says it to such an editor
                updates += shapes.thought(update)
        if header.title != before.title:
            updates.append(_titled(header))
        if as_offered(header) != as_offered(before) or header.agent != before.agent:
            updates += self._offered.changes(before, header)
        return updates


def _remembered(update: Json, fields: Json) -> Json:
    """Return the fields that a later terminal of the call needs: title, input, content."""
    kept: Json = {key: fields[key] for key in ("title", "kind", "status") if key in fields}
    if fields.get("rawInput") and not parts.exceeds(fields["rawInput"], parts.ROOM):
        kept["rawInput"] = fields["rawInput"]
    return kept | ({"_raw": update["content"]} if isinstance(update.get("content"), list) else {})


def _is_diff(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") == "diff"


def _titled(header: Header) -> Json:
    return {"sessionUpdate": "session_info_update", "title": header.title}


def _context_words(update: Json, recap: str = "") -> str:
    reason = lenient.text(update, "reason")
    sentences = {"reset": "The agent has lost its memory of this conversation"}
    sentences["cleared"] = "The conversation was cleared"
    sentence = sentences.get(lenient.text(update, "state"), "")
    return (f"{sentence}: {reason}" if reason else sentence) + recap if sentence else ""


_SEVERITY = {"warn": "warning", "error": "error"}


def _noticed(before: Header, header: Header, update: Json) -> list[Json]:
    match update:
        case {"sessionUpdate": "_notice", "sessions": [_, *_]} if not meets_others(before, header):
            return []  # one in a turn is enough
        case {"sessionUpdate": "notice"}:
            return [update]
        case {"sessionUpdate": "_notice"}:
            level = _SEVERITY.get(lenient.text(update, "level"), "info")
            return [{"severity": level, "title": lenient.text(update, "text")}]
        case {"sessionUpdate": "_settings"} if text := held.sentence(update):
            return [{"severity": "warning", "title": text}]
        case {"sessionUpdate": "_context"} if text := _context_words(update):
            return [{"severity": "warning", "title": text}]
        case {"sessionUpdate": "_rate_limit"}:
            title = lenient.text(update, "message") or "The agent hit its rate limit"
            when = lenient.text(update, "resetsAt")
            return [{"severity": "warning", "title": title, "description": when}]
        case {"sessionUpdate": "_agent", "state": "switched"}:
            return [
                {"severity": "info", "title": f"{lenient.text(update, 'to')} continues from here"}
            ]
    return []
