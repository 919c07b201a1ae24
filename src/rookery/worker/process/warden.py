"""The worker's parent, which ends every descendant when the worker dies, so that nothing is left.

    starter ── spawns ──► (exits at once) ──► warden ──► worker ──► agent ──► whatever it starts

It is forked before anything is imported and stays small. The rules it keeps:

- Worker dead, however it died: every descendant is ended (TERM, 2 s, KILL). Warden and worker
  are both child subreapers (Linux), so an orphan is reparented to the worker, and with the
  worker's death to the warden: neither a double fork, a session of its own nor a cleared
  environment lets it escape.
- Warden dead: the worker learns it twice, by SIGTERM and by the end of a pipe (`gone_fd`), and
  ends its tree before it exits; being a subreaper it still holds every orphan.
- Both killed in the same instant: what they started is found by the mark in its environment, by
  the session's next worker (`strays.sweep`). Best effort.

macOS has no subreaper and no death signal: the pipe remains, and the sweep by mark. Best effort."""

import gc
import os
import signal
import time

from rookery.home import paths
from rookery.processes import LINUX, MARK, become_subreaper, die_with_parent, home_tag

TYPE_CHECKING = False  # `typing` and `collections` would cost the warden 1 MB
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

GRACE = 2.0  # seconds between TERM and KILL
AGAIN = 0.05  # seconds until KILL is sent again, to what was forked meanwhile
SLOWEST = 1.0  # the longest pause between two such looks

_gone = -1


def gone_fd() -> int:
    """Return a descriptor that becomes readable when the warden is gone; -1 outside a worker."""
    return _gone


def main(argv: "Sequence[str]", host: "Callable[[str, str, int], int]") -> int:
    """Return the exit status, in the warden and in the worker: each of them returns from here once.

    `host(home, session, ready)` is what the worker runs. It is called after the fork, and does its
    imports then."""
    options = dict(zip(argv[::2], argv[1::2], strict=False))
    if len(argv) != 6 or options.keys() != {"--home", "--session", "--ready-fd"}:
        os.write(2, b"usage: python -m rookery.worker --home DIR --session ID --ready-fd N\n")
        return 2
    home, session, ready = options["--home"], options["--session"], int(options["--ready-fd"])

    def work() -> int:
        return host(home, session, ready)

    detach(os.path.join(paths.session_dir(home, session), paths.WORKER_LOG), keep=ready)
    warden = os.getpid()
    status = run(work, session, ready)
    if os.getpid() == warden:
        from rookery.processes import cgroups, roots

        if not LINUX:
            from rookery.processes import strays

            strays.end(home, os.environ[MARK])
        # Its own, and those of workers that were killed.
        cgroups.sweep(home_tag(home))
        roots.clean(home)
    return status


def detach(log: str, keep: int) -> None:
    """Leave the starter: no child of its, no terminal, none of its files but `keep`, cwd `/`."""
    if os.fork():
        os._exit(0)
    os.setsid()
    os.chdir("/")
    os.umask(0o077)
    null = os.open(os.devnull, os.O_RDWR)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for target, source in enumerate((null, output, output)):
        os.dup2(source, target)
    # What a careless starter leaked would keep its pipes open for as long as the session is awake.
    for file in map(int, os.listdir("/dev/fd")):
        if file > 2 and file != keep:
            os.closerange(file, file + 1)  # forgives, unlike close: the listing's own is gone
    # A starter run by nohup or with `&` hands down ignored signals: the agent must not get them.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def run(work: "Callable[[], int]", session: str, ready: int = -1) -> int:
    """Fork the worker, which does `work`, and watch over it; return a status in both of them."""
    global _gone  # noqa: PLW0603 - one process has one warden
    # Set by the parent, so that it knows which mark to sweep for where there is no subreaper.
    os.environ[MARK] = f"{session}.{os.urandom(4).hex()}"
    become_subreaper()
    gone, held = os.pipe()
    warden = os.getpid()
    gc.freeze()  # the worker's collector then leaves the shared pages alone
    worker = os.fork()
    if worker:
        os.close(gone)  # `held` stays open until this process ends: that is the message
        if ready >= 0:
            os.close(ready)  # so that the starter hears the end of it when the worker dies
        return _watch(worker, session)
    os.close(held)
    _gone = gone
    os.setpgid(0, 0)  # a signal to the worker's group leaves the warden to clean up
    become_subreaper()
    die_with_parent(warden, signal.SIGTERM)
    try:
        return work()
    finally:
        if os.getppid() != warden:
            end_descendants()


def _watch(worker: int, session: str) -> int:
    """Reap everything until the worker has ended, then end what it left; return its status."""

    def forward(_number: int, _frame: "FrameType | None") -> None:
        os.kill(worker, signal.SIGTERM)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, forward)
    ended, status = 0, 0
    while ended != worker:
        ended, status = os.waitpid(-1, 0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    code = os.waitstatus_to_exitcode(status)
    if code:
        how = f"ended with status {code}" if code > 0 else f"was killed by signal {-code}"
        _say(f"worker {worker} of session {session} {how}")
    end_descendants()
    return code if code >= 0 else 128 - code


def end_descendants() -> None:
    """Send TERM, then KILL repeatedly until no child is left: orphans become children of ours.

    Nothing is done in a signal handler: with thousands of processes on the machine, one scan takes
    longer than the pause between two. Each pause is longer than the one before."""
    if not _reap():
        return  # the usual case: an orderly end leaves nobody
    from rookery.processes import tree as processes

    processes.terminate(processes.descendants(os.getpid()))
    deadline, pause = time.monotonic() + GRACE, AGAIN
    while _reap():
        if time.monotonic() < deadline:
            time.sleep(AGAIN)
            continue
        left = processes.descendants(os.getpid())
        refused = processes.kill(left)
        if left and len(refused) == len(left):
            names = ", ".join(str(process.pid) for process in refused)
            _say(f"may not end {names}: of another user; left alone")
            os._exit(1)
        time.sleep(pause)
        pause = min(2 * pause, SLOWEST)


def _reap() -> bool:
    """Reap all children that have ended; return whether any is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _say(line: str) -> None:
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    os.write(2, f"{stamp} warden: {line}\n".encode())
