"""Batching text chunks for the log: the first is sent at once, then at most one event per window.

Only chunks that are equal in all but their text are merged, so nothing an agent said is lost, and a
flood of tokens costs as many events as there are windows.

A word that may be the beginning of a secret is held until it is complete: secrets are recognised
only as whole words, and each event is masked for its recipient."""

from rookery.core.json import Json, dumps
from rookery.core.json.secrets import unfinished

CHILD = "_child"
"""The kind under which the worker logs an update of a sub-agent (`core.agent.children`)."""

CHUNK_KINDS = frozenset({"agent_message_chunk", "agent_thought_chunk", "user_message_chunk"})

MOST_HELD = 256 * 1024
"""Characters held back at most: a flood inside one window goes out in pieces of this size."""

MOST_LANES = 100

WORD = 1.0
"""Seconds after which a word that may be a secret's beginning waits for no more."""


class Chunks:
    """A batch of chunks; the caller passes the time in. Append what `push` and `flush` return in
    the order it was returned."""

    def __init__(self, window: float) -> None:
        self.window = window
        self._held: Json | None = None
        self._texts: list[str] = []
        self._size = 0
        self._open_until = float("-inf")
        self._word_until = 0.0
        """While a word waits for its end; else 0."""

    @property
    def deadline(self) -> float | None:
        """When the held text must be sent; None if nothing is held."""
        return (self._word_until or self._open_until) if self._held is not None else None

    def push(self, update: Json, now: float) -> list[Json]:
        text = text_of(update)
        if text is None:
            return [*self.flush(now), update]
        if self._held is not None and _alike(self._held, update):
            self._texts.append(text)
            self._size += len(text)
            self._word_until = 0.0
            due = now >= self._open_until or self._size > MOST_HELD
            return self.flush_words(now) if due else []
        before = self.flush(now) if self._held is not None else []
        if now >= self._open_until and not before:
            if unfinished(text) == len(text):
                self._open_until = now + self.window
                return [update]
            self._held, self._texts, self._size = update, [text], len(text)
            return self.flush_words(now)
        self._held, self._texts, self._size = update, [text], len(text)
        return before

    def flush_words(self, now: float) -> list[Json]:
        """Return the held text, except a last word that may become a secret and has not waited."""
        held, text = self._held, "".join(self._texts)
        if held is None or self._word_until or (end := unfinished(text)) == len(text):
            return self.flush(now)
        self._held, self._texts, self._size = (
            _with_text(held, text[end:]),
            [text[end:]],
            len(text) - end,
        )
        self._word_until, self._open_until = now + WORD, now + self.window
        return [_with_text(held, text[:end])] if end else []

    def flush(self, now: float) -> list[Json]:
        """Return the held text as one update, and open the next window."""
        held, texts = self._held, self._texts
        if held is None:
            return []
        self._held, self._texts, self._size, self._word_until = None, [], 0, 0.0
        self._open_until = now + self.window
        return [held] if len(texts) == 1 else [_with_text(held, "".join(texts))]


class Lanes:
    """A batching window for each speaker, so that sub-agents that speak at the same time are each
    merged separately. Any other update comes after all the text that was sent before it."""

    def __init__(self, window: float) -> None:
        self._window = window
        self._lanes: dict[str, Chunks] = {}

    @property
    def window(self) -> float:
        return self._window

    @window.setter
    def window(self, seconds: float) -> None:
        self._window = seconds
        for lane in self._lanes.values():
            lane.window = seconds

    @property
    def deadline(self) -> float | None:
        due = [lane.deadline for lane in self._lanes.values()]
        return min((at for at in due if at is not None), default=None)

    def push(self, update: Json, now: float) -> list[Json]:
        if text_of(update) is None:
            return [*self.flush(now), update]
        speaker = ""
        if update["sessionUpdate"] == CHILD:
            speaker = str(update.get("session", update.get("call")))
        if speaker not in self._lanes and len(self._lanes) >= MOST_LANES:
            before = self.flush(now)
            self._lanes = {}
            return before + self.push(update, now)
        return self._lanes.setdefault(speaker, Chunks(self._window)).push(update, now)

    def flush(self, now: float) -> list[Json]:
        return [each for lane in self._lanes.values() for each in lane.flush(now)]

    def flush_words(self, now: float) -> list[Json]:
        """Flush the lanes that are due."""
        due = [lane for lane in self._lanes.values() if (lane.deadline or now + 1) <= now]
        return [each for lane in due for each in lane.flush_words(now)]


def _with_text(update: Json, text: str) -> Json:
    if update["sessionUpdate"] == CHILD:
        return {**update, "update": _with_text(update["update"], text)}
    return {**update, "content": {**update["content"], "text": text}}


def text_of(update: Json) -> str | None:
    """Return the text of a chunk, including a sub-agent's; None if the update is no text chunk."""
    if update.get("sessionUpdate") == CHILD and isinstance(update.get("update"), dict):
        update = update["update"]
    if update.get("sessionUpdate") not in CHUNK_KINDS:
        return None
    content = update.get("content")
    if not isinstance(content, dict) or content.get("type") != "text":
        return None
    text = content.get("text")
    return text if isinstance(text, str) else None


def _alike(one: Json, other: Json) -> bool:
    """Whether two chunks are equal in all but their text."""
    if one["sessionUpdate"] == other["sessionUpdate"] == CHILD:
        return _same(one, other, "update") and _alike(one["update"], other["update"])
    return (
        "content" in one
        and "content" in other
        and _same(one, other, "content")
        and _same(one["content"], other["content"], "text")
    )


def _same(one: Json, other: Json, but: str) -> bool:
    """Compare all keys but `but` as JSON: Python takes true for 1 and 1.0, and a merge must not
    lose which it was."""
    if len(one) != len(other):
        return False
    # A loop, not `all`: this runs for each token of a flood, where a generator doubles its cost.
    for key, value in one.items():
        if key == but:
            continue
        if key not in other:
            return False
        theirs = other[key]
        if value != theirs if isinstance(value, str) else dumps(value) != dumps(theirs):
            return False
    return True
