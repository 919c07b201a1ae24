"""Keeping replays out of the log: updates that the agent repeats are not logged again, neither its
history when a stored session is opened nor the prompt that it was just sent."""

from contextlib import suppress

from rookery.core.agent import imported, ingest, messages
from rookery.core.agent.repeats import LoggedTurn, PastTurn, Repeats, is_prompt
from rookery.core.json import Draft, Json, dumps, kind_of, lenient, notice
from rookery.core.turn import messages as turns
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.worker.session import Session, now

RESTORES = ("session/load", "session/resume", "session/fork")
BEFORE_PROMPTS = ("opening", "settling", "applying")
"""Phases of an agent in which no turn can run: what is said of one is history."""

PAUSE = 0.02
"""Seconds for which the supervision need not hear again that a replay goes on."""

HELD = 1.0
"""Seconds for which an update may be held that is either history or news: a history comes in one
go."""

MOST_LOOKED_AT = 2000
"""Updates of a turn by which its replay is known to be whole."""

HISTORY = 32 * 1024 * 1024
"""Characters of JSON of an imported history that are taken; the rest is left out."""


class Replays:
    def __init__(self, session: Session) -> None:
        self.replayed = 0
        """Updates since the last request of the start."""
        self.deadline: float | None = None
        """When what is held counts as news."""
        self._session = session
        self.repeats = Repeats(self._past, self._page)
        self._shown_at = float("-inf")
        self._last: list[Json] = []
        """What was replayed of the last turn so far, from its prompt on."""
        self._history: list[Json] = []
        """What was replayed of an imported session."""
        self._size = 0

    def called(self, method: str) -> None:
        """Note that a request of the agent's start was sent."""
        self.replayed, self._last = 0, []
        if method in (*RESTORES, "session/new"):
            self._history, self._size = [], 0
            self.repeats.opened(stored=method in RESTORES)

    def is_cut(self) -> bool:
        """Tell whether a replay has cut the last turn short: its rest may follow the answer."""
        if imported.is_unloaded(self._session.header):
            return True  # nothing tells how long it is
        turn = self._session.turn
        n = turn.n - (turn.phase != "idle")
        if not self._last or n <= 0:
            return False
        with suppress(LogError):
            begun = self._session.journal.writer.prompt_of(n)
            prompt, *rest = self._last
            if is_prompt(prompt.get("content"), list(lenient.mappings(begun, "prompt"))):
                transcript = LoggedTurn(self._page(n), last=False)
                return not (all(transcript.take(each) for each in rest) and transcript.is_over())
            return True
        return False

    def take(self, update: Json) -> list[Json]:
        """Take an update and return those that are new; some may be held back for a moment."""
        agent, is_history = self._session.agent, ingest.is_replay(update)
        if is_history and agent.method in RESTORES and agent.phase in BEFORE_PROMPTS:
            self._replay(update)
            return []
        fresh = self.repeats.take(update)
        if not self.repeats.doubts:
            self.deadline = None
        elif self.deadline is None:
            self.deadline = now() + HELD
        return fresh

    def take_history(self) -> None:
        """Log what the agent of an imported session replayed, now that it is ready. The replayed
        turns come before any that are begun here."""
        session = self._session
        if not imported.is_unloaded(session.header):
            return
        if session.agent.method == "session/load":
            drafts = imported.drafts(self._history, cut=self._size > HISTORY)
        else:
            drafts = imported.drafts((), cut=False)
            drafts.append(Draft(notice(f"{session.header.agent} cannot replay its history.")))
        for draft in drafts:
            session.append(draft)
        begun = sum(kind_of(draft.update) == "_prompt" for draft in drafts)
        session.turn = session.turn._replace(n=session.turn.n + begun)
        session.then(session.feed_turn, turns.Freed(place=True))
        self._history = []

    def is_due(self) -> bool:
        return self.deadline is not None and now() >= self.deadline

    def release(self) -> list[Json]:
        """Return the updates held back: behind one that comes now they would be out of order."""
        self.deadline = None
        return self.repeats.release()

    def _replay(self, update: Json) -> None:
        self.replayed += 1
        if imported.is_unloaded(self._session.header) and self._size <= HISTORY:
            self._size += len(dumps(update))
            if self._size <= HISTORY:
                self._history.append(update)
        if kind_of(update) == "user_message_chunk":
            self._last = [update]
        elif 0 < len(self._last) < MOST_LOOKED_AT:
            self._last.append(update)
        if self._session.agent.phase == "settling" and now() - self._shown_at > PAUSE:
            self._shown_at = now()
            self._session.feed_agent(messages.Replayed())

    def _past(self) -> list[PastTurn]:
        """Return the earlier turns of the conversation that the agent has, which may have begun in
        a turn, with a reset."""
        running, begun = self._session.turn, self._session.header.recap
        past = list[PastTurn]()
        with suppress(LogError), Reader.open(self._session.directory) as log:
            for event in log.of_kinds("_prompt"):
                n, prompt = event.update.get("turn"), event.update.get("prompt")
                own = running.phase != "idle" and n == running.n
                if own or not isinstance(n, int) or not isinstance(prompt, list):
                    continue
                if event.seq < begun:
                    past.clear()
                past.append(PastTurn(n, prompt))
        return past

    def _page(self, n: int) -> list[Json]:
        with suppress(LogError), Reader.open(self._session.directory) as log:
            updates = [event.update for event in log.page(n)]
            return [each for each in updates if ingest.is_replay(each) or kind_of(each) == "_ask"]
        return []
