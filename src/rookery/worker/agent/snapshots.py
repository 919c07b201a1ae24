"""Takes the snapshots: at the end of each turn, and with a prompt if something changed since. Each
is a process of its own, and none keeps a turn waiting or fails it. One at a time."""

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
from rookery.core.json import Draft, Event, Json, kind_of, lenient, notice
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
        """The agent has the prompt, and its model has yet to answer. Where a snapshot is being
        taken, that is of this moment, too."""
        if not self._is_on():
            return
        if self._held is None:
            self._held = deque()
            asyncio.get_running_loop().call_later(HOLD, self.release)
        if self._running is None:
            self._take("prompt", self._session.header["turn"], _file_time())

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

    def hear(self, event: Event) -> None:
        """What is in the log now."""
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
        """Turns that follow each other faster than snapshots can be taken: of those that wait, the
        newest is enough, but for turns that changed files."""
        newest = max((each.ended for each in self._jobs), default=0)
        for waiting in [each for each in self._jobs if 0 < each.ended < newest]:
            if waiting.ended not in self._busy:
                self._jobs.remove(waiting)
                about = {"turn": waiting.ended, "when": "end", "passed": True}
                self._session.append(Draft({"sessionUpdate": SNAPSHOT, **about}))
        self._busy = {turn for turn in self._busy if turn >= newest}

    def _is_on(self) -> bool:
        """An agent on another machine works on files there."""
        session = self._session
        return session.policy.snapshots and not address_of(session.argv()) and not session.stopped

    def _take(self, when: str, turn: int, moment: float) -> None:
        """`moment`: what it is of; what changes after it may be in it by half."""
        cwd = self._session.header["cwd"]
        if self._running is None and (said := self._known(cwd)):
            self._took(said, turn, when)
            self.release()
            return
        given = {"do": "take", "moment": moment}
        ended = turn if when == "end" else 0
        self._add(_Job(given, lambda said: self._took(said, turn, when), ended))

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
            if refused != known.get("refused") or refused in PASSING:
                message = lenient.text(said, "message")
                session.append(Draft(update | {"refused": refused, "message": message}))
                session.append(Draft(notice(_refusal(refused, message, turn), "info")))
            return
        later = lenient.texts(said, "later")
        if when == "prompt" and said["id"] == known.get("id"):
            return
        if when == "prompt" and (later or self._has_acted(header, turn)):
            update["late"] = True
        if when == "end" and later:
            update |= {"later": later[:NAMED], "laterMore": len(later) > NAMED}
            update |= {"late": True} if header["turn"] != turn else {}
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
        self._add(_Job(given, then))

    def _add(self, job: _Job) -> None:
        self._jobs.append(job)
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
        most, cwd = session.policy.snapshot_file_bytes, session.header["cwd"]
        request = job.request(session.directory, cwd, environment, most, **given)
        if request is None:
            return {"refused": "no_git", "message": job.NO_GIT}
        try:
            process = _started(environment, umask)
        except OSError as error:
            return {"refused": "failed", "message": f"git could not be started: {error}"}
        session.jobs.add(process.pid)
        try:
            async with asyncio.timeout(PATIENCE):
                asked = json.dumps(request).encode()
                out, _ = await asyncio.to_thread(process.communicate, asked)
            said = json.loads(out)
        except TimeoutError:
            return {"refused": "slow", "message": "The snapshot took too long."}
        except ValueError:
            status = process.returncode or 0
            how = "was killed" if status < 0 else f"ended with status {status}"
            return {"refused": "failed", "message": f"The snapshot failed (its process {how})."}
        finally:
            session.jobs.discard(process.pid)
            process.kill()  # no matter if it has ended
        return said if isinstance(said, dict) else {}

    async def close(self) -> None:
        """The last turn's snapshot is waited for, a little."""
        if self._running is not None:
            await asyncio.wait([self._running], timeout=CLOSING)
        if self._running is not None:
            self._running.cancel()


def _file_time() -> float:
    """Just before now, as a file has it."""
    try:
        return time.clock_gettime(COARSE) - 1e-6
    except OSError:
        return time.time()


def _started(environment: Mapping[str, str], umask: int) -> "subprocess.Popen[bytes]":
    """Not by the loop, which tells its number only later: an agent that ends meanwhile takes with
    it whatever is not known to be ours. Raises OSError."""
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
    words = f"There is no snapshot of the files after turn {turn}. {message}"
    return f"{words} The next one is taken with the next turn; turns before it can be rewound to."


def _told(said: Json) -> Json:
    keys = ("id", "tree", "changed", "large", "nested", "unreadable")
    return {key: said[key] for key in keys if said.get(key)}
