"""An agent's examination: three short runs in a directory that is thrown away.

The first is a polite client's, the second brings the session back in a new process and then sends
what no client should, the third asks for a version of the protocol that does not exist. Each step
has its time; an agent that fails one is asked the next.
"""

import asyncio
import tempfile
import time
from typing import NamedTuple

from rookery.cli.checkup import opening, turns
from rookery.cli.checkup.card import NOT_OK, NOT_TOLD, OK, Card
from rookery.cli.checkup.subject import Reply, Subject
from rookery.core.json import lenient
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


class Limits(NamedTuple):
    """Seconds."""

    start: float = 30.0
    step: float = 10.0
    prompt: float = 120.0
    end: float = 5.0
    """For the agent to go when its input ends; the checklist gives it 2."""


async def examine(card: Card, limits: Limits, prompt: str) -> None:
    """Fill the card. Raises OSError where the command cannot be started."""
    with tempfile.TemporaryDirectory(prefix="rookery-doctor-", ignore_cleanup_errors=True) as cwd:
        async with Subject(card.argv, cwd) as first:
            met = await _meet(card, first, cwd, limits, prompt)
        if met is None:
            return
        session, ping = met
        async with Subject(card.argv, cwd) as second:
            if not (await second.ask("initialize", opening.params(), limits.start)).good:
                card.say("acp-S8", NOT_OK, "a second process did not initialize")
                return
            if session:
                await _bring_back(card, second, session, cwd, limits, prompted=bool(prompt))
                await _forget(card, second, session, limits)
            await _provoke(card, second, ping, limits)
        async with Subject(card.argv, cwd) as third:
            await _ask_for_the_future(card, third, limits)


# ---------------------------------------------------------------- a polite client


async def _meet(
    card: Card, agent: Subject, cwd: str, limits: Limits, prompt: str
) -> tuple[str, str] | None:
    """The session that was made ("": none), and a request that it answers; None: no use."""
    if not await opening.initialize(card, agent, limits.start):
        card.facts["stderr"] = agent.stderr
        return None
    session = await opening.new_session(card, agent, cwd, limits.start)
    size, living = agent.memory()
    card.facts |= {"memoryBytes": size, "processes": living}
    if not session:
        card.facts["stderr"] = agent.stderr
    ping = await _methods(card, agent, limits)
    await _sessions(card, agent, session, limits)
    if prompt and session:
        await turns.set_mode(card, agent, session, limits.step)
        await turns.prompt_turns(card, agent, session, prompt, limits.prompt)
    elif not prompt:
        card.say("acp-P7", NOT_TOLD, "permissions and cancels: not tested without --prompt")
    _requests(card, agent)
    await _hang_up(card, agent, limits.end)
    card.judge(
        "acp-T1",
        not agent.noise,
        "stdout has only messages",
        f"{count(len(agent.noise), 'stray line')} on stdout: {'; '.join(agent.noise[:2])}",
    )
    card.facts |= {"stderrBytes": agent.stderr_bytes, "strayLines": len(agent.noise)}
    return session, ping


async def _methods(card: Card, agent: Subject, limits: Limits) -> str:
    plain = await agent.ask("rookery/unknown", {}, limits.step)
    own = await agent.ask(PING, {}, limits.step)
    if opening.UNAUTHENTICATED in (plain.code, own.code):
        card.say("acp-T6", NOT_TOLD, "unknown methods: needs a login first")
    else:
        card.judge(
            "acp-T6",
            plain.code == own.code == -32601,
            "unknown methods are refused with -32601",
            f"unknown method: {_said(plain)}; with a leading _: {_said(own)}",
        )
    ping = PING if own.answered else "initialize"
    agent.peer.notify("rookery/unknown", {})
    agent.peer.notify("_rookery/unknown", {})
    after = await _ping(agent, ping, limits)
    card.judge("acp-T7", after, "unknown notifications are ignored", "stops responding after one")
    return ping


def _said(reply: Reply) -> str:
    if reply.good:
        return "answered with a result"
    return f"{reply.code} {reply.words}" if reply.code is not None else reply.words


async def _ping(agent: Subject, method: str, limits: Limits) -> bool:
    params = opening.params() if method == "initialize" else {}
    return (await agent.ask(method, params, limits.step)).answered


async def _sessions(card: Card, agent: Subject, session: str, limits: Limits) -> None:
    relative = await agent.ask("session/new", {"cwd": "here", "mcpServers": []}, limits.start)
    words = "a relative directory is refused with -32602"
    if relative.code == opening.UNAUTHENTICATED:
        card.say("acp-S2", NOT_TOLD, "a relative directory: needs a login first")
    else:
        card.judge("acp-S2", relative.code == -32602, words, f"a relative cwd: {_said(relative)}")
    can = lenient.mapping(card.facts, "capabilities")
    if made := lenient.text(relative.result, "sessionId"):
        await _forget(card, agent, made, limits)
    gone = {"sessionId": unlike(session), "cwd": "/", "mcpServers": []}
    if lenient.flag(can, "loadSession"):
        missing = await agent.ask("session/load", gone, limits.step)
    else:
        hello = [{"type": "text", "text": "hello"}]
        asked = {"sessionId": gone["sessionId"], "prompt": hello}
        missing = await agent.ask("session/prompt", asked, limits.step)
    card.facts["unknownSessionCode"] = missing.code
    if missing.code == opening.UNAUTHENTICATED:
        card.say("acp-S12", NOT_TOLD, "sessions: needs a login first")
        return
    words = "an unknown session is refused with -32002"
    card.judge("acp-S12", missing.code == -32002, words, f"an unknown session: {_said(missing)}")
    if "list" not in lenient.mapping(can, "sessionCapabilities"):
        card.say("acp-S15", NOT_TOLD, "session/list is not offered")
        return
    listed = await agent.ask("session/list", {}, limits.step)
    rows = listed.result.get("sessions") if isinstance(listed.result, dict) else None
    good = isinstance(rows, list) and all(
        lenient.text(row, "sessionId") and lenient.text(row, "cwd").startswith("/") for row in rows
    )
    found = len(rows) if isinstance(rows, list) else 0
    card.judge("acp-S15", good, f"session/list returns {found}", f"session/list: {_said(listed)}")


def unlike(session: str) -> str:
    """An id that no session has, in the form of this one: another form may be refused for that."""
    if not session:
        return "rookery-no-such-session"
    told = [place for place, letter in enumerate(session) if letter.isalnum() and letter.isascii()]
    letters = list(session)
    for place in told[-CHANGED:]:
        row = next(row for row in ROWS if letters[place] in row)
        letters[place] = row[(row.index(letters[place]) + 1) % len(row)]
    return "".join(letters)


CHANGED = 8
ROWS = ("0123456789", "abcdef", "ABCDEF", "ghijklmnopqrstuvwxyz", "GHIJKLMNOPQRSTUVWXYZ")
"""Letters that stand for one another: a number in base 16 stays one."""


def _requests(card: Card, agent: Subject) -> None:
    """What it asked of a client that offered nothing."""
    asked = {incoming.method for incoming in agent.requests}
    unoffered = sorted(
        name for name in asked if name.startswith(("fs/", "terminal/", "elicitation/"))
    )
    words = "calls only methods that were offered"
    card.judge("acp-P11", not unoffered, words, f"calls {', '.join(unoffered)}, not offered")
    odd = sorted(name for name in asked - KNOWN_METHODS if not name.startswith("_"))
    if odd:
        card.say("acp-T18", NOT_OK, f"custom methods without a leading _: {', '.join(odd)}")


async def _hang_up(card: Card, agent: Subject, within: float) -> None:
    if agent.exited.is_set():
        card.say("acp-T14", NOT_OK, f"before its input ended, {agent.end_words()}")
        return
    begun = time.monotonic()
    agent.peer.hang_up()
    try:
        async with asyncio.timeout(within):
            await agent.exited.wait()
    except TimeoutError:
        card.facts["exitSeconds"] = None
        card.say("acp-T14", NOT_OK, f"still running {duration(within)} after its input ended")
        return
    seconds = time.monotonic() - begun
    card.facts["exitSeconds"] = round(seconds, 3)
    left = await _left(agent)
    words = f"gone {duration(seconds)} after its input ended"
    otherwise = f"{words}, with {count(left, 'process')} left behind" if left else words
    card.judge("acp-T14", seconds <= 2 and not left, words, otherwise)


async def _left(agent: Subject) -> int:
    """How many processes it left; what it told to end has a moment for that."""
    await asyncio.to_thread(tree.wait_gone, agent.living(), LEAVES)
    return len(agent.living())


LEAVES = 2.0


# ---------------------------------------------------------------- a second process


async def _bring_back(
    card: Card, agent: Subject, session: str, cwd: str, limits: Limits, *, prompted: bool
) -> None:
    can = lenient.mapping(card.facts, "capabilities")
    if not lenient.flag(can, "loadSession"):
        card.say("acp-S8", NOT_TOLD, "session/load is not offered")
        return
    asked = {"sessionId": session, "cwd": cwd, "mcpServers": []}
    loaded = await agent.ask("session/load", asked, limits.start)
    if not loaded.good:
        # Many keep a session only from its first prompt on, and may.
        words = f"a second process does not load the session: {_said(loaded)}"
        known = prompted and loaded.code != opening.UNAUTHENTICATED
        card.say("acp-S8", NOT_OK if known else NOT_TOLD, words)
    else:
        _judge_replay(card, agent, loaded, session, prompted=prompted)


async def _forget(card: Card, agent: Subject, session: str, limits: Limits) -> None:
    """So that a throw-away session is not listed for ever, where the agent can delete."""
    can = lenient.mapping(card.facts, "capabilities")
    able = lenient.mapping(can, "sessionCapabilities")
    if "delete" in able:
        await agent.ask("session/delete", {"sessionId": session}, limits.step)
        return
    if "list" not in able:
        return
    listed = (await agent.ask("session/list", {}, limits.step)).result
    if session in [lenient.text(row, "sessionId") for row in lenient.mappings(listed, "sessions")]:
        words = f"the tested session {session} stays in its list: it offers no session/delete"
        card.say("acp-S18", NOT_TOLD, words)


def _judge_replay(
    card: Card, agent: Subject, loaded: Reply, session: str, *, prompted: bool
) -> None:
    told = [
        lenient.text(update, "sessionUpdate")
        for of, update in agent.updates[: loaded.updates]
        if of == session
    ]
    spoken = [kind for kind in told if kind.endswith("_chunk")]
    if not prompted:
        words = f"a second process loads the session in {duration(loaded.seconds)}"
        card.judge(
            "acp-S8",
            not spoken,
            words,
            (f"{words}, with {count(len(spoken), 'message')} of no session"),
        )
        return
    good = "user_message_chunk" in told
    words = f"a second process loads the session: {count(len(told), 'update')}"
    card.judge("acp-S8", good, words, f"{words}, without the user's messages")
    late = len(agent.updates) - loaded.updates
    late_words = [
        lenient.text(update, "sessionUpdate") for _, update in agent.updates[loaded.updates :]
    ]
    again = any(kind.endswith("_chunk") for kind in late_words)
    card.judge(
        "acp-S9", not again, "all of it before the answer", f"{count(late, 'update')} after it"
    )


# ---------------------------------------------------------------- what no client should send


async def _ask_for_the_future(card: Card, agent: Subject, limits: Limits) -> None:
    asked = await agent.ask("initialize", opening.params(65535), limits.start)
    version = lenient.integer(asked.result, "protocolVersion")
    if asked.good:
        words = f"asked for version 65535, it answers {version}"
        card.judge("acp-I3", version != 65535, words, "echoes any version it is asked for")
    else:
        card.say("acp-I3", NOT_OK, f"version 65535: {_said(asked)}")


async def _provoke(card: Card, agent: Subject, ping: str, limits: Limits) -> None:
    lines = (
        ("acp-T8", "a malformed line", b'{"jsonrpc": oops\n'),
        ("acp-T9", "a line []", b"[]\n"),
    )
    for row, what, line in lines:
        if agent.exited.is_set() or agent.peer.ended:
            card.say(row, NOT_TOLD, f"{what}: it had ended before")
            continue
        agent.refusals.clear()
        agent.peer.write_raw(line)
        if await _ping(agent, ping, limits):
            how = f"answered {agent.refusals[0]}" if agent.refusals else "ignored"
            card.say(row, OK, f"survives {what} ({how})")
        else:
            ended = agent.exited.is_set() or agent.peer.ended
            card.say(row, NOT_OK, f"{what}: {agent.end_words() if ended else 'stops responding'}")
