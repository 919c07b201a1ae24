"""Examining an agent in three short runs in a temporary directory.

The first acts as a well-behaved client, the second reopens the session in a new process and then
sends what no client should, the third asks for a protocol version that does not exist. Each step
has a time limit; an agent that fails one still gets the next."""

import asyncio
import tempfile
import time
from typing import NamedTuple

from rookery.cli.checkup import opening, turns
from rookery.cli.checkup.card import NOT_OK, NOT_TOLD, OK, UNAUTHENTICATED, Card
from rookery.cli.checkup.subject import Reply, Subject
from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import count
from rookery.core.units import duration
from rookery.processes import tree

PING = "_rookery/ping"
KNOWN_METHODS = frozenset(
    {
        *("session/request_permission", "fs/read_text_file", "fs/write_text_file"),
        *("terminal/create", "terminal/output", "terminal/wait_for_exit"),
        *("terminal/kill", "terminal/release", "elicitation/create"),
    }
)
LEAVES = 2.0
"""Seconds for what an agent ended to be gone."""


class Limits(NamedTuple):
    """Time limits of the steps, in seconds."""

    start: float = 30.0
    step: float = 10.0
    prompt: float = 120.0
    end: float = 5.0
    """For the agent to go when its input ends. One that needs more than 2 is not ok."""


async def examine(card: Card, limits: Limits, prompt: str) -> None:
    """Examine the agent and fill the card. Raises OSError if the command cannot be started."""
    with tempfile.TemporaryDirectory(prefix="rookery-doctor-", ignore_cleanup_errors=True) as cwd:
        async with Subject(card.argv, cwd) as first:
            exam = _Examination(card, first, limits, cwd, prompt)
            if not await exam.meet():
                return
        async with Subject(card.argv, cwd) as second:
            exam.agent = second
            if not (await second.ask("initialize", opening.params(), limits.start)).good:
                card.say("session/load", NOT_OK, "a second process did not initialize")
                return
            if exam.session:
                await exam.bring_back()
                await exam.forget(exam.session)
            await exam.provoke()
        async with Subject(card.argv, cwd) as third:
            exam.agent = third
            await exam.ask_for_the_future()


class _Examination:
    def __init__(self, card: Card, agent: Subject, limits: Limits, cwd: str, prompt: str) -> None:
        self.card = card
        self.agent = agent
        self.session = ""
        """The session that was made, if any."""
        self._limits = limits
        self._cwd = cwd
        self._prompt = prompt
        self._ping_method = PING
        """A request that it answers."""

    @property
    def _can(self) -> Json:
        return lenient.mapping(self.card.facts, "capabilities")

    async def _ask(self, method: str, params: Json) -> Reply:
        return await self.agent.ask(method, params, self._limits.step)

    async def _ping(self) -> bool:
        params = opening.params() if self._ping_method == "initialize" else {}
        return (await self._ask(self._ping_method, params)).answered

    # --- a well-behaved client -------------------------------------------------------------------

    async def meet(self) -> bool:
        """Run the first examination; return False if there is no use in going on."""
        card, agent, limits = self.card, self.agent, self._limits
        if not await opening.initialize(card, agent, limits.start):
            card.facts["stderr"] = agent.stderr
            return False
        self.session = await opening.new_session(card, agent, self._cwd, limits.start)
        size, living = agent.memory()
        card.facts |= {"memoryBytes": size, "processes": living}
        if not self.session:
            card.facts["stderr"] = agent.stderr
        await self._methods()
        await self._sessions()
        if self._prompt and self.session:
            await turns.set_mode(card, agent, self.session, limits.step)
            await turns.prompt_turns(card, agent, self.session, self._prompt, limits.prompt)
        elif not self._prompt:
            card.say("permission", NOT_TOLD, "permissions and cancels: not tested without --prompt")
        self._requests()
        await self._hang_up()
        stray = f"{count(len(agent.noise), 'stray line')} on stdout: {'; '.join(agent.noise[:2])}"
        card.judge("stdout", not agent.noise, "stdout has only messages", stray)
        card.facts |= {"stderrBytes": agent.stderr_bytes, "strayLines": len(agent.noise)}
        return True

    async def _methods(self) -> None:
        plain, own = await self._ask("rookery/unknown", {}), await self._ask(PING, {})
        self.card.judge_refusal("unknown-method", "unknown methods", -32601, plain, own)
        self._ping_method = PING if own.answered else "initialize"
        self.agent.peer.notify("rookery/unknown", {})
        self.agent.peer.notify("_rookery/unknown", {})
        statement = "unknown notifications are ignored"
        self.card.judge(
            "unknown-notification", await self._ping(), statement, "stops responding after one"
        )

    async def _sessions(self) -> None:
        card = self.card
        asked: Json = {"cwd": "here", "mcpServers": []}
        relative = await self.agent.ask("session/new", asked, self._limits.start)
        card.judge_refusal("relative-path", "a relative directory", -32602, relative)
        if made := lenient.text(relative.result, "sessionId"):
            await self.forget(made)
        gone: Json = {"sessionId": unlike(self.session)}
        if lenient.flag(self._can, "loadSession"):
            missing = await self._ask("session/load", gone | {"cwd": "/", "mcpServers": []})
        else:
            hello = [{"type": "text", "text": "hello"}]
            missing = await self._ask("session/prompt", gone | {"prompt": hello})
        card.facts["unknownSessionCode"] = missing.code
        card.judge_refusal("unknown-session", "an unknown session", -32002, missing)
        if missing.code == UNAUTHENTICATED:
            return
        if "list" not in lenient.mapping(self._can, "sessionCapabilities"):
            card.say("session/list", NOT_TOLD, "session/list is not offered")
            return
        listed = await self._ask("session/list", {})
        rows = listed.result.get("sessions") if isinstance(listed.result, dict) else None
        good = isinstance(rows, list) and all(
            lenient.text(row, "sessionId") and lenient.text(row, "cwd").startswith("/")
            for row in rows
        )
        total = len(rows) if isinstance(rows, list) else 0
        bad = f"session/list: {listed.outcome}"
        card.judge("session/list", good, f"session/list returns {total}", bad)

    def _requests(self) -> None:
        """Judge the requests that it made of a client that offered nothing."""
        asked = {incoming.method for incoming in self.agent.requests}
        unoffered = sorted(
            name for name in asked if name.startswith(("fs/", "terminal/", "elicitation/"))
        )
        statement = "calls only methods that were offered"
        bad = f"calls {', '.join(unoffered)}, not offered"
        self.card.judge("client-methods", not unoffered, statement, bad)
        odd = sorted(name for name in asked - KNOWN_METHODS if not name.startswith("_"))
        if odd:
            statement = f"custom methods without a leading _: {', '.join(odd)}"
            self.card.say("custom-methods", NOT_OK, statement)

    async def _hang_up(self) -> None:
        card, agent, within = self.card, self.agent, self._limits.end
        if agent.exited.is_set():
            card.say("exit", NOT_OK, f"before its input ended, {agent.end_words()}")
            return
        begun = time.monotonic()
        agent.peer.hang_up()
        try:
            async with asyncio.timeout(within):
                await agent.exited.wait()
        except TimeoutError:
            card.facts["exitSeconds"] = None
            card.say("exit", NOT_OK, f"still running {duration(within)} after its input ended")
            return
        seconds = time.monotonic() - begun
        card.facts["exitSeconds"] = round(seconds, 3)
        await asyncio.to_thread(tree.wait_gone, agent.living(), LEAVES)
        left = len(agent.living())
        statement = f"gone {duration(seconds)} after its input ended"
        otherwise = f"{statement}, with {count(left, 'process')} left behind" if left else statement
        card.judge("exit", seconds <= 2 and not left, statement, otherwise)

    # --- a second process ------------------------------------------------------------------------

    async def bring_back(self) -> None:
        if not lenient.flag(self._can, "loadSession"):
            self.card.say("session/load", NOT_TOLD, "session/load is not offered")
            return
        asked = {"sessionId": self.session, "cwd": self._cwd, "mcpServers": []}
        loaded = await self.agent.ask("session/load", asked, self._limits.start)
        if loaded.good:
            self._judge_replay(loaded)
            return
        # Many keep a session only from its first prompt on, and may.
        known = self._prompt and loaded.code != UNAUTHENTICATED
        statement = f"a second process does not load the session: {loaded.outcome}"
        self.card.say("session/load", NOT_OK if known else NOT_TOLD, statement)

    def _judge_replay(self, loaded: Reply) -> None:
        kinds = [(of, lenient.text(update, "sessionUpdate")) for of, update in self.agent.updates]
        replayed = [kind for of, kind in kinds[: loaded.updates] if of == self.session]
        late = [kind for _, kind in kinds[loaded.updates :]]
        if not self._prompt:
            spoken = [kind for kind in replayed if kind.endswith("_chunk")]
            statement = f"a second process loads the session in {duration(loaded.seconds)}"
            bad = f"{statement}, with {count(len(spoken), 'message')} of no session"
            self.card.judge("session/load", not spoken, statement, bad)
            return
        statement = f"a second process loads the session: {count(len(replayed), 'update')}"
        bad = f"{statement}, without the user's messages"
        self.card.judge("session/load", "user_message_chunk" in replayed, statement, bad)
        again = any(kind.endswith("_chunk") for kind in late)
        bad = f"{count(len(late), 'update')} after it"
        self.card.judge("replay", not again, "all of it before the answer", bad)

    async def forget(self, session: str) -> None:
        """Delete a test session if the agent can; else record that it stays in its list."""
        able = lenient.mapping(self._can, "sessionCapabilities")
        if "delete" in able:
            await self._ask("session/delete", {"sessionId": session})
        elif "list" in able:
            listed = (await self._ask("session/list", {})).result
            rows = lenient.mappings(listed, "sessions")
            if session in [lenient.text(row, "sessionId") for row in rows]:
                statement = (
                    f"the test's session {session} stays in its list: it offers no session/delete"
                )
                self.card.say("session/delete", NOT_TOLD, statement)

    # --- what no client should send --------------------------------------------------------------

    async def provoke(self) -> None:
        agent = self.agent
        for row, what, line in (
            ("malformed-line", "a malformed line", b'{"jsonrpc": oops\n'),
            ("invalid-request", "a line []", b"[]\n"),
        ):
            if agent.has_ended():
                self.card.say(row, NOT_TOLD, f"{what}: it had ended before")
                continue
            agent.refusals.clear()
            agent.peer.write_raw(line)
            if await self._ping():
                how = f"answered {agent.refusals[0]}" if agent.refusals else "ignored"
                self.card.say(row, OK, f"survives {what} ({how})")
            else:
                how = agent.end_words() if agent.has_ended() else "stops responding"
                self.card.say(row, NOT_OK, f"{what}: {how}")

    async def ask_for_the_future(self) -> None:
        asked = await self.agent.ask("initialize", opening.params(65535), self._limits.start)
        if not asked.good:
            self.card.say("unknown-version", NOT_OK, f"version 65535: {asked.outcome}")
            return
        version = lenient.integer(asked.result, "protocolVersion")
        statement = f"asked for version 65535, it answers {version}"
        bad = "echoes any version it is asked for"
        self.card.judge("unknown-version", version != 65535, statement, bad)


CHANGED = 8
ROWS = ("0123456789", "abcdef", "ABCDEF", "ghijklmnopqrstuvwxyz", "GHIJKLMNOPQRSTUVWXYZ")
"""Letters that may replace each other: a hexadecimal number stays one."""


def unlike(session: str) -> str:
    """Return an unknown id in this one's form: an agent may refuse another for its form."""
    if not session:
        return "rookery-no-such-session"
    letters = list(session)
    places = [n for n, letter in enumerate(session) if letter.isalnum() and letter.isascii()]
    for place in places[-CHANGED:]:
        row = next(row for row in ROWS if letters[place] in row)
        letters[place] = row[(row.index(letters[place]) + 1) % len(row)]
    return "".join(letters)
