"""The parent of an agent that an editor started without a warm process: like a worker's warden it
ends all processes that the agent started, once the agent is gone. If the keeper itself is killed,
the agent ends what it started, and then itself."""

import os
import signal
import threading
from contextlib import suppress

from rookery.agent.process import shutdown
from rookery.processes import MARK, become_subreaper, die_with_parent, home_tag, roots, tree

PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

ORPHANED = 70
"""The exit status of an agent whose keeper was killed."""

_gone = -1
"""In the agent: its end is the keeper's."""


def mark(home: str) -> str:
    """Return the mark of what such an agent starts: by its home, since there is no session."""
    return f"{home_tag(home) or 'agent'}.{os.urandom(4).hex()}"


def fork(home: str) -> int | None:
    """Fork: None in the agent; in its keeper the agent's exit status, once it has ended."""
    global _gone  # noqa: PLW0603 - one agent has one keeper
    keeper = os.getpid()
    os.environ[MARK] = mark(home)
    become_subreaper()
    gone, held = os.pipe()
    agent = os.fork()
    if not agent:
        os.close(held)
        _gone = gone
        become_subreaper()
        die_with_parent(keeper, signal.SIGCONT)  # a stopped agent would not notice
        return None
    os.close(gone)  # `held` stays open until this process ends
    start = tree.start_time(agent)
    roots.record(home, agent, start)
    for number in PASSED_ON:
        signal.signal(number, lambda number, _: _pass_on(agent, number))
    # Our copies of the pipes would keep them open after the agent closed its ends.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    ended, status = 0, 0
    while ended != agent:
        ended, status = os.waitpid(-1, 0)
    roots.forget(home, agent, start)
    tree.end_below(os.getpid())
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def watch() -> None:
    """Watch the keeper, once the agent is confined: an earlier thread would not be."""
    threading.Thread(target=_end_with_keeper, name="keeper", daemon=True).start()


def _end_with_keeper() -> None:
    os.read(_gone, 1)
    shutdown.begin()
    tree.end_below(os.getpid())
    os._exit(ORPHANED)


def _pass_on(agent: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(agent, number)
