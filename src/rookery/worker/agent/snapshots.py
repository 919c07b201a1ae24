"""Takes snapshots of the files: at the end of each turn, and with a prompt if something changed
since. Each is a process of its own, one at a time; none delays a turn or makes it fail."""

import asyncio
import json
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from rookery.client.rewind.origins import LOOKING
from rookery.core.agent.addresses import address_of
from rookery.core.header import Header
from rookery.core.json import Draft, Event, Json, kind_of, lenient, notice
from rookery.core.tools.calls import in_turn
from rookery.core.turn.rewinding import SNAPSHOT, left_out
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.snapshots import job
from rookery.worker.session import Session

JOB_TIMEOUT = 900.0
"""Seconds that one job may take."""
HOLD = 5.0
"""Seconds for which what an agent wants to change waits for the first snapshot of its turn."""
CLOSING = 10.0
"""Seconds for what is under way when the worker stops."""
TIDY = 25
"""Snapshots between two looks at how the store stands."""

COARSE = 5
"""The number of CLOCK_REALTIME_COARSE, by which Linux dates files: it lags by some milliseconds."""
NAMED = 200
"""Paths that the log names of those that changed after a turn's end."""
PASSING = ("failed", "slow", "git_failed")
"""Why a snapshot could not be taken that the next one may not meet."""

type Then = Callable[[Json], None]


class _Job(NamedTuple):
    given: Json | Callable[[], Json]
    then: Then
    ended: int = 0
    """The turn at whose end a snapshot is wanted."""


class Snapshots:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._jobs: deque[_Job] = deque()
        self._running: asyncio.Task[None] | None = None
        self._taken = 0
        self._held: deque[Callable[[], None]] | None = None
        """What waits until the files are safe; None: nothing has to."""
        self._turn = 0
        self._busy: set[int] = set()
        """Turns with calls that may have changed files."""

    # --- with turns ------------------------------------------------------------------------------

    def prompt_sent(self) -> None:
        """Take a snapshot if none is running: the agent has the prompt, and its model has yet to
        answer. A snapshot that is being taken counts for this moment, too."""
        if not self._is_on():
            return
        if self._held is None:
            self._held = deque()
            asyncio.get_running_loop().call_later(HOLD, self.release)
        if self._running is None:
            self._take("prompt", self._session.header.turn, _file_time())

    def holds(self, later: Callable[[], None]) -> bool:
        """Hold back a change by the agent until its turn's snapshot is taken, for a short time at
        most; False if nothing has to wait."""
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

    def hear(self, event: Event) -> None:
        """Take an event that has been logged."""
        update = event.update
        match kind_of(update):
            case "_prompt":
                self._turn = lenient.integer(update, "turn") or self._turn
            case "tool_call" if update.get("kind") not in LOOKING:
                self._busy.add(self._turn)
            case "_turn" if update.get("imported") is True:
                self._busy.clear()
            case "_turn" if update.get("state") == "idle" and self._is_on():
                self._take("end", update["turn"], event.at / 1000)
                self._pass_over()

    def _pass_over(self) -> None:
        """Drop queued snapshots when turns follow each other faster than snapshots can be taken:
        the newest is enough, except for turns that changed files."""
        newest = max((each.ended for each in self._jobs), default=0)
        for waiting in [each for each in self._jobs if 0 < each.ended < newest]:
            if waiting.ended not in self._busy:
                self._jobs.remove(waiting)
                about = {"turn": waiting.ended, "when": "end", "passed": True}
                self._session.append(Draft({"sessionUpdate": SNAPSHOT, **about}))
        self._busy = {turn for turn in self._busy if turn >= newest}

    def _is_on(self) -> bool:
        """Whether snapshots are taken: not for an agent on another machine with its files."""
        session = self._session
        return session.policy.snapshots and not address_of(session.argv()) and not session.stopped

    def _take(self, when: str, turn: int, moment: float) -> None:
        """Take a snapshot as of `moment`; later changes may be in it in part."""
        cwd = self._session.header.cwd
        if self._running is None and (outcome := self._known(cwd)):
            self._took(outcome, turn, when)
            self.release()
            return
        given = {"do": "take", "moment": moment}
        ended = turn if when == "end" else 0
        self._add(_Job(given, lambda outcome: self._took(outcome, turn, when), ended))

    def _known(self, cwd: str) -> Json:
        """Return the outcome if it can be told without a process, or {} if one is needed."""
        directory, environment = self._session.directory, self._session.surroundings.environment
        if message := job.unfit(cwd, job.home_of(directory), environment):
            return {"refused": job.UNFIT, "message": message}
        return {"id": job.EMPTY} if job.is_empty(directory, cwd) else {}

    def _took(self, outcome: Json, turn: int, when: str) -> None:
        session, header = self._session, self._session.header
        known = header.snapshot
        update: Json = {"sessionUpdate": SNAPSHOT, "turn": turn, "when": when}
        if refused := lenient.text(outcome, "refused"):
            if refused != known.get("refused") or refused in PASSING:
                message = lenient.text(outcome, "message")
                session.append(Draft(update | {"refused": refused, "message": message}))
                session.append(Draft(notice(_refusal(refused, message, turn), "info")))
            return
        later = lenient.texts(outcome, "later")
        if when == "prompt" and outcome["id"] == known.get("id"):
            return
        if when == "prompt" and (later or self._has_acted(header, turn)):
            update["late"] = True
        if when == "end" and later:
            update |= {"later": later[:NAMED], "laterMore": len(later) > NAMED}
            update |= {"late": True} if header.turn != turn else {}
        text = left_out(header, outcome)
        session.append(Draft(update | _fields(outcome)))
        if text:
            session.append(Draft(notice(text, "info")))
        self._taken += 1
        if self._taken % TIDY == 0:
            self._tidy()

    def _tidy(self) -> None:
        """Delete what the log does not refer to: comparisons, and leftovers of a killed worker."""
        with suppress(LogError), Reader.open(self._session.directory) as log:
            names = [lenient.text(event.update, "id") for event in log.of_kinds(SNAPSHOT)]
            self.run({"do": "tidy", "keep": names}, lambda _: None)

    def _has_acted(self, header: Header, turn: int) -> bool:
        """Tell whether the agent was faster, so that its work may be in the snapshot. A call that
        waits for us has done nothing yet."""
        if header.turn != turn:
            return True
        return not self._held and any(in_turn(header, name) for name, *_ in header.tools.values())

    # --- jobs ------------------------------------------------------------------------------------

    def run(self, given: Json, then: Then) -> None:
        """Queue a job. `then` gets its answer, on the loop; what it appends is performed."""
        self._add(_Job(given, then))

    def _add(self, job: _Job) -> None:
        self._jobs.append(job)
        if self._running is None:
            self._running = asyncio.create_task(self._work(), name="snapshots")

    def think(self, work: Callable[[], Json], then: Then) -> None:
        """Queue a job that needs no process but a thread, since it reads logs; it goes first.
        `then` as in `run`."""
        self._jobs.appendleft(_Job(work, then))
        if self._running is None:
            self._running = asyncio.create_task(self._work(), name="snapshots")

    async def _work(self) -> None:
        try:
            while self._jobs:
                given, then, _ = self._jobs.popleft()
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
        most, cwd = session.policy.snapshot_file_bytes, session.header.cwd
        request = job.request(session.directory, cwd, environment, most, **given)
        if request is None:
            return {"refused": "no_git", "message": job.NO_GIT}
        try:
            process = _started(environment, umask)
        except OSError as error:
            return {"refused": "failed", "message": f"git could not be started: {error}"}
        session.jobs.add(process.pid)
        try:
            async with asyncio.timeout(JOB_TIMEOUT):
                asked = json.dumps(request).encode()
                out, _ = await asyncio.to_thread(process.communicate, asked)
            outcome = json.loads(out)
        except TimeoutError:
            return {"refused": "slow", "message": "The snapshot took too long."}
        except ValueError:
            status = process.returncode or 0
            how = "was killed" if status < 0 else f"ended with status {status}"
            return {"refused": "failed", "message": f"The snapshot failed (its process {how})."}
        finally:
            session.jobs.discard(process.pid)
            process.kill()  # no matter if it has ended
        return outcome if isinstance(outcome, dict) else {}

    async def close(self) -> None:
        """Wait for the last turn's snapshot, for a short time."""
        if self._running is not None:
            await asyncio.wait([self._running], timeout=CLOSING)
        if self._running is not None:
            self._running.cancel()


def _file_time() -> float:
    """Return a time just before now, at the resolution of file timestamps."""
    try:
        return time.clock_gettime(COARSE) - 1e-6
    except OSError:
        return time.time()


def _started(environment: Mapping[str, str], umask: int) -> "subprocess.Popen[bytes]":
    """Start the snapshot process. Not through the event loop, which reports the pid only later: an
    agent that ends meanwhile kills every process that is not known to be ours. Raises OSError."""
    return subprocess.Popen(
        job.argv(),
        cwd="/",
        env=environment,
        umask=umask,
        start_new_session=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def _refusal(refused: str, message: str, turn: int) -> str:
    if refused not in PASSING:
        return f"The files of this session cannot be rewound. {message}"
    text = f"There is no snapshot of the files after turn {turn}. {message}"
    return f"{text} The next one is taken with the next turn; turns before it can be rewound to."


def _fields(outcome: Json) -> Json:
    keys = ("id", "tree", "changed", "large", "nested", "unreadable")
    return {key: outcome[key] for key in keys if outcome.get(key)}
