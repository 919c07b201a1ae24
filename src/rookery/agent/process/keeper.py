"""The parent of an agent that an editor started without a warm process: like a worker's warden it
ends whatever the agent started, when the agent is gone."""

import os
import signal
from contextlib import suppress

from rookery.processes import MARK, become_subreaper, die_with_parent, home_tag, roots, tree

PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def mark(home: str) -> str:
    """The mark of what such an agent starts: by its home, since there is no session."""
    return f"{home_tag(home) or 'agent'}.{os.urandom(4).hex()}"


def fork(home: str) -> int | None:
    """In the agent: None. In its keeper: the agent's exit status, once it has ended."""
    keeper = os.getpid()
    os.environ[MARK] = mark(home)
    become_subreaper()
    agent = os.fork()
    if not agent:
        become_subreaper()
        die_with_parent(keeper)
        return None
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


def _pass_on(agent: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(agent, number)
