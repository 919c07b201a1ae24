"""The prompts of one editor that are not answered yet: each is answered once, when its own turn has
ended, also where it waited in the queue behind another client's."""

from collections.abc import Iterator

from rookery.acp.bridge import endings
from rookery.core.asks.kept_asks import ORIGIN as ASKED_AGAIN
from rookery.core.critic.state import ORIGIN
from rookery.core.json import lenient
from rookery.core.json.events import Event, Json, kind_of
from rookery.wire.jsonrpc import INTERNAL_ERROR, Incoming


class Prompt:
    def __init__(self, request: Incoming) -> None:
        self.request = request
        self.turn: int | None = None
        """The turn that it began, or that it was sent with."""
        self.admitted = False
        self.cancelled = False
        self.removed = False
        self.end: Json | None = None
        """How its turn ended, while the critic's last word on that is awaited."""
        self.kept: Json | None = None
        """How its turn ended, while what it had asked is kept (row P9)."""

    @property
    def waits(self) -> bool:
        return self.turn is None and self.admitted


class Prompts:
    """By the id of the command that sent it."""

    def __init__(self, error_data: endings.ErrorData) -> None:
        self._error_data = error_data
        self._open: dict[str, Prompt] = {}

    def __bool__(self) -> bool:
        return bool(self._open)

    def get(self, name: str) -> Prompt | None:
        return self._open.get(name)

    def name_of(self, request: Incoming) -> str | None:
        return next((name for name, each in self._open.items() if each.request is request), None)

    def add(self, name: str, request: Incoming) -> Prompt:
        self._open[name] = Prompt(request)
        return self._open[name]

    def drop(self, name: str) -> None:
        self._open.pop(name, None)

    def owns(self, event: Event) -> bool:
        """Whether the editor has shown this prompt already, since it came from there."""
        if kind_of(event.update) != "_prompt":
            return False
        return all(name in self._open for name in _names(event))

    def running(self) -> bool:
        """Whether a turn is one of this editor's."""
        return any(prompt.turn is not None for prompt in self._open.values())

    def waiting(self) -> list[tuple[str, Prompt]]:
        return [(name, prompt) for name, prompt in self._open.items() if prompt.waits]

    def cancel(self) -> bool:
        """All of them are to end; False where that was wanted before."""
        fresh = [prompt for prompt in self._open.values() if not prompt.cancelled]
        for prompt in fresh:
            prompt.cancelled = True
        return bool(fresh)

    def settle(self, event: Event, agent: str, *, kept: bool = False) -> None:
        """Answer what an event ends. `kept`: what the turn had asked will be asked again."""
        update = event.update
        match kind_of(update):
            case "_prompt":
                self._refined(update)
                self._brought_back(update)
                for name in _names(event):
                    if name in self._open:
                        self._open[name].turn = lenient.integer(update, "turn")
            case "_turn" if update.get("state") == "idle" and update.get("critic") is True:
                for judged in self._of(lenient.integer(update, "turn")):
                    judged.end = update
            case "_critic" if not (update.get("more") is True or update.get("again") is True):
                self._judged(update, agent)
            case "_queue" if update.get("op") == "remove":
                prompt = self._open.get(lenient.text(update, "id"))
                if prompt is not None:
                    prompt.removed = True
                    self._answer_removed()
            case "_turn" if update.get("state") == "idle" and kept and _goes_on(update):
                for prompt in self._of(lenient.integer(update, "turn")):
                    prompt.kept = update
            case "_turn" if update.get("state") == "idle":
                for prompt in self._take(lenient.integer(update, "turn")):
                    self._answer(prompt, update, agent)
                self._answer_removed()

    def _answer(self, prompt: Prompt, update: Json, agent: str) -> None:
        endings.answer(prompt.request, update, agent, self._error_data, cancelled=prompt.cancelled)

    def _of(self, turn: int | None) -> list[Prompt]:
        found = self._open.values()
        return [prompt for prompt in found if turn is not None and prompt.turn == turn]

    def _refined(self, update: Json) -> None:
        """The critic's own prompt goes on with what it judged."""
        if lenient.text(update, "origin") == ORIGIN:
            for prompt in self._open.values():
                if prompt.end is not None:
                    prompt.turn, prompt.end = lenient.integer(update, "turn"), None

    def _brought_back(self, update: Json) -> None:
        """The turn that asks again is theirs whose turn had asked."""
        if lenient.text(update, "origin") == ASKED_AGAIN:
            for prompt in self._open.values():
                if prompt.kept is not None:
                    prompt.turn, prompt.kept = lenient.integer(update, "turn"), None

    def release(self, agent: str) -> None:
        """Nothing is kept any more: what waited for that is over as it ended."""
        for name, prompt in list(self._open.items()):
            if prompt.kept is not None:
                del self._open[name]
                self._answer(prompt, prompt.kept, agent)

    def _judged(self, update: Json, agent: str) -> None:
        """No refinement follows: the turn is over for its editor, too."""
        stopped: Json = {"reason": "cancelled"} if update.get("state") == "cancelled" else {}
        for name, prompt in list(self._open.items()):
            if prompt.end is not None:
                del self._open[name]
                end = {**prompt.end, **stopped}
                self._answer(prompt, end, agent)

    def _take(self, turn: int | None) -> Iterator[Prompt]:
        for name, prompt in list(self._open.items()):
            if turn is not None and prompt.turn == turn:
                yield self._open.pop(name)

    def _answer_removed(self) -> None:
        """A prompt that was taken from the queue; with a cancel of all, after the one that runs."""
        if any(prompt.turn is not None and prompt.cancelled for prompt in self._open.values()):
            return
        for name, prompt in list(self._open.items()):
            if prompt.removed:
                del self._open[name]
                prompt.request.reply({"stopReason": "cancelled"})

    def fail(self, why: str) -> None:
        for prompt in self._open.values():
            prompt.request.fail(INTERNAL_ERROR, why, self._error_data(why, None))
        self._open.clear()

    def end(self) -> None:
        """The session is closed: whatever became of them."""
        for prompt in self._open.values():
            prompt.request.reply({"stopReason": "cancelled"})
        self._open.clear()


def _goes_on(update: Json) -> bool:
    """A turn that somebody stopped, or put off, is over for its editor."""
    return lenient.text(update, "reason") in ("agent_exited", "interrupted")


def _names(event: Event) -> list[str]:
    return lenient.texts(event.update, "queued") or [event.cause or ""]
