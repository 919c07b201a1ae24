"""Running the critic: the command that judges a turn, and the prompts that its loop hands to the
turn machine."""

import os

from rookery.core.critic import loop as critic_loop
from rookery.core.critic import state, verdicts
from rookery.core.json import Draft, Json
from rookery.core.turn import messages as turns
from rookery.worker.agent.terminals import Terminal, end_terminal
from rookery.worker.session import Session

SHELL = "/bin/sh"


class Critic:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._terminal: Terminal | None = None

    def refine(self, text: str) -> None:
        """Send the critic's prompt, unless one of the user's came meanwhile: that goes first."""
        turn = self._session.turn
        if turn.phase == "idle" and not turn.queue:
            prompt: list[Json] = [{"type": "text", "text": text}]
            self._session.feed_turn(turns.Prompted("", prompt, critic_loop.BY, state.ORIGIN))
        else:
            given_up = critic_loop.given_up(
                self._session.critic, "a prompt came first", "interrupted"
            )
            self._session.append(given_up.draft)

    def run(self, turn: int, command: str) -> None:
        if critic_loop.deadline(self._session.critic) is None:  # given up before it began
            return
        name, cwd = "critic_" + os.urandom(6).hex(), self._session.header.cwd

        def log(update: Json) -> None:
            self._log(turn, terminal, update)

        terminal = Terminal(self._session, name, log)
        started: Json = {"sessionUpdate": "_terminal", "id": name, "state": "started"}
        try:
            terminal.start([SHELL, "-c", command], cwd, self._session.surroundings)
        except (OSError, ValueError) as error:
            why = f"The command could not be started in {cwd}: {error}"
            self._session.feed_critic(critic_loop.Judged(turn, verdicts.unheard(why)))
            return
        self._terminal = terminal
        update = started | {"command": command, "cwd": cwd}
        self._session.append(Draft(update, None, critic_loop.BY))

    def _log(self, turn: int, terminal: Terminal, update: Json) -> None:
        self._session.append(Draft(update, None, critic_loop.BY))
        if update["state"] == "ended":
            status = terminal.exit_status()
            verdict = verdicts.of_exit(
                status["exitCode"], status["signal"] or "", terminal.output()
            )
            self.end()  # also what it left in the background
            self._session.feed_critic(critic_loop.Judged(turn, verdict))
        self._session.wake()

    def end(self) -> None:
        if self._terminal is not None:
            end_terminal(self._terminal)
            self._terminal = None
