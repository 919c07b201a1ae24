"""Creating a session: its directory, its first event, and the environment that its agent
will get."""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import MappingProxyType

from rookery.agents import registry
from rookery.client import environment as client_environment
from rookery.client import guard, worktrees
from rookery.client.config import in_force
from rookery.client.daemon.origin import by
from rookery.core.agent.addresses import address_of
from rookery.core.critic.state import CHOICES
from rookery.core.header import Header
from rookery.core.json import Draft, Json, dumps, notice
from rookery.core.policy import approvals
from rookery.core.policy.approvals import EVERY
from rookery.core.policy.unattended import Order
from rookery.core.settings.agent_tables import Extras
from rookery.core.settings.sandbox import CONTAINER, NONE
from rookery.core.view.fleet import head_of
from rookery.home import config, last_choices, paths
from rookery.log.errors import Busy, LogError
from rookery.log.lock import LOCK_FILE, Lock
from rookery.log.place import check_home
from rookery.log.reader import Reader
from rookery.log.store import Writer

MAKING = "making"
"""The file that is locked in a session's directory until it is complete."""
FORGOTTEN = 3600.0
"""Seconds after which a session that was not finished counts as abandoned."""
ENDING = 2.0
"""Seconds in which a worker that did not start has gone."""


def create_session(  # noqa: PLR0913 - a session is made of all of these
    home: str,
    *,
    agent: str,
    argv: Sequence[str],
    cwd: str,
    roots: Sequence[str] = (),
    mcp_servers: Sequence[Json] = (),
    title: str = "",
    confirm: str = "",
    order: Order | None = None,
    environment: Mapping[str, str] = os.environ,
    session: str = "",
    sandbox: str = "",
    budget: Mapping[str, str] = MappingProxyType({}),
    worktree: str | None = None,
    base: str = "",
    race: str = "",
    picks: Mapping[str, str] = MappingProxyType({}),
    report: Callable[[str], object] = lambda _: None,
    history: Sequence[Draft] = (),
    **chosen: bool | None,
) -> str:
    """Create a session and return its id. Nothing is started: the first prompt does that.

    `session`: its id; what an earlier attempt left under it is removed. `confirm`, `sandbox`: by
    default, as configured. `order`: what answers for the user. `budget`: by scope. `worktree`: the
    name of its own branch, "" for the session's id, from `base` or the last commit. `chosen`:
    critic, refine. `picks`: mode, model, effort. `history`: its first events."""
    paths.ensure_home(home)
    check_home(home)
    confirm, picks = _meant(confirm, picks)
    confirm = guard.allowed_mode(home, order.update()["confirm"] if order else confirm)
    _check_person(home, {"budget": budget, "mode": picks.get("mode")})
    sweep(home)
    with ExitStack() as undo:
        session, directory = undo.enter_context(begun(home, session))
        client_environment.keep(directory, environment, own=_is_own(agent, argv))
        cwd, tree = undo.enter_context(own_worktree(home, session, cwd, worktree, report, base))
        update: Json = {
            "sessionUpdate": "_session",
            "id": session,
            "cwd": os.path.abspath(cwd),
            "roots": [os.path.abspath(root) for root in roots],
            "mcpServers": list(mcp_servers),
            "agent": agent,
            "argv": list(argv),
            "created": time.time_ns() // 1_000_000,
        }
        _keep_hooks(home, directory, cwd)
        optional: Json = {"title": title.strip() and title, "race": race, "budget": dict(budget)}
        optional |= tree | _in_sandbox(sandbox or default_sandbox(in_force.load(home), agent, argv))
        update |= {key: value for key, value in {**optional, **picks}.items() if value}
        update |= {key: chosen[key] for key in CHOICES if chosen.get(key) is not None}
        _write(directory, [*_first_events(home, update, confirm, order), *history])
        complete(home, session, directory)
    return session


def _meant(confirm: str, picks: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """Resolve an approval given in words to its id; to plan is a mode of the agent's instead."""
    value = approvals.id_of(confirm) or confirm
    return ("", {**picks, "mode": value}) if value == approvals.PLAN else (value, picks)


def _is_own(agent: str, argv: Sequence[str]) -> bool:
    return agent == registry.OWN and (not argv or registry.is_own(argv))


def _keep_hooks(home: str, directory: str, cwd: str) -> None:
    """Keep the hooks that a commit runs: they are the user's own, unless an agent makes the
    session."""
    if not guard.of_an_agent(home):
        from rookery.client.work_tree import hooks  # seldom: it needs git

        hooks.keep(directory, cwd)


def _check_person(home: str, given: Mapping[str, object]) -> None:
    """Raises FromAgent: an agent may not give what it starts more than it has itself."""
    for what, value in given.items():
        if value:
            guard.require_person(home, f"choose a {what}")


@contextmanager
def begun(home: str, session: str) -> Iterator[tuple[str, str]]:
    """Yield the id and directory of a new session. The directory has another name until `complete`
    is called, so that no reader meets half a session or what a full disk left. It is locked
    meanwhile, and removed on failure."""
    session, directory = _begin(home, session)
    try:
        making = os.path.join(directory, MAKING)
        file = os.open(f"{making}.tmp", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            os.rename(f"{making}.tmp", making)  # locked before anybody can find it
            yield session, directory
        finally:
            os.close(file)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def complete(home: str, session: str, directory: str) -> None:
    os.unlink(os.path.join(directory, MAKING))
    os.rename(directory, paths.session_dir(home, session))


def _begin(home: str, session: str) -> tuple[str, str]:
    place = os.path.join(paths.sessions(home), paths.UNFINISHED)
    if session:
        shutil.rmtree(place + session, ignore_errors=True)
    session = paths.claim_session(home, paths.UNFINISHED, session)
    return session, place + session


def _write(directory: str, drafts: list[Draft]) -> None:
    with Writer.open(directory, create=True) as writer:
        events = writer.append(drafts, full=True)
        write_head(directory, writer.header, events[-1].seq, events[-1].at)


@contextmanager
def own_worktree(
    home: str,
    session: str,
    cwd: str,
    name: str | None,
    report: Callable[[str], object],
    base: str = "",
) -> Iterator[tuple[str, Json]]:
    """Yield the directory to work in, and the header's fields about the worktree if it gets one."""
    if name is None:
        yield cwd, {}
        return

    worktrees.upkeep.mend(home)
    settings = in_force.load(home)
    with worktrees.create.making(home, session, cwd, name, settings, report, base) as (place, made):
        yield place, {"worktree": made}


def discard_unbegun(home: str, session: str) -> None:
    """Remove a session that was just made for a prompt but has no prompt in it: otherwise a failed
    start would leave an empty session in every list."""
    directory = paths.session_dir(home, session)
    try:
        lock = Lock.acquire(os.path.join(directory, LOCK_FILE), ENDING)
    except Busy:
        return  # a worker has it, and may have the prompt
    try:
        with suppress(LogError, OSError), Reader.open(directory) as log:
            if not log.of_kinds("_prompt", "_queue"):
                worktrees.drop.drop_recorded(home, session)
                shutil.rmtree(directory)
    finally:
        lock.release()


def _first_events(home: str, update: Json, confirm: str, order: Order | None) -> list[Draft]:
    if order is not None or confirm:
        chosen = order.update() if order else {"confirm": confirm}
        return [Draft(update | chosen, by=by())]
    update = update | default_confirm(home)
    held = last_choices.drop(home)
    notices = [Draft(notice(last_choices.dropped(held, update["confirm"])))] if held else []
    return [Draft(update, by=by()), *notices]


def sweep(home: str) -> None:
    """Remove sessions whose creation was killed midway. A process still at work holds a lock; for
    those of an earlier build, only their age tells."""
    place = paths.sessions(home)
    for name in os.listdir(place):
        if name.startswith(paths.UNFINISHED):
            left = os.path.join(place, name)
            with suppress(OSError):
                if _is_left(left):
                    shutil.rmtree(left)


def _is_left(directory: str) -> bool:
    try:
        file = os.open(os.path.join(directory, MAKING), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return abs(time.time() - os.stat(directory).st_mtime) > FORGOTTEN
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(file)
    return True


def default_confirm(home: str) -> Json:
    """Return how much is asked in a new session that does not specify it, and who decided."""
    # A file that cannot be used loosens nothing.
    settings = config.load_or_defaults(home, in_force.load)
    by = (
        "approve_all"
        if settings.approve_all
        else "default"
        if settings.confirm == EVERY
        else "config"
    )
    return {"confirm": settings.confirm, "confirmBy": by}


def _in_sandbox(kind: str) -> Json:
    return {} if kind == NONE else {"sandbox": kind}


def default_sandbox(settings: config.Config, agent: str, argv: Sequence[str]) -> str:
    """Return what a new session runs in if it does not specify it."""
    args = argv or settings.agents.get(agent, ())
    if address_of(args):
        return NONE  # it runs on another machine
    if registry.image_of(args) is not None:
        return CONTAINER
    return settings.extras.get(agent, Extras()).sandbox or settings.sandbox.kind


def write_head(directory: str, header: Header, seq: int, at: int) -> Json:
    """Bring head.json up to date, as the worker does when it is awake."""
    head = head_of(header, seq, at)
    paths.write_atomic(os.path.join(directory, paths.HEAD), dumps(head).encode("ascii"))
    return head
