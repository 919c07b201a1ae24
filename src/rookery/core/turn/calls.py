"""The tool calls of a turn, and which of them an ask stands for.

Some agents ask about a call by a request that has nothing but a title, under an id of its own or
one for all (OpenHands). Such an ask stands for every call that was announced and not answered yet:
it is judged and shown by them, never by its title."""

from typing import Any, NamedTuple

from rookery.core.ask import Ask
from rookery.core.json import Json, kind_of, lenient
from rookery.core.policy import call_input, danger
from rookery.core.tools import terminals
from rookery.core.tools.calls import ENDED, key_of
from rookery.core.tools.names import name_of, readable, written_input

KEPT = 500
"""Calls of a turn whose words are at hand when their permission is asked."""
MOST_ANNOUNCED = 50
"""Calls that one ask names: more are shown by what they do."""
WHOLE = 100
"""Calls that have not ended, of which all is kept that an ask would show; of others the gist."""
LARGEST = 4_000_000
"""Characters of one call that are kept whole."""

LOST: Json = {"toolCallId": "", "title": "more calls than are kept", "lost": True}
"""Stands for the calls of a turn that announces endless calls: what they do is unknown."""

_TOLD = ("title", "kind", "name", "_meta", "rawInput", "locations", "content")


class _Subject(NamedTuple):
    """The calls an ask stands for, and which of its options allow them."""

    calls: tuple[str, ...]
    allowing: frozenset[str]


class TurnCalls:
    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget the calls of the last turn."""
        self._known: dict[str, Json] = {}
        """Of each call what says how dangerous it is: each update states only what changed."""
        self._open: dict[str, Json] = {}
        self._ended: dict[str, None] = {}
        """The calls that were announced otherwise than by an ask, oldest first."""
        self._asked: dict[str, _Subject] = {}
        """By the ask: open ones, and those that were allowed."""
        self._lost = False

    def remember(self, call: Json) -> Json:
        """Record an update of a call; return what is known of the call with it."""
        key, call = key_of(call), self._with_input(readable(call))
        if kind_of(call):
            self._ended[key] = None
            if len(self._ended) > KEPT:
                del self._ended[next(iter(self._ended))]
        known = self._known.pop(key, {}) | danger.gist(call)
        self._known[key] = known
        if len(self._known) > KEPT:
            del self._known[next(iter(self._known))]
        if lenient.text(call, "status") in ENDED:
            self._open.pop(key, None)
        else:
            self._keep(key, call)
        return known

    def _with_input(self, call: Json) -> Json:
        """Add the input that the model wrote, if the agent has sent nothing else so far and the
        title is only the tool's name."""
        known = self._open.get(key_of(call), {})
        titled = lenient.text(call, "title") or lenient.text(known, "title")
        ended = lenient.text(call, "status") in ENDED
        if ended or "rawInput" in known or not titled.isidentifier():
            return call
        given = written_input(call)
        return {**call, "rawInput": given} if given else call

    def _keep(self, key: str, call: Json) -> None:
        facts = {name: call[name] for name in _TOLD if call.get(name)}  # nothing takes nothing back
        meta = lenient.mapping(facts, "_meta")
        facts["_meta"] = {key: meta[key] for key in meta if key not in terminals.KEYS}
        facts = {name: value for name, value in facts.items() if value}
        parts = lenient.mappings(facts, "content")
        diffs = [part for part in parts if lenient.text(part, "type") == "diff"]
        if name := name_of(call):
            facts["name"] = name  # the next `_meta` need not say it again
        facts.pop("content", None)  # what it said so far is no part of what it does
        facts |= {"content": diffs} if diffs else {}
        if _length(facts) > LARGEST:
            facts = danger.gist(call)
        self._open[key] = self._open.pop(key, {"toolCallId": key}) | facts
        if len(self._open) > WHOLE:
            older = list(self._open)[-WHOLE - 1]
            self._open[older] = {"toolCallId": older} | danger.gist(self._open[older])
        if len(self._open) > KEPT:
            del self._open[next(iter(self._open))]
            self._lost = True

    def stands_for(self, given: Json) -> list[Json]:
        """Return the calls that an ask about this one stands for, each as far as it is known."""
        if not given:
            return self._unanswered("")
        key = key_of(given)
        fresh, before = key not in self._known, self._open.get(key, {})
        own = self.record(given)
        if _is_plain(before) and not _is_plain(own):  # what was announced is not made unsaid
            return [before, own]
        if _says_what(own, fresh=fresh):
            return [own]
        others = self._unanswered(key)
        return [own, *others] if not others or call_input.lines(own) else others

    def record(self, given: Json) -> Json:
        """Record a call that has not ended; return all that is known of it with this update."""
        self.remember({**given, "status": None})
        return self._open[key_of(given)]

    def _unanswered(self, key: str) -> list[Json]:
        """Return the calls that have not ended and that no ask stands for; if there are none, all
        that have not ended, since a refused call may be asked about again."""
        candidates = {
            name: call
            for name, call in self._open.items()
            if name != key and (_says_what(call) or call_input.lines(call))
        }
        busy = {name for subject in self._asked.values() for name in subject.calls}
        free = [call for name, call in candidates.items() if name not in busy]
        return [*(free or candidates.values()), *([LOST] if self._lost else [])]

    def runs_a_command(self) -> bool:
        """Return whether a call that has not ended runs a command."""
        calls = self._open.values()
        return any(call.get("kind") == "execute" or call_input.lines(call) for call in calls)

    def asked(self, ask: Ask, calls: list[Json]) -> Json:
        """Record that these calls wait for the answer to that ask. Return the fields to add to it:
        the ids under which they were `announced`, if its own id is another."""
        allowing = frozenset(option.id for option in ask.options if option.allows)
        announced = self._announced(key_of(ask.call), calls)
        keys = [*map(key_of, calls), *announced]
        self._asked[ask.id] = _Subject(tuple(dict.fromkeys(keys)), allowing)
        return {"announced": announced} if announced else {}

    def _announced(self, own: str, calls: list[Json]) -> list[str]:
        """Return the announced calls that an ask under an id of its own is about (OpenHands,
        hermes, deepagents): those it stands for, or the last that does the same."""
        if own in self._ended:
            return []
        keys = [key_of(call) for call in calls if key_of(call) in self._ended]
        if not keys and len(calls) == 1:
            keys = [key for key in self._ended if self._is_same(key, calls[0])][-1:]
        return keys[:MOST_ANNOUNCED]

    def _is_same(self, key: str, asked: Json) -> bool:
        announced = self._open.get(key, {})
        kinds = {lenient.text(each, "kind") for each in (announced, asked)} - {""}
        if not announced or len(kinds) > 1:
            return False
        if lines := call_input.lines(asked):
            title = lenient.text(announced, "title")  # hermes: `terminal: make`, and nowhere else
            return call_input.lines(announced) == lines or title.endswith(f": {lines[-1]}")
        paths = {*danger.paths_of(asked, (), "")}
        return bool(paths) and {*danger.paths_of(announced, (), "")} == paths

    def answered(self, ask: str, result: Any) -> None:
        """Record an answer: a call that was not allowed counts as not asked about."""
        subject = self._asked.get(ask)
        outcome = lenient.mapping(result, "outcome")
        if subject and lenient.text(outcome, "optionId") not in subject.allowing:
            del self._asked[ask]


def _says_what(call: Json, *, fresh: bool = False) -> bool:
    """Whether a call says more about what it does than its title. `fresh`: nothing was announced
    under its id, so that any unusual input may be about something else."""
    return (bool(call.get("rawInput")) and (not fresh)) or _is_plain(call)


def _is_plain(call: Json) -> bool:
    """Whether the call names a path, or a command outside its title."""
    raw = call.get("rawInput")
    return bool(danger.paths_of(call, (), "") or (raw and call_input.lines(call)))


def _length(value: object, levels: int = 4) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict | list) and levels:
        inner = value.values() if isinstance(value, dict) else value
        return sum(_length(each, levels - 1) for each in inner) + len(value)
    return 0
