"""Running one turn to its end: refusals are printed, the end becomes the exit code."""

import os
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from typing import NamedTuple

from rookery.cli import exits, target
from rookery.cli.output import Screen, clean_line
from rookery.cli.output.answer import Answer
from rookery.cli.output.queue import placeless, waits_for_user, why_held
from rookery.cli.output.transcript import Transcript
from rookery.cli.session.approval_flags import Policy, summary
from rookery.cli.session.follow import Watch, attend, farewell
from rookery.cli.session.prompt_input import Message
from rookery.cli.session.send import say_silent
from rookery.cli.settings import shows_durations
from rookery.client.reading import excerpt
from rookery.client.start import StartError
from rookery.core import worktree
from rookery.core.ask import ask_of
from rookery.core.asks import kept_asks
from rookery.core.blocks import Document
from rookery.core.critic.verdicts import COMMAND
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.policy import go_asks, hook_asks, unattended
from rookery.core.units import duration
from rookery.log.errors import StoreError
from rookery.operations.calling.interface import Session

HEADLESS = "headless"


class Progress:
    """How far the turn has come, for the message to a user who leaves."""

    def __init__(self, session: str = "") -> None:
        self.session = session
        self.command = os.urandom(8).hex()
        """The id of the prompt: whether the session took it is in its log."""

    def farewell(self) -> str:
        return farewell(self.session, self.command) if self.session else "Nothing was started."


class Wish(NamedTuple):
    """The turn to run: what is sent, who answers asks, and how it is printed."""

    message: Message
    policy: Policy
    as_json: bool = False
    verbose: bool = False
    """The transcript in a pipe, too."""
    steer: bool = False
    stop: bool = False
    """Put the session to sleep afterwards."""
    detach: bool = False
    """Print the session's id once it has the prompt."""

    @property
    def name(self) -> str:
        """The client that answers, for the log: the user, or the flags."""
        return "cli" if self.policy.approve == "ask" else HEADLESS


def run_turn(screen: Screen, create: Callable[[], str], wish: Wish, about: str = "") -> int:
    """Run a prompt in a new session; return the exit code. `about`: what was chosen for the
    user."""
    progress = Progress()

    async def main() -> int:
        progress.session = create()
        with target.rookery().open(progress.session, wish.name) as client:
            turn = _Turn(client, screen, Document(), wish)
            turn.introduce(about)
            try:
                code = await turn.play(0, progress)
            except (StartError, StoreError):  # the prompt was not taken: a full disk, say
                client.discard_unbegun()
                raise
            if wish.stop:
                await client.send({"do": "stop"})
            return code

    return attend(main, screen, progress.farewell)


def continue_turn(screen: Screen, session: str, wish: Wish) -> int:
    """Prompt an existing session; return the exit code of the turn it starts or joins."""
    progress = Progress(session)

    async def main() -> int:
        with target.rookery().open(session, wish.name) as client:
            client.on_silence = partial(say_silent, session)
            document, _, since, *_ = excerpt(client.log)
            turn = _Turn(client, screen, document, wish)
            turn.watch.showing = False
            return await turn.play(since, progress)

    return attend(main, screen, progress.farewell)


class _Turn:
    def __init__(self, client: Session, screen: Screen, document: Document, wish: Wish) -> None:
        alone = screen.piped and not wish.verbose and not wish.as_json
        where = screen.beside() if alone else screen
        self._answer_alone = Answer(screen) if alone else None
        transcript = Transcript(where, prompts=False, durations=shows_durations(), brief=alone)
        self.client = client
        self.screen = screen
        self.document = document
        shown = None if wish.as_json else transcript
        self.watch = Watch(client, screen, document, shown, self._answer_alone)
        self.wish = wish
        self.rejected = False
        self._dangerous: set[str] = set()
        """Asks about what cannot be undone."""
        self._n = 0
        self._ended = ""
        self._unguarded = False
        """Nothing was done: the project's safeguards are not trusted."""
        self._poor = False
        """The critic's last word on it, where that counts."""

    def introduce(self, about: str) -> None:
        """Print one line: how the session answers, its id, and what else was chosen (`about`)."""
        header = self.client.log.header()
        parts = [summary(header), self.client.session]
        if branch := worktree.brief(header.worktree):
            parts.append(f"branch {branch}")
        parts += [about] if about else []
        self.screen.note(clean_line(" · ".join(parts)))

    async def _send(self, command: str) -> Event:
        message = self.wish.message
        steer = {"steer": True} if self.wish.steer else {}
        prompt = {"id": command, "do": "prompt", "prompt": message.blocks(), **steer}
        return await self.client.send(prompt, files=message.attachments)

    async def play(self, since: int, progress: Progress) -> int:
        name, steer = progress.command, self.wish.steer
        outcome = await self._send(name)
        if outcome.update.get("placeless") is True:
            self.screen.note(placeless())
        elif kind_of(outcome.update) == "_queue" and not steer:
            self.screen.note("A turn is running: the prompt is queued.")
            self._tell_first()
        if self.wish.detach:
            self.screen.line(self.client.session)
            self.screen.note(f"To follow it: rookery tail {self.client.session}")
            return exits.DONE
        async with aclosing(self.watch.events(since)) as events:
            async for event in events:
                if self._begins(event, name):
                    self._n = self.document.header.turn
                    self.watch.showing = True
                elif kind_of(event.update) == "_ask":
                    self._hear_ask(event)
                elif kind_of(event.update) == "_judged":
                    self._note_denial(event)
                elif self._is_over(event):
                    break
                if not self._n and self._is_held(name):
                    self._tell_held()
                    return exits.WAITING
        self._conclude(self._ended)
        if self._unguarded:
            return exits.USAGE
        return exits.of_turn(self._ended, rejected=self.rejected, poor=self._poor)

    def _begins(self, event: Event, command: str) -> bool:
        if kind_of(event.update) != "_prompt":
            return False
        return event.cause == command or command in lenient.texts(event.update, "queued")

    def _is_over(self, event: Event) -> bool:
        """Tell whether it ends here: at the end of the turn or, with a critic, at its last verdict
        or the end of the turn that follows."""
        update, kind = event.update, kind_of(event.update)
        if not self._n:
            return False
        if kind == "_turn" and update.get("state") == "idle":
            self._ended = lenient.text(update, "reason") or "end_turn"
            return update.get("critic") is not True
        if kind == "_critic" and update.get("more") is not True and self._ended:
            if update.get("state") == "cancelled":
                self._ended = "cancelled"
            counts = update.get("refine") is True or update.get("source") == COMMAND
            self._poor = update.get("accepted") is False and counts
            return update.get("again") is not True
        return False

    def _is_held(self, command: str) -> bool:
        queue = self.document.header.queue
        waits = any(item["id"] == command and not item.get("placeless") for item in queue)
        return waits and waits_for_user(self.document.header)

    def _hear_ask(self, event: Event) -> None:
        """Report an ask: the session's worker answers it, or leaves it open for the user."""
        update, name = event.update, lenient.text(event.update, "id")
        if not self._n:
            self._tell_first()
            return
        if lenient.text(update, "danger"):
            self._dangerous.add(name)
        by_order = (event.by or "").startswith(unattended.BY)
        refused = lenient.text(update, "verdict") == "deny"
        declined = by_order and lenient.mapping(update, "outcome").get("action") == "decline"
        self.rejected = self.rejected or refused
        if lenient.text(update, "ruled") == go_asks.READY and update.get("state") == "closed":
            sentence = go_asks.READY[:1].upper() + go_asks.READY[1:]
            self.screen.note(f"{sentence}: rookery prompt {self.client.session} /go")
        ruled = lenient.text(update, "ruled")
        if ruled in (hook_asks.STOPPED, hook_asks.LEFT_OUT) and update.get("state") == "closed":
            self._unguarded = ruled == hook_asks.STOPPED
            more = ". To continue without them: --without-hooks" if self._unguarded else ""
            self.screen.note(f"{ruled[:1].upper()}{ruled[1:]}. {hook_asks.HOW}{more}")
        if refused or declined:
            self.screen.note(clean_line(self._denial(update, by_order)))
        ask = ask_of(self.document.header, name)
        if ask is None or ask.ruled or ask.given:
            return
        # Only the user may send a prompt a second time.
        what = "Decide how to continue" if ask.decide else "Waiting for your answer"
        self.screen.note(f"{what}: rookery answer {self.client.session}")

    def _tell_first(self) -> None:
        """Tell the user that the running turn needs an answer while our prompt waits for it."""
        header = self.document.header
        if header.state != "idle" and kept_asks.unanswered(header):
            self.screen.note(why_held(self.client.session, header))

    def _tell_held(self) -> None:
        self.screen.note(why_held(self.client.session, self.document.header))

    def _denial(self, update: Json, by_order: bool) -> str:
        ruling, why = lenient.text(update, "ruled"), lenient.text(update, "reason")
        sentence = ruling[:1].upper() + ruling[1:]
        if not by_order:
            return f"{sentence}{f': {why}' if why else ''}. rookery policy list"
        if self.wish.policy.approve == "all" and lenient.text(update, "id") in self._dangerous:
            return f"{sentence}. It cannot be undone. To allow it: --confirm-destructive"
        return f"{sentence}."

    def _note_denial(self, event: Event) -> None:
        """Report that a rule denied a call before anyone was asked."""
        if lenient.text(event.update, "verdict") == "deny" and self._n:
            self.rejected = True
            self.screen.note(clean_line(self._denial(event.update, by_order=False)))

    def _conclude(self, reason: str) -> None:
        """Print the conclusion on stderr: the transcript itself says what went wrong."""
        labels = {"end_turn": "done", "cancelled": "cancelled", "rate_limited": "rate limited"}
        labels["waiting"] = f"waiting for your answer: rookery answer {self.client.session}"
        label = labels.get(reason, reason.replace("_", " "))
        if self._poor and reason == "end_turn":
            label = "done, but the critic is not satisfied"
        if reason == "end_turn" and self._answer_alone is not None and not self._answer_alone.spoke:
            self.screen.note("The agent said nothing.")
        self.screen.note(f"{label} · {duration(self._seconds())} · session {self.client.session}")
        if self.document.header.asks and reason != "waiting":
            self.screen.note(f"Its question is kept: rookery answer {self.client.session}")

    def _seconds(self) -> float:
        (first, _), (_, last) = map(self.client.log.spans, (self._n, self.document.header.turn))
        return (last - first) / 1000 if first and last else 0.0
