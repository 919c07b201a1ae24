"""Supervision of the agent process: from nothing to a session that takes prompts, and
back.

  absent ─StartWanted► spawning ─Spawned► initializing ─Initialized► opening ─Opened► ready
                       (settling: a replay that is late; applying: mode, model, effort) ┘
    ▲                                                    (resume, else load, else new)  │
    └──────────────────── Exited ◄──────── ending ◄──EndWanted──────────────────────────┘

Every path out of the middle sends the turn machine exactly one AgentLost."""

from rookery.core.agent import failures, opening
from rookery.core.agent import messages as msg
from rookery.core.agent.messages import Agent, Effect, Input, Step, Wish
from rookery.core.json import Draft, Json, lenient, notice
from rookery.core.limits import Policy
from rookery.core.turn import clearing as clears
from rookery.core.turn.messages import AgentLost, AgentReady, Append, WantAgent
from rookery.core.vendors import logins
from rookery.core.vendors.errors import error_words

PROTOCOL = 1
LATE_REPLAY = 0.25
"""Seconds until a load that replayed nothing is taken for one without a replay."""
REPLAY_GAP = 0.1
"""Seconds without a part of a late replay, after which it is over."""


def step(agent: Agent, given: Input, now: float, wish: Wish, policy: Policy) -> Step:
    match given:
        case msg.Replaced():
            after, effects = _replaced(agent, given, policy)
        case msg.ClearWanted():
            after, effects = _clear(agent, given.clearing, now, wish, policy)
        case msg.Replayed() | msg.Tick() if agent.phase == "settling":
            after, effects = _settle(agent, given, now, policy)
        case _:
            after, effects = _step(agent, given, now, wish, policy)
    if agent.clearing is not None and after.clearing is None and not _tells(effects, agent):
        # Whatever ended it, the client that wanted it is told.
        return after, [Append(clears.refused(agent.clearing, "the agent ended")), *effects]
    return after, effects


def _tells(effects: list[Effect], agent: Agent) -> bool:
    assert agent.clearing is not None
    return agent.clearing.cause in [e.draft.cause for e in effects if isinstance(e, Append)]


def _step(agent: Agent, given: Input, now: float, wish: Wish, policy: Policy) -> Step:
    match given:
        case msg.StartWanted():
            return _wanted(agent, now, wish)
        case msg.Spawned() if agent.phase == "spawning":
            until = now + _patience(wish, policy)
            return agent._replace(phase="initializing", until=until), [_initialize(wish)]
        case msg.SpawnFailed():
            failed = agent._replace(phase="spawning", born=now)
            gone = msg.Exited(127, [given.message], given.message if given.remote else "")
            past, update = failures.gone(failed, gone, now, wish, policy)
            if agent.heir is not None:
                return _succeeded(agent, [Append(Draft(update))])
            return Agent(past=past), [Append(Draft(update)), msg.Tell(AgentLost(given.message))]
        case msg.Initialized() if agent.phase == "initializing":
            return _initialized(agent, given, now, wish, policy)
        case msg.Opened() if agent.phase == "opening":
            return _opened(agent, given, now, wish, policy)
        case msg.Applied() if agent.phase == "applying":
            return _applied(agent, given, now, wish, policy)
        case msg.Exited():
            return _exited(agent, given, now, wish, policy)
        case msg.EndWanted() if agent.phase not in ("absent", "ending"):
            return Agent(phase="ending", born=agent.born, past=agent.past), [msg.End()]
        case msg.EndWanted():
            return agent._replace(wanted_again=False), []
        case msg.Tick() if agent.until is not None and now >= agent.until:
            limit = _limit(agent, wish, policy)
            why = f"{wish.name} did not answer {_asked(agent)} in time ({limit})"
            failing = _failing(_unrestored(agent, why, wish), {"message": why})
            return failing, [msg.End(), msg.Tell(AgentLost(why))]
    return agent, []


def _wanted(agent: Agent, now: float, wish: Wish) -> Step:
    match agent.phase:
        case "ready":
            return agent, [_ready(agent)]
        case "absent":
            starting = _state("starting", wish, argv=wish.argv)
            spawning = Agent(phase="spawning", born=now, past=agent.past)
            return spawning, [Append(Draft(starting)), msg.Spawn()]
        case "ending":
            return agent._replace(wanted_again=True), []
    return agent, []


def _replaced(agent: Agent, given: msg.Replaced, policy: Policy) -> Step:
    """Hand over to another agent: the log says so only once the old one can send nothing more."""
    if agent.phase == "absent":
        start: list[Effect] = [WantAgent()] if given.start else []
        return Agent(), [Append(given.heir, full=True), *start]
    ending = agent._replace(heir=given.heir, wanted_again=agent.wanted_again or given.start)
    if agent.phase == "ending":
        return ending, []
    past, again = agent.past, ending.wanted_again
    ended = Agent("ending", born=agent.born, past=past, heir=given.heir, wanted_again=again)
    return ended, [msg.End(policy.switch_grace)]


def _succeeded(agent: Agent, effects: list[Effect]) -> Step:
    """Return the successor's fresh state: no failure of the old agent counts against it."""
    assert agent.heir is not None
    start: list[Effect] = [WantAgent()] if agent.wanted_again else []
    return Agent(), [*effects, Append(agent.heir, full=True), *start]


def _clear(agent: Agent, clearing: clears.Clearing, now: float, wish: Wish, policy: Policy) -> Step:
    if agent.phase != "ready":
        return agent, [Append(clears.refused(clearing, "the agent is not ready"))]
    leaving = clearing._replace(session=agent.session)
    return _open(agent._replace(session="", clearing=leaving), "session/new", now, wish, policy)


def _initialize(wish: Wish) -> msg.Call:
    client = {"name": "rookery", "title": "Rookery", "version": wish.version}
    params = {"protocolVersion": PROTOCOL, "clientCapabilities": wish.offers, "clientInfo": client}
    return msg.Call("initialize", params)


def _initialized(
    agent: Agent, given: msg.Initialized, now: float, wish: Wish, policy: Policy
) -> Step:
    if given.error is not None or not isinstance(given.result, dict):
        error = given.error or {"message": "initialize did not return an object"}
        return _refused(agent, error, wish)
    meta = lenient.mapping(given.result, "_meta")
    agent = agent._replace(
        capabilities=lenient.mapping(given.result, "agentCapabilities"),
        info=lenient.mapping(given.result, "agentInfo"),
        logins=logins.methods(given.result, wish.argv),
        steers=lenient.flag(lenient.mapping(meta, "steering"), "supported"),
        continues=lenient.flag(lenient.mapping(meta, "rookery"), "continue"),
        pauses=lenient.flag(lenient.mapping(meta, "rookery"), "pause"),
        forks_at=lenient.flag(lenient.mapping(meta, "rookery"), "forkAt"),
    )
    if wish.stored is None:
        return _open(agent, "session/new", now, wish, policy)
    if failures.given_up(agent.past, wish.stored):
        why = f"{wish.name} failed to restore its session {agent.past.transient} times"
        fresh = agent._replace(reset=f"{why}: {agent.past.why}")
        return _open(fresh, "session/new", now, wish, policy)
    if wish.fork is not None:
        if opening.can(agent.capabilities, "fork") and (agent.forks_at or not wish.fork):
            return _open(agent, "session/fork", now, wish, policy)
        fresh = agent._replace(reset=f"{wish.name} cannot fork its session")
        return _open(fresh, "session/new", now, wish, policy)
    loads = lenient.flag(agent.capabilities, "loadSession")
    if opening.can(agent.capabilities, "resume") and not (wish.unloaded and loads):
        return _open(agent, "session/resume", now, wish, policy)
    if loads:
        return _open(agent, "session/load", now, wish, policy)
    fresh = agent._replace(reset=f"{wish.name} cannot load a session")
    return _open(fresh, "session/new", now, wish, policy)


def _open(agent: Agent, method: str, now: float, wish: Wish, policy: Policy) -> Step:
    servers = opening.taken(agent.capabilities, wish.mcp_servers)
    params: Json = {"cwd": wish.cwd, "mcpServers": servers}
    if wish.roots and opening.can(agent.capabilities, "additionalDirectories"):
        params["additionalDirectories"] = wish.roots
    if method != "session/new":
        params["sessionId"] = wish.stored
    if method == "session/fork" and wish.fork:
        params["_meta"] = {"rookery": {"before": wish.fork}}
    until = now + _patience(wish, policy)
    return agent._replace(phase="opening", method=method, until=until), [msg.Call(method, params)]


def _patience(wish: Wish, policy: Policy) -> float:
    return policy.cold_start_timeout if wish.cold else policy.start_timeout


def _limit(agent: Agent, wish: Wish, policy: Policy) -> str:
    """Return the timeout of the step, and the setting that raises it."""
    if agent.phase == "applying" or not wish.cold:
        return f"{policy.start_timeout:g} s; worker.start_timeout"
    return f"{policy.cold_start_timeout:g} s; worker.cold_start_timeout"


def _opened(agent: Agent, given: msg.Opened, now: float, wish: Wish, policy: Policy) -> Step:
    fresh = agent.method in ("session/new", "session/fork")
    if given.error is not None and agent.clearing is not None:
        reason = error_words(given.error)
        why = Append(clears.refused(agent.clearing, f"{wish.name} said: {reason}"))
        kept = agent._replace(phase="ready", until=None, session=agent.clearing.session)
        return kept._replace(clearing=None), [why, _ready(agent)]
    if given.error is not None:
        return _not_opened(agent, given.error, now, wish, policy)
    session = lenient.text(given.result, "sessionId") if fresh else (wish.stored or "")
    if not session:
        message = f"{agent.method} did not return a session id"
        return _refused(agent, {"message": message}, wish)
    offers = opening.offers_of(given.result, wish)
    if fresh and (lacking := opening.no_plan(offers, wish)) is not None:
        return _refused(agent, lacking, wish)
    update = _state(
        "ready",
        wish,
        sessionId=session,
        how=agent.method.removeprefix("session/"),
        info=agent.info,
        capabilities=agent.capabilities,
        **offers,
    )
    if agent.continues:
        update["continues"] = True
    if agent.steers:
        update["steers"] = True
    if agent.forks_at:
        update["forksAt"] = True
    if agent.method == "session/load":
        update["replayed"] = given.replayed
    clearing = agent.clearing
    reset = {"sessionUpdate": "_context", "state": "reset", "reason": agent.reset}
    before: list[Effect] = [Append(Draft(reset))] if agent.reset else []
    if clearing is not None:
        wish = wish._replace(chosen={**(wish.chosen or {}), **(clearing.current or {})})
        before = [Append(clears.cleared("new", clearing.cause, clearing.by, session), full=True)]
        before += _leave(agent, clearing.session)
    settings = opening.settings(session, offers, wish)
    past = failures.restored(agent.past)
    opened = agent._replace(session=session, settings=settings, reset="", past=past, clearing=None)
    opened = opened._replace(forgot=bool(agent.reset))
    late = given.cut or (agent.method == "session/load" and not given.replayed)
    if late and (wish.has_history or wish.unloaded) and not fresh:
        # Some replay a moment after the answer. No prompt is sent before that is over: until then
        # nothing that comes can be about a turn.
        by = now + policy.start_timeout
        opened = opened._replace(phase="settling", until=now + LATE_REPLAY, settled_by=by)
    applying, effects = (opened, []) if opened.phase == "settling" else _apply(opened, now, policy)
    texts = [opening.unoffered(offers, wish)]
    texts += opening.unavailable(offers, wish, fresh=fresh and clearing is None)
    amber = [Append(Draft(notice(text))) for text in texts if text]
    return applying, [*before, Append(Draft(update)), *amber, *effects]


def _settle(agent: Agent, given: msg.Replayed | msg.Tick, now: float, policy: Policy) -> Step:
    if isinstance(given, msg.Replayed):
        return agent._replace(until=min(now + REPLAY_GAP, agent.settled_by)), []
    over = agent.until is not None and now >= agent.until
    return _apply(agent, now, policy) if over else (agent, [])


def _leave(agent: Agent, session: str) -> list[Effect]:
    """Close a session where the agent can: some agents keep a whole process for each."""
    return [msg.Leave(session)] if opening.can(agent.capabilities, "close") else []


def _not_opened(agent: Agent, error: Json, now: float, wish: Wish, policy: Policy) -> Step:
    """Fall back when a session could not be opened: a refused resume is tried as a load, and a
    session that is gone is replaced by a fresh one. An error that may pass ends the start and keeps
    the stored session."""
    if agent.method == "session/new":
        return _refused(agent, error, wish)
    reason = error_words(error)
    if error.get("code") == logins.UNAUTHENTICATED:  # logging in helps: this counts for nothing
        return _refused(agent, error, wish)
    if agent.method == "session/resume" and lenient.flag(agent.capabilities, "loadSession"):
        return _open(agent, "session/load", now, wish, policy)
    if failures.is_gone(error) or agent.method == "session/fork":
        fresh = agent._replace(reset=f"{wish.name} could not restore its session: {reason}")
        return _open(fresh, "session/new", now, wish, policy)
    return _refused(_unrestored(agent, reason, wish), error, wish)


def _unrestored(agent: Agent, why: str, wish: Wish) -> Agent:
    """Count a stored session that could not be reached."""
    if agent.phase != "opening" or agent.method == "session/new":
        return agent
    return agent._replace(past=failures.failed_again(agent.past, wish.stored, why))


def _apply(agent: Agent, now: float, policy: Policy) -> Step:
    if not agent.settings:
        return agent._replace(phase="ready", until=None), [_ready(agent)]
    first = agent.settings[0]
    applying = agent._replace(phase="applying", until=now + policy.start_timeout)
    return applying, [msg.Call(first.method, first.params)]


def _applied(agent: Agent, given: msg.Applied, now: float, wish: Wish, policy: Policy) -> Step:
    setting = agent.settings[0]
    if (why := opening.plan_refused(setting, given, wish)) is not None:
        return _refused(agent, why, wish)
    update = opening.applied(setting, given, wish)
    rest, effects = _apply(agent._replace(settings=agent.settings[1:]), now, policy)
    return rest, [Append(Draft(update)), *effects]


def _refused(agent: Agent, error: Json, wish: Wish) -> Step:
    error = logins.with_logins(error, agent.logins)
    lost = AgentLost(f"{wish.name}: {error_words(error)}", error)
    return _failing(agent, error), [msg.End(), msg.Tell(lost)]


def _failing(agent: Agent, fault: Json) -> Agent:
    return Agent(phase="ending", born=agent.born, fault=fault, past=agent.past)


def _asked(agent: Agent) -> str:
    if agent.phase == "applying":
        return agent.settings[0].method
    return agent.method if agent.phase == "opening" else "initialize"


def _exited(agent: Agent, given: msg.Exited, now: float, wish: Wish, policy: Policy) -> Step:
    if agent.phase == "absent":
        return agent, []
    past, update = failures.gone(agent, given, now, wish, policy)
    agent = agent._replace(past=past)
    effects: list[Effect] = [Append(Draft(update))]
    if agent.heir is not None:
        return _succeeded(agent, effects)
    if agent.phase == "ending" and agent.wanted_again:
        again, more = _wanted(Agent(past=past), now, wish)
        return again, [*effects, *more]
    if agent.phase != "ending":
        last = next((line for line in reversed(given.stderr) if line.strip()), "")
        why = given.link or f"status {given.status}" + (f": {last}" if last else "")
        if (
            given.status not in failures.KILLED and not given.link
        ):  # which says nothing of the conversation
            agent = _unrestored(agent, why, wish)
        effects.append(msg.Tell(AgentLost(why)))
    return Agent(past=agent.past), effects


def _ready(agent: Agent) -> msg.Tell:
    return msg.Tell(AgentReady(agent.continues, agent.forgot))


def _state(state: str, wish: Wish, **fields: object) -> Json:
    guard = {"guard": wish.guard} if wish.guard else {}
    return {"sessionUpdate": "_agent", "state": state, "name": wish.name, **guard, **fields}
