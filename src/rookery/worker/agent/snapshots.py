"""Takes the snapshots: at the end of each turn, and with a prompt if something changed since. Each
is a process of its own, and none keeps a turn waiting or fails it. One at a time."""

import asyncio
import json
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from rookery.core.agent.addresses import address_of
from rookery.core.json import Draft, Json, lenient, notice
from rookery.core.tools.calls import in_turn
from rookery.core.turn.rewinding import SNAPSHOT, left_out
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.snapshots import job
from rookery.worker.session import Session

PATIENCE = 900.0
"""Seconds for one job."""
HOLD = 5.0
"""Seconds for which what an agent wants to change waits for the first snapshot of its turn."""
CLOSING = 10.0
"""Seconds for what is under way when the worker stops."""
TIDY = 25
"""Snapshots between two looks at how the store stands."""

type Then = Callable[[Json], None]


class _Job(NamedTuple):
    given: Json | Callable[[], Json]
    then: Then


class Snapshots:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._jobs: deque[_Job] = deque()
        self._running: asyncio.Task[None] | None = None
        self._taken = 0
        self._held: deque[Callable[[], None]] | None = None
        """What waits until the files are safe; None: nothing has to."""

    # --- with turns ------------------------------------------------------------------------------

    def prompt_sent(self) -> None:
        """The agent has the prompt, and its model has yet to answer. Where a snapshot is being
        taken, that is of this moment, too."""
        if not self._is_on():
            return
        if self._held is None:
            self._held = deque()
            asyncio.get_running_loop().call_later(HOLD, self.release)
        if self._running is None:
            self._take("prompt", self._session.header["turn"])

    def holds(self, later: Callable[[], None]) -> bool:
        """Whether the agent is to change something before its turn's snapshot is taken: it waits
        for that, a little."""
        if self._held is None:
            return False
        self._held.append(later)
        return True

    def release(self) -> None:
        held, self._held = self._held, None
        for later in held or ():
            later()
        if held:
            self._session.wake()

    def turn_ended(self, turn: int) -> None:
        """The header may be of the next one already: a queued prompt begins it at once."""
        if self._is_on():
            self._take("end", turn)

    def _is_on(self) -> bool:
        """An agent on another machine works on files there."""
        session = self._session
        return session.policy.snapshots and not address_of(session.argv()) and not session.stopped

    def _take(self, when: str, turn: int) -> None:
        cwd = self._session.header["cwd"]
        if self._running is None and (said := self._known(cwd)):
            self._took(said, turn, when)
            self.release()
            return
        self.run({"do": "take"}, lambda said: self._took(said, turn, when))

    def _known(self, cwd: str) -> Json:
        """What needs no process; {}: one has to look."""
        directory, environment = self._session.directory, self._session.surroundings.environment
        if words := job.unfit(cwd, job.home_of(directory), environment):
            return {"refused": job.UNFIT, "message": words}
        return {"id": job.EMPTY} if job.is_empty(directory, cwd) else {}

    def _took(self, said: Json, turn: int, when: str) -> None:
        session, header = self._session, self._session.header
        known = header["snapshot"]
        update: Json = {"sessionUpdate": SNAPSHOT, "turn": turn, "when": when}
        if refused := lenient.text(said, "refused"):
            if refused != known.get("refused"):
                message = lenient.text(said, "message")
                session.append(Draft(update | {"refused": refused, "message": message}))
                text = f"The files of this session cannot be rewound. {message}"
                session.append(Draft(notice(text, "info")))
            return
        if when == "prompt" and said["id"] == known.get("id"):
            return
        if when == "prompt" and self._has_acted(header, turn):
            update["late"] = True
        words = left_out(header, said)
        session.append(Draft(update | _told(said)))
        if words:
            session.append(Draft(notice(words, "info")))
        self._taken += 1
        if self._taken % TIDY == 0:
            self._tidy()

    def _tidy(self) -> None:
        """What the log does not tell of goes: comparisons, and what a killed worker left."""
        with suppress(LogError), Reader.open(self._session.directory) as log:
            names = [lenient.text(event.update, "id") for event in log.of_kinds(SNAPSHOT)]
            self.run({"do": "tidy", "keep": names}, lambda _: None)

    def _has_acted(self, header: Json, turn: int) -> bool:
        """The agent was faster: what it did may be in the snapshot. A call that waits for us has
        done nothing yet."""
        if header["turn"] != turn:
            return True
        return not self._held and any(
            in_turn(header, name) for name, *_ in header["_tools"].values()
        )

    # --- jobs ------------------------------------------------------------------------------------

    def run(self, given: Json, then: Then) -> None:
        """`then` is called with the answer, on the loop; what it appends is performed."""
        self._jobs.append(_Job(given, then))
        if self._running is None:
            self._running = asyncio.create_task(self._work(), name="snapshots")

    def think(self, work: Callable[[], Json], then: Then) -> None:
        """The same for what needs no process, but a thread: it reads logs."""
        self._jobs.appendleft(_Job(work, then))
        if self._running is None:
            self._running = asyncio.create_task(self._work(), name="snapshots")

    async def _work(self) -> None:
        try:
            while self._jobs:
                given, then = self._jobs.popleft()
                if callable(given):
                    try:
                        then(await asyncio.to_thread(given))
                    except (LogError, OSError, LookupError, ValueError) as error:
                        then({"refused": "unreadable", "message": str(error)})
                else:
                    then(await self._answer(given))
                self._session.wake()
        finally:
            self._running = None
            self.release()

    async def _answer(self, given: Json) -> Json:
        session, (environment, umask, _) = self._session, self._session.surroundings
        most, cwd = session.policy.snapshot_file_bytes, session.header["cwd"]
        request = job.request(session.directory, cwd, environment, most, **given)
        if request is None:
            return {"refused": "no_git", "message": job.NO_GIT}
        try:
            process = await asyncio.create_subprocess_exec(
                *job.argv(),
                cwd="/",
                env=environment,
                umask=umask,
                start_new_session=True,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            return {"refused": "failed", "message": f"git could not be started: {error}"}
        try:
            async with asyncio.timeout(PATIENCE):
                out, _ = await process.communicate(json.dumps(request).encode())
            said = json.loads(out)
        except TimeoutError:
            return {"refused": "slow", "message": "The snapshot took too long."}
        except ValueError:
            status = process.returncode or 0
            how = "was killed" if status < 0 else f"ended with status {status}"
            return {"refused": "failed", "message": f"The snapshot failed (its process {how})."}
        finally:
            with suppress(ProcessLookupError):
                if process.returncode is None:
                    process.kill()
        return said if isinstance(said, dict) else {}

    async def close(self) -> None:
        """The last turn's snapshot is waited for, a little."""
        if self._running is not None:
            await asyncio.wait([self._running], timeout=CLOSING)
        if self._running is not None:
            self._running.cancel()


def _told(said: Json) -> Json:
    keys = ("id", "tree", "changed", "large", "nested", "unreadable")
    return {key: said[key] for key in keys if said.get(key)}
