"""The life of the daemon process: take the home's lock, listen, look after the sessions, stop."""

import asyncio
import json
import os
import sys
import time
from functools import partial

from rookery.client import guard
from rookery.client.config import in_force
from rookery.client.daemon.local import LOG
from rookery.core.json import Json
from rookery.daemon.access.devices import Devices
from rookery.daemon.access.guesses import Guesses
from rookery.daemon.access.peers import check_users_known
from rookery.daemon.app import build_app
from rookery.daemon.fleet import Fleet
from rookery.daemon.hub import Hub
from rookery.daemon.idempotency import Results
from rookery.daemon.notify.notifier import Notifier
from rookery.daemon.notify.subscriptions import Subscriptions
from rookery.daemon.options import Options
from rookery.daemon.pieces.regions import regions
from rookery.daemon.process import record, startup_messages
from rookery.daemon.process.server import Server, Sockets
from rookery.daemon.state import State
from rookery.daemon.tail import live_of
from rookery.daemon.trouble import Trouble
from rookery.daemon.upkeep import EACH, Upkeep
from rookery.home import worker_starts
from rookery.home.config import ConfigError
from rookery.home.log_rotation import turn_over
from rookery.log.lock import Lock

DEVICES = 30.0
"""Seconds between two looks at what devices have open."""


async def serve(home: str, options: Options, *, background: bool, say: Json) -> None:
    """Serve the home until told to stop. Raises Refused."""
    guard.judge_others()
    check_users_known(options)
    with record.only_one(home) as lock:
        sockets = Sockets(home, options)
        options = options._replace(port=sockets.port)
        worker_starts.forget_all(home)  # workers that died too often get another chance
        fleet = Fleet(home)
        read_only = options.read_only
        shown = partial(regions, read_only=read_only)
        hub = Hub(home, fleet, partial(live_of, read_only=read_only, regions=shown))
        now, devices = time.time_ns() // 1_000_000, Devices(home)
        devices.idle_days = _idle_days(home, devices.idle_days)
        state = State(home, options, devices, Guesses(), fleet, hub, now, Results(home))
        app = build_app(state, sockets.control)
        server = Server(app, home, options, sockets)
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(server.run_until_stopped(), name="server")
            await server.listening.wait()
            written = record.write(
                home, options, sockets.path, sockets.control, background=background
            )
            _announce(state, written, say, background=background)
            notifier = Notifier(home, Subscriptions(home), state.devices, starts=not read_only)
            upkeep = Upkeep(home, fleet, notifier, read_only=read_only)
            watching = group.create_task(hub.watch_fleet(), name="fleet")
            keeping = group.create_task(upkeep.run(), name="upkeep")
            own = group.create_task(_keep_files(home, written, lock), name="files")
            looking = group.create_task(_look_after(home, devices), name="devices")
            await server.wait_until_stopping()
            watching.cancel()
            keeping.cancel()
            own.cancel()
            looking.cancel()
            await hub.close()
            await serving


async def _look_after(home: str, devices: Devices) -> None:
    """Periodically, for ever, end what devices have open but may not have open any more."""
    trouble = Trouble("devices")
    while True:
        await asyncio.sleep(DEVICES)
        with trouble.survived():
            devices.idle_days = await asyncio.to_thread(_idle_days, home, devices.idle_days)
            devices.look_after()


def _idle_days(home: str, before: int) -> int:
    try:
        return in_force.load(home).devices.idle_days
    except ConfigError:
        return before


async def _keep_files(home: str, written: Json, lock: Lock) -> None:
    """Periodically, for ever, rotate the log and restore the record if it is wrong."""
    trouble = Trouble("the daemon's own files")
    while True:
        await asyncio.sleep(EACH)
        with trouble.survived():
            await asyncio.to_thread(turn_over, os.path.join(home, LOG))
            await asyncio.to_thread(record.keep, home, written, lock)


def _announce(state: State, written: Json, say: Json, *, background: bool) -> None:
    if background:
        print(json.dumps({"ready": written}), flush=True)
        sys.stdout.close()
        return
    report = partial(print, flush=True)
    address = startup_messages.announce(state.home, state.options, state.login_link, report)
    report("Ctrl-C stops it; sessions keep running.")
    shown = {"qr": bool(say.get("qr")), "browser": bool(say.get("open"))}
    startup_messages.show(state.options, address, report, **shown)
