"""Keeps the SDK loaded and forks an agent for every door that connects.

A child may inherit only memory: before each fork this process has one thread, no running loop and
no foreign descriptors (`unfit`), else the door starts cold. Where fork without exec is not safe
(macOS), it is a spare: it starts the next spare, then serves one door itself."""

import fcntl
import gc
import os
import select
import shutil
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, NoReturn

from rookery.agent.warm import child
from rookery.build import build, installed
from rookery.client import warm_agent
from rookery.home import mcp, paths
from rookery.processes import become_subreaper, cgroups, home_tag, landlock, roots, tree
from rookery.wire.credentials import listening_at

FORKS = sys.platform != "darwin"
IDLE = 30 * 60.0
"""Seconds without doors and agents after which it ends."""
LOOK = 60.0
GRACE = 5.0
"""Seconds that an agent may outlive its door."""
BACKLOG = 64
ENDING = (signal.SIGTERM,)
LOG_LIMIT = 1024 * 1024
TRIES = 5


def keep(pause: Callable[[], None], *, forks: bool) -> int:
    """Serve until idle. `pause` is called once the lock is held, before anything is loaded."""
    home = paths.ensure_home(paths.home())
    warm_agent.keep_to_this()
    path = warm_agent.socket_path(home)
    paths.make_socket_dir(path)
    lock = _lock(path)
    if lock is None:
        return 0  # another one is running or starting
    _cap_log(path)
    become_subreaper()  # an ended agent's orphans fall to us
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # until it is known what is to be taken away
    roots.record(home, os.getpid(), tree.start_time(os.getpid()))
    group = cgroups.enter(home_tag(home), f"warm.{os.getpid()}")

    def give_up(_number: int, _frame: object) -> NoReturn:
        """End at once: while modules load, an exception might be swallowed."""
        tree.end_below(os.getpid())
        _leave(home, path, group)
        os._exit(0)

    signal.signal(signal.SIGTERM, give_up)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    try:
        landlock.abi()  # loaded here for the children
        pause()
        from rookery.agent.warm import heat

        heat.up(f"{path}.heat", mcp=_has_servers(home))
        with listening_at(path, BACKLOG) as listener:
            gc.collect()
            gc.freeze()
            # A collection would only unshare pages.
            gc.disable()
            if warm_agent.are_replaced():  # what is loaded may be a mix
                return 0
            if forks:
                return Warm(listener, path, lock, home).serve()
            return _serve_as_spare(listener, lock, home)
    finally:
        _leave(home, path, group)


def _has_servers(home: str) -> bool:
    """Tell whether sessions will need MCP's libraries. A broken mcp.json is left to them."""
    with suppress(mcp.McpError):
        return any(server.enabled for server in mcp.load(home))
    return False


def _leave(home: str, path: str, group: str) -> None:
    roots.forget(home, os.getpid(), tree.start_time(os.getpid()))
    shutil.rmtree(f"{path}.heat", ignore_errors=True)
    with suppress(FileNotFoundError):
        os.unlink(path)
    cgroups.leave(group)


def _lock(path: str) -> int | None:
    file = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    for _ in range(TRIES):  # a door that looks whether it is held holds it for an instant
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            time.sleep(0.01)
    else:
        os.close(file)
        return None
    os.truncate(file, 0)
    os.write(file, b"%d\n" % os.getpid())  # for the user; the lock itself decides
    return file


def _cap_log(path: str) -> None:
    log = f"{path}.log"
    with suppress(FileNotFoundError):
        if os.path.getsize(log) > LOG_LIMIT:
            os.truncate(log, 0)


class Agent(NamedTuple):
    door: socket.socket
    start: str | None


class Warm:
    def __init__(self, listener: socket.socket, path: str, lock: int, home: str) -> None:
        self._listener = listener
        self._path = path
        self._home = home
        self._since = time.monotonic()
        self._lock = lock
        self._agents: dict[int, Agent] = {}
        """By pid."""
        self._alone: dict[int, float] = {}
        """Agents without a door, and when they must have ended: a stopped one does not notice."""
        self._poll = select.poll()
        self._woken, waker = os.pipe()
        for end in (self._woken, waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.signal(signal.SIGTERM, self._end)
        self._waker = waker
        self._ending = False

    def serve(self) -> int:
        self._poll.register(self._listener, select.POLLIN)
        self._poll.register(self._woken, select.POLLIN)
        while not self._ending:
            due = min((LOOK, *(at - time.monotonic() for at in self._alone.values())))
            ready = {number for number, _ in self._poll.poll(max(0.0, due) * 1000)}
            if ready or self._agents:
                self._since = time.monotonic()
            if time.monotonic() > self._since + IDLE or not os.path.exists(self._path):
                return 0  # unused, or its socket is gone
            if not self._agents and not ready and is_replaced():
                return 0
            if self._woken in ready:
                with suppress(BlockingIOError):
                    os.read(self._woken, 4096)
            self._reap()
            self._miss_doors(ready)
            if self._listener.fileno() in ready:
                self._admit()
        return 0

    def _end(self, _number: int, _frame: object) -> None:
        """Stop serving. The agents live on: each has a connection to its door."""
        self._ending = True

    def _reap(self) -> None:
        """Reap agents, and the orphans of those that ended."""
        ended = False
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    break
                agent = self._agents.pop(pid, None)
                if agent is not None:
                    if self._alone.pop(pid, None) is None:
                        with suppress(KeyError):
                            self._poll.unregister(agent.door)
                    roots.forget(self._home, pid, agent.start)
                    child.tell_status(agent.door, os.waitstatus_to_exitcode(status))
                    agent.door.close()
                    ended = True
        if ended:
            self._end_orphans()

    def _end_orphans(self) -> None:
        """End orphans like `tree.end_below`, except the agents. A walk misses processes that lose
        their parent meanwhile; they become our children then."""
        nothing = 0
        for _ in range(tree.PASSES):
            below = tree.children(os.getpid())
            left = [row for row in below if not row.dead and row.pid not in self._agents]
            nothing = 0 if left else nothing + 1
            if nothing == 2:
                return
            tree.kill([*(row for one in left for row in tree.descendants(one.pid)), *left])
            tree.wait_gone(left, tree.SETTLE)

    def _miss_doors(self, ready: set[int]) -> None:
        """End agents whose door is gone, if they do not end by themselves."""
        now = time.monotonic()
        for pid, agent in self._agents.items():
            if agent.door.fileno() in ready:
                self._poll.unregister(agent.door)
                self._alone[pid] = now + GRACE
        for pid in [pid for pid, at in self._alone.items() if at <= now]:
            del self._alone[pid]
            agent = self._agents[pid]
            root = [tree.Process(pid, agent.start)] if agent.start else []
            tree.kill([*tree.descendants(pid), *root])  # the rest falls to us, and ends then

    def _admit(self) -> None:
        admitted = child.admit(self._listener)
        if admitted is None:
            return
        connection, offer = admitted
        if wrong := self.unfit(connection, offer):
            sys.stderr.write(f"not forked: {wrong}\n")
            offer.close()
            connection.close()
            return
        pid = os.fork()
        if not pid:
            self._leave_parent()
            child.become(connection, offer, child.read_wish(connection, offer))
        offer.close()
        start = tree.start_time(pid)
        roots.record(self._home, pid, start, offer.mark)
        self._agents[pid] = Agent(connection, start)
        self._poll.register(connection, 0)  # its end is reported anyway

    def _leave_parent(self) -> None:
        """Close the parent's descriptors and reset its handlers, in the child."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._listener.close()
        for agent in self._agents.values():
            agent.door.close()
        for number in (self._lock, self._woken, self._waker):
            os.close(number)

    def unfit(self, connection: socket.socket, offer: child.Offer) -> str:
        """Return why no child may be forked now; "" if one may."""
        threads = [thread.name for thread in threading.enumerate()]
        if len(threads) != 1:
            return f"more than one thread: {', '.join(threads)}"
        if _native_threads() > 1:
            return "a native thread"
        known = {0, 1, 2, self._lock, self._woken, self._waker, self._listener.fileno()}
        known |= {connection.fileno(), *offer.descriptors}
        known |= {agent.door.fileno() for agent in self._agents.values()}
        strange = [number for number in _descriptors() if number not in known]
        return f"open descriptors: {strange}" if strange else ""


def is_replaced() -> bool:
    """Tell whether another build was installed since: its doors do not fit this process."""
    return installed() != build()


def _native_threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 1  # Linux only


def _descriptors() -> list[int]:
    """Return open sockets and files; sharing devices and anonymous pipes does no harm."""
    descriptors = []
    for name in os.listdir("/dev/fd"):
        with suppress(OSError):
            mode = os.fstat(int(name)).st_mode
            if stat.S_ISSOCK(mode) or stat.S_ISREG(mode):
                descriptors.append(int(name))
    return descriptors


def _serve_as_spare(listener: socket.socket, lock: int, home: str) -> int:
    until = time.monotonic() + IDLE
    while True:
        if not select.select([listener], [], [], LOOK)[0]:
            if time.monotonic() > until or is_replaced():
                return 0
            continue
        admitted = child.admit(listener)
        if admitted is None:
            continue
        wish = child.read_wish(*admitted)
        if wish is None:
            admitted[1].close()
            admitted[0].close()
            continue
        # The next one takes the lock and the name.
        os.unlink(warm_agent.socket_path(home))
        listener.close()
        os.close(lock)
        warm_agent.start(home)
        child.become(*admitted, wish)
