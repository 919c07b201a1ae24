"""The life of the worker process from start to exit: from a directory on disk to a session that is
awake, and back."""

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress

from rookery.client import guard, leftovers
from rookery.client.config.in_force import InForce
from rookery.client.fleet import heads
from rookery.client.offline import loss
from rookery.client.start import connectable
from rookery.core import safety
from rookery.core.json import Draft
from rookery.core.limits import Policy
from rookery.core.turn.worker_idle import post_mortem
from rookery.home import config, paths, slots
from rookery.log.errors import Busy, LogError
from rookery.log.place import check_home
from rookery.log.store import Writer
from rookery.processes import MARK, strays
from rookery.worker.host import Host
from rookery.worker.process import cgroup, warden
from rookery.worker.settings_watch import Source

TRIES = 20
"""To take the lock, in one second."""


def main(home: str, session: str, ready: int, policy: Policy | None = None) -> int:
    """Run a session's worker; return the exit status. `policy`: overrides the configuration's."""
    directory = paths.session_dir(home, session)
    guard.judge_others()
    source = Source(home, policy)
    try:
        check_home(home)
        paths.check_format(home)
        paths.check_trust(home)
        settings = source.load()
        writer = _open(directory)
    except Busy as error:
        return _refuse(ready, "busy", str(error))
    except (LogError, config.ConfigError, paths.PathError) as error:
        return _refuse(ready, type(error).__name__, str(error))
    slot = None
    try:
        if fault := safety.fault(writer.header):
            return _refuse(ready, "unknown_safety", fault)
        slot = slots.for_worker(home, settings.config.policy)
        if slot is None:
            return _refuse(ready, "too_many", _too_many(home, session, settings.config.policy))
        _clean_up_after(directory, session, writer)
        asyncio.run(_awake(directory, writer, source, settings, ready))
    except slots.Unusable as error:
        return _refuse(ready, "slots", f"The worker found no free slot: {error}.")
    finally:
        if slot is not None:
            slot.release()  # before the lock: who sees that free finds a place
        writer.close()
    return 0


def _too_many(home: str, session: str, policy: Policy) -> str:
    """Return the message that names the idle sessions, which can be stopped without loss."""
    known = [head for head in heads(home) if head["awake"] and head["id"] != session]
    idle = [head["id"] for head in known if head["state"] == "idle" and not head["asks"]]
    most = f"{policy.max_workers} sessions are already awake (max_workers)."
    if not idle:
        return f"{most} None is idle: wait, or stop one (rookery stop ID)."
    return f"{most} Idle, and safe to stop: {', '.join(idle[-5:])} (rookery stop ID)."


def _open(directory: str) -> Writer:
    """Try the lock for a second, since a probe looks like a holder. But if a worker lives, do not
    wait: we would come awake without a client the moment it stops."""
    for _ in range(TRIES - 1):
        with suppress(Busy):
            return Writer.open(directory, wait=1 / TRIES)
        if connectable(paths.socket_path(directory)):
            break
    return Writer.open(directory, wait=1 / TRIES)


def _refuse(ready: int, name: str, message: str) -> int:
    _say(ready, {"error": name, "message": message})
    print(message, file=sys.stderr, flush=True)
    return 1


def _say(ready: int, line: dict[str, object]) -> None:
    """Write the one line that the starter waits for; it does not matter if that is gone."""
    try:
        os.write(ready, json.dumps(line).encode() + b"\n")
    except BrokenPipeError:
        pass
    finally:
        os.close(ready)


def _clean_up_after(directory: str, session: str, writer: Writer) -> None:
    """End what a predecessor left behind: its processes and its turn."""
    before, swept_drafts = paths.read_json(os.path.join(directory, paths.WORKER)), list[Draft]()
    if before is not None and not before.get("ended"):
        own = os.environ.get(MARK, "").rpartition(".")[2]
        home = os.path.dirname(os.path.dirname(directory))
        swept = strays.sweep(home, {session}, keep_nonce=own)
        swept_drafts = [leftovers.draft(*swept)] if swept.ended or swept.refused else []
    drafts = [*loss(directory, writer), *post_mortem(writer.header), *swept_drafts]
    if drafts:
        writer.append(drafts, full=True)


async def _awake(
    directory: str, writer: Writer, source: Source, settings: InForce, ready: int
) -> None:
    host = Host(directory, writer, source, settings)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, host.session.stop, "signal")
    # What was adopted has ended, perhaps.
    loop.add_signal_handler(signal.SIGCHLD, host.session.stirred.set)
    gone = warden.gone_fd()
    if gone >= 0:
        loop.add_reader(gone, host.session.stop, "warden_gone")
    try:
        path = await host.start()
    except (OSError, paths.PathError) as error:
        _refuse(ready, type(error).__name__, f"The worker cannot listen: {error}")
        return
    cgroup.wait()
    _say(ready, {"ready": path, "pid": os.getpid()})
    try:
        await host.run()
    finally:
        if gone >= 0:
            loop.remove_reader(gone)
