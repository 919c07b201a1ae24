"""Who may answer asks and change modes, rules and settings: the user, never an agent of this home.

A process belongs to an agent when it, or any of its ancestors, is one of these
(`docs/security.md`):

- recorded as an agent of the home (`processes.roots`);
- a worker, its warden, a warm process or `rookery agent` of the home, recognised by its command
  line, which no other process can change: so deleting the record does not help;
- in a control group that was made for an agent of the home, or marked in its environment: orphans
  whose agent, worker and warden are all dead.

A worker checks every client as soon as it connects, and a client checks itself before it writes."""

import os
import socket
from collections.abc import Sequence

from rookery.core.policy.modes import EVERY
from rookery.core.refusals import Fixed
from rookery.home import paths
from rookery.processes import ancestry, cgroups, roots
from rookery.processes.lineage import MARK, home_tag
from rookery.wire.credentials import Handle

WARM = ["-m", "rookery.agent.warm"]
FLAGS = ("--home", "--session", "--ready-fd")

_judges_others = False


class FromAgent(Fixed):
    """This process was started by an agent; the message says what it may therefore not do."""

    kind = "denied"
    reason = "from_the_agent"


def judge_others() -> None:
    """Declare this process a worker: it acts for clients, each of which it checks itself."""
    global _judges_others  # noqa: PLW0603 - what a process is, it is for good
    _judges_others = True


def of_an_agent(home: str) -> bool:
    """Tell whether this process descends from an agent of the home. False where the system does not
    tell (no /proc): the worker, which sees more, has the last word."""
    if _judges_others:
        return False
    if _names(os.environ.get(MARK, ""), home, home_tag(home)):
        return True
    try:
        return is_agents(os.getpid(), home)
    except (OSError, ancestry.Gone):
        return False


def require_person(home: str, what: str) -> None:
    """Refuse to go on in an agent's process. Raises FromAgent. `what` completes the sentence:
    "answer asks"."""
    if of_an_agent(home):
        raise FromAgent(
            f"An agent cannot {what}, and this command was started by one. "
            "Run it in a terminal of your own."
        )


def allowed_mode(home: str, confirm: str) -> str:
    """Return how much a new session asks: as requested, but every action if an agent creates it.
    Raises FromAgent if an agent requests less."""
    if not of_an_agent(home):
        return confirm
    if confirm not in ("", EVERY):
        raise FromAgent(
            "A session created by an agent asks always. To ask less, set it "
            "in a terminal of your own."
        )
    return EVERY


def peer_is_agents(connection: socket.socket, home: str) -> bool:
    """Tell whether an agent's process is at the other end. A process that is gone counts as an
    agent's: it connected in order not to be checked. So does one that the kernel does not name."""
    with Handle(connection) as peer:
        try:
            is_agent = not peer.is_there() or is_agents(peer.pid, home)
        except (OSError, ancestry.Gone):
            return True
        return is_agent or not peer.is_there()  # its parents were read while it lived


def is_agents(pid: int, home: str) -> bool:
    """Tell whether a process descends from an agent of the home. Raises Gone, and OSError if the
    system tells nothing about processes."""
    try:
        line = list(ancestry.line_of(pid))
    except ancestry.TooDeep:
        return True
    for process in line:
        if roots.is_one(home, process.pid, process.start):
            return True
        if _is_ours(process.pid, ancestry.command_line(process.pid), home):
            return True
    tag = home_tag(home)
    if tag and cgroups.holds(pid, tag):
        return True
    environments = (ancestry.environment(process.pid) or {} for process in line)
    return any(_names(each.get(MARK, ""), home, tag) for each in environments)


def _is_ours(pid: int, argv: Sequence[str], home: str) -> bool:
    if len(argv) >= 6 and tuple(argv[-6::2]) == FLAGS:
        return _same(argv[-5], home)
    if WARM[1] in argv and argv[argv.index(WARM[1]) - 1] == WARM[0]:
        return _serves(pid, home)
    return _is_own_agent(argv) and _serves(pid, home)


def _is_own_agent(argv: Sequence[str]) -> bool:
    """`python … -m rookery agent …` or `python …/rookery agent …`."""
    if "python" not in os.path.basename(argv[0] if argv else "").lower():
        return False
    for place, word in enumerate(argv[1:-1], 1):
        if word == "rookery" and argv[place - 1] == "-m":
            return argv[place + 1] == "agent"
        if os.path.basename(word) == "rookery" and not word.startswith("-"):
            return argv[place + 1] == "agent"
        if not word.startswith("-"):
            return False
    return False


def _serves(pid: int, home: str) -> bool:
    """Whether a process belongs to this home. True if that is unknown."""
    own = ancestry.home_of(pid)
    return own is None or _same(own, home)


def _same(one: str, other: str) -> bool:
    """Whether two paths are the same home. A home that is gone may have been moved away to look
    like another: it counts as this one."""
    try:
        return one == other or os.path.samefile(one, other)
    except OSError:
        return True


def _names(mark: str, home: str, tag: str) -> bool:
    """Whether the mark is that of a session of this home, or of the home itself."""
    session = mark.rpartition(".")[0]
    if not session:
        return False
    return session == tag or (
        paths.is_id(session) and os.path.isdir(paths.session_dir(home, session))
    )
