"""Detecting what an agent repeats: the prompt that it was just sent, and history that is in the
log.

A history belongs before the answer to `session/load`; some agents send it later, when a turn may
already run. Then an update counts as history only if the log has it, in the log's order, starting
at the prompt of an earlier turn: a new answer may well have the same text as an old one. If the
running turn has that same prompt, the decision is postponed (`Doubt`)."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from rookery.core.agent import pictures
from rookery.core.agent.ingest import is_replay
from rookery.core.agent.prompt import words_of
from rookery.core.json import Json, kind_of, lenient
from rookery.core.tools.calls import ENDED, key_of

LONG_ID = 8
"""Characters by which a part of an id tells the call that it is of."""

UNIQUE = 16
"""Characters of an id that no agent gives twice: one that counts may start over."""

SURE = 16
"""Characters that are taken for a later part of what was said; fewer must be the very next."""


PLANS = ("plan", "plan_update", "plan_removed")


class PastTurn(NamedTuple):
    n: int
    prompt: list[Json]


type Past = Callable[[], list[PastTurn]]
"""The earlier turns of the conversation, oldest first."""
type Page = Callable[[int], Iterable[Json]]
"""The updates of a turn."""


class Repeats:
    def __init__(self, past: Past, page: Page) -> None:
        self._past = past
        self._page = page
        self._own: list[list[Json]] = []
        """The prompts of the turn that runs: the one that began it, and those steered into it."""
        self._late = self._fresh = False
        """A stored conversation was opened, and no turn has ended since; nor begun."""
        self._turns: list[PastTurn] | None = None
        self._at = -1
        self._logged: LoggedTurn | None = None
        """What is left of the earlier turn that is being replayed."""
        self._doubt: Doubt | None = None

    def opened(self, *, stored: bool) -> None:
        """Start over for a newly opened agent session. `stored`: its history may be sent."""
        self._own, self._turns, self._at, self._logged, self._doubt = [], None, -1, None, None
        self._late = self._fresh = stored

    def sent(self, prompt: list[Json]) -> None:
        """Note the prompt that begins a turn."""
        self._own = [prompt]
        self._late, self._fresh = self._fresh, False
        self._turns = None

    def steered(self, prompt: list[Json]) -> None:
        self._own.append(prompt)

    def take(self, update: Json) -> list[Json]:
        """Return the updates that are now known to be new, with any held before this one."""
        if not is_replay(update):
            return [update]
        if kind_of(update) == "user_message_chunk":
            return self._take_prompt(update)
        if self._doubt is None:
            return [] if self.is_repeat(update) else [update]
        match self._doubt.hear(update):
            case "held":
                return []
            case "history":
                return self._replaying(self._doubt)
        return [*self.release(), update]

    def _replaying(self, doubt: "Doubt") -> list[Json]:
        """Treat the doubtful updates as history: nothing that was held is new."""
        self._at, self._logged, self._doubt = doubt.at, doubt.logged, None
        return []

    @property
    def doubts(self) -> bool:
        """Whether updates are being held."""
        return self._doubt is not None and bool(self._doubt.held)

    @property
    def are_over(self) -> bool:
        """Whether everything that the agent sends on its own account is new."""
        return not self._late and self._logged is None and self._doubt is None

    def release(self) -> list[Json]:
        """Return the held updates: they count as new from now on."""
        held = self._doubt.held if self._doubt is not None else []
        self._doubt = None
        return held

    def _take_prompt(self, update: Json) -> list[Json]:
        content = update.get("content")
        own = any(is_prompt(content, prompt) for prompt in self._own)
        at = self._later(content) if self._late and (own or self._doubt) else None
        if self._doubt is not None:
            match self._doubt.prompt(at, own=own):
                case "history":
                    return self._replaying(self._doubt)
                case "news":
                    return [*self.release(), *([] if own else [update])]
            return []
        if at is None or not own:
            return [] if self.is_repeat(update) else [update]
        assert self._turns is not None
        prompt_text = words_of(self._turns[at].prompt)
        same = [n for n, each in enumerate(self._turns) if words_of(each.prompt) == prompt_text]
        self._logged, self._doubt = None, Doubt(at, self._told_in, same)
        return []

    def _later(self, content: object) -> int | None:
        """Return the next earlier turn that has this content as its prompt."""
        if self._turns is None:
            self._turns = self._past()
        begin = self._doubt.at if self._doubt is not None else self._at
        places = range(begin + 1, len(self._turns))
        return next((at for at in places if is_prompt(content, self._turns[at].prompt)), None)

    def is_repeat(self, update: Json) -> bool:
        """Whether the log already has this update."""
        if kind_of(update) == "user_message_chunk":
            return self._is_prompt(update.get("content"))
        if self._logged is None or not is_replay(update):
            return False
        if self._is_told(update):
            return True
        self._logged = None
        return False

    def _is_prompt(self, content: object) -> bool:
        echo = any(is_prompt(content, prompt) for prompt in self._own)
        if not self._late or (echo and self._logged is None):
            return echo
        turn = self._find(content)
        self._logged = None if turn is None else self._logged
        return turn is not None or echo

    def _find(self, content: object) -> int | None:
        """Return the earlier turn that has this content as its prompt, from the replay's position
        onward."""
        if self._turns is None:
            self._turns = self._past()
        if self._logged is not None:
            prompt = self._turns[self._at].prompt
            if len(prompt) > 1 and _is_part(content, prompt):
                return self._at
        for at in range(self._at + 1, len(self._turns)):
            if is_prompt(content, self._turns[at].prompt):
                steered = self._logged is not None and self._turns[at].n == self._turns[self._at].n
                self._logged = self._logged if steered else self._told_in(at)
                self._at = at
                return at
        return None

    def _told_in(self, at: int) -> "LoggedTurn":
        assert self._turns is not None
        n = self._turns[at].n
        return LoggedTurn(self._page(n), last=n == self._turns[-1].n)

    def _is_told(self, update: Json) -> bool:
        assert self._logged is not None
        if self._turns is None:  # a turn has begun since: what came before it is where it was
            self._turns = self._past()
        if self._at >= len(self._turns) - 1 and self._logged.is_over():
            return False
        if self._logged.take(update):
            return True
        # The same prompt may have been sent more than once: the replay may be of a later turn.
        prompt = self._turns[self._at].prompt
        for at in range(self._at + 1, len(self._turns)):
            if words_of(self._turns[at].prompt) == words_of(prompt):
                logged = self._told_in(at)
                if logged.take(update):
                    self._at, self._logged = at, logged
                    return True
        return False


type _Doubtful = Literal["held", "history", "news"]


class Doubt:
    """A prompt came back that both the running turn and an earlier turn have: either an echo, or a
    history that begins late. The updates that follow are held until it is certain which.

    Three things prove that it is history: a call of that turn announced as ended that was first
    announced as open, a message id of that turn that is not a mere number, or the log's next prompt
    if that is not the running turn's. Anything else, and the turn's end, makes it new: an agent's
    new answer may have the same text as an old one."""

    def __init__(
        self, at: int, told_in: Callable[[int], "LoggedTurn"], same: Sequence[int]
    ) -> None:
        """`at`: the earlier turn that may be replayed; `same`: all turns that have its prompt."""
        self.at, self.logged = at, told_in(at)
        self.held: list[Json] = []
        self._told_in = told_in
        self._same = same

    def prompt(self, at: int | None, *, own: bool) -> _Doubtful:
        """Judge another prompt: that of a later turn (`at`), or the running turn's (`own`)."""
        if at is None:
            return "held" if own else "news"
        self.at, self.logged = at, self._told_in(at)
        return "held" if own or not self.held else "history"

    def hear(self, update: Json) -> _Doubtful:
        if self._is_taken(update):
            self.held.append(update)
            return "history" if self._is_known(update) else "held"
        return "news"

    def _is_taken(self, update: Json) -> bool:
        if self.logged.take(update):
            return True
        for at in self._same:  # the same prompt, sent more than once
            if at > self.at and not self.held:
                logged = self._told_in(at)
                if logged.take(update):
                    self.at, self.logged = at, logged
                    return True
        return False

    def _is_known(self, update: Json) -> bool:
        if kind_of(update) == "tool_call":
            ended = lenient.text(update, "status") in ENDED
            return ended and key_of(update) in self.logged.began_open
        name = lenient.text(update, "messageId")
        return len(name) >= UNIQUE and name in self.logged.ids


class LoggedTurn:
    """The logged content of a turn, removed item by item in its order as a replay repeats it.

    `last`: this is the turn before the running one. An agent that was killed in it may do the same
    once more, from the beginning: so only items with a known message id, whole messages, and calls
    that have ended count as old."""

    def __init__(self, updates: Iterable[Json], *, last: bool) -> None:
        self._last = last
        self._messages: dict[str, list[str]] = {}
        self._calls: Counter[str] = Counter()
        self._begun: set[str] = set()
        self.began_open: set[str] = set()
        """Calls that were announced before they had ended."""
        self.ids: set[str] = set()
        self._others: list[object] = []
        before = ""
        for update in updates:
            kind = kind_of(update)
            if is_replay(update) or kind == "_ask":
                self._note(update, goes_on=kind == before)
                before = kind
        for kind, texts in self._messages.items():
            self._messages[kind] = [text for each in texts if (text := _squeezed(each))]

    def _note(self, update: Json, *, goes_on: bool) -> None:
        kind, content = kind_of(update), update.get("content")
        if name := lenient.text(update, "messageId"):
            self.ids.add(name)
        if kind in PLANS:
            self._others.append(_plan_of(update))
        elif not kind.endswith("_chunk"):
            self._note_call(update)
        elif lenient.text(content, "type") != "text":
            self._others.append(content)
        else:
            texts = self._messages.setdefault(kind, [])
            before = texts.pop() if texts and goes_on else ""
            texts.append(before + lenient.text(content, "text"))

    def _note_call(self, update: Json) -> None:
        call = lenient.mapping(update, "toolCall") if kind_of(update) == "_ask" else update
        key = key_of(call)
        if kind_of(update) == "tool_call":
            self._calls[key] += 1
            if lenient.text(call, "status") not in ENDED:
                self.began_open.add(key)
        elif call:  # one that was never announced may be announced in a replay
            self._calls[key] = max(1, self._calls[key])

    def is_over(self) -> bool:
        """Whether nothing is left that a replay would have to repeat."""
        return not self._messages.get("agent_message_chunk") and not +self._calls

    def take(self, update: Json) -> bool:
        """Whether the update is the next item of the logged turn; if so, remove that item."""
        content = update.get("content")
        match kind_of(update):
            case "tool_call":
                return self._take_call(update)
            case "tool_call_update":
                key = self._key(update)
                known = self._calls[key] > 0 and self._is_old(update)
                return known or key in self._begun
            case kind if kind in PLANS:
                return _plan_of(update) in self._others
            case kind if lenient.text(content, "type") == "text":
                text = _squeezed(lenient.text(content, "text"))
                known = lenient.text(update, "messageId") in self.ids
                if self._last and not known:
                    return self._take_message(kind, text)
                return self._take(kind, text) or known
        if isinstance(content, dict):  # as the log has it
            content = pictures.kept_block(content, pictures.name_of)
        return content in self._others

    def _is_old(self, call: Json) -> bool:
        return not self._last or lenient.text(call, "status") in ENDED

    def _key(self, call: Json) -> str:
        """Return the call's id in the log: a replay may prefix it (`replay/3/call_1`: crow)."""
        key = key_of(call)
        tail = _tail(key)
        if key in self._calls or not tail:
            return key
        return next((known for known in self._calls if _tail(known) == tail), key)

    def _take_call(self, call: Json) -> bool:
        key = self._key(call)
        if self._calls[key] <= 0 or not self._is_old(call):
            return False
        self._calls[key] -= 1
        self._begun.add(key)
        return True

    def _take_message(self, kind: str, text: str) -> bool:
        left = self._messages.get(kind, [])
        whole = len(left) if "".join(left) == text else 0
        taken = left.index(text) + 1 if text in left else whole
        self._messages[kind] = left[taken:]
        return taken > 0 or not text

    def _take(self, kind: str, text: str) -> bool:
        left = "".join(self._messages.get(kind, []))
        place = 0 if left.startswith(text) else left.find(text) if len(text) >= SURE else -1
        if place >= 0:
            self._messages[kind] = [left[place + len(text) :]]
        return place >= 0


def _tail(key: str) -> str:
    """Return the part of an id after the last slash, if it is long enough to identify a call; else
    ""."""
    before, _, tail = key.rpartition("/")
    return tail if before and len(tail) >= LONG_ID else ""


def is_prompt(content: object, prompt: list[Json]) -> bool:
    """Whether a user message is this prompt, or a block of it."""
    expected, message = _squeezed(words_of(prompt)), _squeezed(lenient.text(content, "text"))
    if message and expected:
        whole = message == expected
        # Some agents replay attachments as text, behind the words.
        attached = any(lenient.text(block, "type") != "text" for block in prompt)
        if whole or (attached and message.startswith(expected)):
            return True
    return _is_part(content, prompt)


def _is_part(content: object, prompt: list[Json]) -> bool:
    kind = lenient.text(content, "type")
    if kind == "text":
        text = _squeezed(lenient.text(content, "text"))
        return any(text == _squeezed(lenient.text(block, "text")) for block in prompt if text)
    return any(lenient.text(block, "type") == kind for block in prompt if kind)


def _squeezed(text: str) -> str:
    """Return the text without whitespace: a replay is often trimmed, or split elsewhere."""
    return "".join(text.split())


def _plan_of(update: Json) -> object:
    """Return the comparable parts of a plan, or of its removal."""
    return [update.get(key) for key in ("entries", "plan", "planId")]
