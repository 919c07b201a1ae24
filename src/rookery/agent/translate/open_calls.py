"""A session's tool calls as its client knows them: announced once, changed, ended."""

from dataclasses import dataclass

from rookery.agent.provider.surrogates import whole
from rookery.agent.translate import content
from rookery.agent.translate.calls import TERMINALS, Call
from rookery.agent.translate.results import Result
from rookery.core.json import Json

LIVE_TAIL = 8_000
"""Characters of a running command's output that a client without terminals sees."""
ENDED = "The task ended before this did."


@dataclass
class Known:
    """The state of one call as the client knows it."""

    call: Call
    reported: Json
    made: bool
    """By an event; not only by the model's stream."""
    status: str = "pending"
    tail: str = ""
    printed: bool = False
    subagent: str = ""
    """What cancels the sub-agent that it started."""

    @property
    def open(self) -> bool:
        return self.status not in {"completed", "failed"}


class OpenCalls:
    def __init__(self, terminals: bool) -> None:
        self.spoken: set[str] = set()
        """Calls that are a way of speaking, and are not shown as calls."""
        self.parent: str | None = None
        self._above: OpenCalls | None = None
        self._below: list[OpenCalls] = []
        self._terminals = terminals
        self._calls: dict[str, Known] = {}

    def is_open(self, name: str) -> bool:
        return name in self._calls and self._calls[name].open

    def below(self, parent: str) -> "OpenCalls":
        """Return the calls of a sub-agent that the call `parent` started."""
        made = OpenCalls(self._terminals)
        made.parent, made._above = parent, self
        self._below.append(made)
        return made

    def tell_parent(self, text: str) -> list[Json]:
        """Return an update of the parent call, while it is open."""
        if self._above is None or self.parent is None or not self._above.is_open(self.parent):
            return []
        shown = [content.shown(text[-LIVE_TAIL:])]
        return [*self._above.start(self.parent), self._above._update(self.parent, content=shown)]

    def of_parent(self, update: Json) -> list[Json]:
        """Return a sub-agent's message, with the parent call that it belongs to."""
        above, parent = self._above, self.parent
        begun = above.start(parent) if above and parent and above.is_open(parent) else []
        return [*begun, {**update, **self._meta(update.get("_meta", {}))}]

    # --- beginning ------------------------------------------------------------------------------

    def announce(self, name: str, call: Call, about: Json, *, made: bool = True) -> list[Json]:
        """Return the whole call the first time, later what changed."""
        fields = self.describe(name, call, about)
        known = self._calls.get(name)
        if known is None:
            self._calls[name] = Known(call, fields, made)
            meta = fields.get("_meta", {}) | self._terminal_info(name, call)
            first = {"sessionUpdate": "tool_call", **fields, "status": "pending"}
            return [first | self._meta(meta)]
        became = {} if known.call.tool in TERMINALS else self._terminal_info(name, call)
        known.call, known.made = call, known.made or made
        changed = {key: value for key, value in fields.items() if known.reported.get(key) != value}
        known.reported = known.reported | fields
        if became:  # which tool it is showed only at the end
            changed["_meta"] = {**changed.get("_meta", {}), **became}
        return [self._update(name, **changed)] if changed else []

    def describe(self, name: str, call: Call, about: Json) -> Json:
        fields: Json = {
            "toolCallId": name,
            "title": whole(call.title()),
            "name": call.tool,
            "kind": call.kind(),
            "rawInput": call.raw_input(),
        }
        if places := call.locations():
            fields["locations"] = places
        if proposal := call.proposal():
            fields["content"] = proposal
        if about:
            fields |= self._meta({"rookery": about})
        return fields

    def start(self, name: str, subagent: str = "") -> list[Json]:
        """Start a call. `subagent`: the id that cancels the sub-agent which it starts."""
        known = self._calls.get(name)
        if known is None or known.status != "pending":
            return []
        known.status, known.subagent = "in_progress", subagent
        meta = {"rookery": _subagent(subagent, {})} if subagent else {}
        return [self._update(name, status="in_progress", _meta=meta)]

    # --- output ---------------------------------------------------------------------------------

    def printed(self, name: str, text: str) -> list[Json]:
        known = self._calls.get(name)
        if known is None or not known.open or not text:
            return []
        started = self.start(name)
        if self._terminals:
            data = {"terminal_output": {"terminal_id": name, "data": whole(text)}}
            shown = {} if known.printed else {"content": [{"type": "terminal", "terminalId": name}]}
            known.printed = True
            return [*started, self._update(name, **shown, _meta=data)]
        known.tail = (known.tail + text.replace("\r\n", "\n"))[-LIVE_TAIL:]
        return [*started, self._update(name, content=[content.fenced(known.tail.rstrip("\n"))])]

    # --- end ------------------------------------------------------------------------------------

    def end(self, name: str, result: Result, tool: str, cwd: str) -> list[Json]:
        """End a call, only once. An unknown call is announced as it ends."""
        updates: list[Json] = []
        known = self._calls.get(name)
        if known is None:
            updates = self.announce(name, Call(tool, {}, cwd), {})
            known = self._calls[name]
        if not known.open:
            return []
        updates += self._end_below(name)
        known.status = result.status
        fields: Json = {"status": result.status}
        meta: Json = {"rookery": _subagent(known.subagent, None)} if known.subagent else {}
        if self._terminals and known.call.tool in TERMINALS:
            if not known.printed and (text := str(result.output.get("output", ""))):
                meta["terminal_output"] = {"terminal_id": name, "data": text.replace("\n", "\r\n")}
            fields["content"] = [{"type": "terminal", "terminalId": name}]
            code = result.exit_code
            meta["terminal_exit"] = {"terminal_id": name, "exit_code": code, "signal": None}
            if "exitCode" not in result.output:
                fields["content"] = [*fields["content"], *result.content]
        elif result.content:
            fields["content"] = result.content
        if result.output:
            fields["rawOutput"] = result.output
        return [*updates, self._update(name, **fields, **self._meta(meta))]

    def _end_below(self, name: str) -> list[Json]:
        """End the open calls of the sub-agents of a call that has ended."""
        ended = [each for each in self._below if each.parent == name]
        self._below = [each for each in self._below if each.parent != name]
        return [update for each in ended for update in each.settle(ENDED, set())]

    def settle(self, reason: str, keep: set[str]) -> list[Json]:
        """End all open calls as failed, except `keep`."""
        return self._fail([name for name in self._calls if name not in keep], reason)

    def drop_unmade(self, names: list[str]) -> list[Json]:
        """End calls that were streamed and never made."""
        unmade = [name for name in names if name in self._calls and not self._calls[name].made]
        return self._fail(unmade, "The model did not finish this call.")

    def _fail(self, names: list[str], reason: str) -> list[Json]:
        """End those of these calls that are open."""
        result = Result("failed", [content.shown(reason)], {})
        return [update for name in names for update in self.end(name, result, "", "/")]

    # --- shape ----------------------------------------------------------------------------------

    def _update(self, name: str, **fields: object) -> Json:
        meta = fields.pop("_meta", {})
        update = {"sessionUpdate": "tool_call_update", "toolCallId": name, **fields}
        return update | self._meta(meta if isinstance(meta, dict) else {})

    def _terminal_info(self, name: str, call: Call) -> Json:
        if not self._terminals or call.tool not in TERMINALS:
            return {}
        return {"terminal_info": {"terminal_id": name, "cwd": call.cwd}}

    def _meta(self, meta: Json) -> Json:
        """Add the call whose sub-agent made this one."""
        if self.parent is not None:
            ours = meta.get("rookery", {}) | {"parentToolUseId": self.parent}
            meta = meta | {"rookery": ours}
        return {"_meta": meta} if meta else {}


def _subagent(id: str, cancel: Json | None) -> Json:
    """Return whether a sub-agent can be cancelled, in the form of the draft's `subagent_update`."""
    return {"subagent": {"sessionId": id, "capabilities": {"cancel": cancel}}}


class Ids:
    """Tool calls' ids: the model's own, made unique within the session, since some models count
    from the start in every answer. The same events give the same ids after a load."""

    def __init__(self) -> None:
        self._uses: dict[str, int] = {}
        self._of: dict[tuple[str, str], str] = {}
        self._latest: dict[tuple[str, str], str] = {}

    def of_call(self, scope: str, response: str, call: str) -> str:
        """Return the id of a call in an answer. `scope`: the conversation, since a sub-agent's
        model counts for itself."""
        key = (f"{scope}\n{response}", call)
        if key not in self._of:
            uses = self._uses[call] = self._uses.get(call, 0) + 1
            self._of[key] = call if uses == 1 else f"{call}-{uses}"
        self._latest[scope, call] = self._of[key]
        return self._of[key]

    def latest(self, scope: str, call: str) -> str:
        """Return the id of the newest call of that name."""
        return self._latest.get((scope, call)) or self.of_call(scope, "", call)
