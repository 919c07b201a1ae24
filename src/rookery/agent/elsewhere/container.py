"""One container with an agent server in it, from its start to its end (decision 65).

The server listens on a socket in a folder that both sides see, so that it needs no network; a port
of this machine's loopback interface leads there. Models on this machine are reached in the same way
from inside. The container's life is that of any sandbox's (decision 51).
"""

import asyncio
import os
import secrets
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from rookery.agent.elsewhere import image
from rookery.agent.provider.told import Told
from rookery.core.settings.sandbox import Sandbox
from rookery.models.secrets import KNOWN, Secret
from rookery.sandbox import forward, relay
from rookery.sandbox.container import Container
from rookery.sandbox.plan import Bind, Place, Spawn

CALLED = "The agent server's container"
STARTING = 180.0
"""Seconds until its server answers: it takes three, or twenty on a busy machine."""
LOOK = 0.1
ENDING = 15.0
"""Seconds for the keeper to end it."""
SAID = 5
"""Lines of what it said last that are repeated in an error."""

INSIDE = "/rookery"
DOOR, KEPT, FORWARD = f"{INSIDE}/door", f"{INSIDE}/conversations", f"{INSIDE}/forward.py"
SOCKET = "server.s"
SERVE = f"""
import uvicorn
from openhands.agent_server.event_service import EventService
EventService._ensure_workspace_is_git_repo = staticmethod(lambda _: None)
uvicorn.run("openhands.agent_server.api:api", uds="{DOOR}/{SOCKET}", ws="wsproto",
    log_level="warning", access_log=False)
"""
"""As the package starts it, but on a socket, and without `git init` in the user's directory."""
SERVER = ("python3", "-I", "-c", SERVE)
AT = "/"
"""Its own directory. In the project's it would read settings that the project wrote."""
SETTINGS = {
    "OH_CONVERSATIONS_PATH": KEPT,
    "OH_WORKSPACE_PATH": "/tmp/workspace",  # noqa: S108 - inside, where nobody else is
    "OH_BASH_EVENTS_DIR": "/tmp/bash_events",  # noqa: S108 - the same
    "OH_ENABLE_VSCODE": "false",
    "OH_ENABLE_VNC": "false",
    "OH_PRELOAD_TOOLS": "false",
    "OH_SECRET_KEY": "",  # so that it stores no model's key
    "OH_LEASE_TTL_SECONDS": "0",  # the session's lock is enough
    "OPENHANDS_SUPPRESS_BANNER": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LOG_LEVEL": "WARNING",
    "LANG": "C.UTF-8",
}
NO_SERVER = ("No module named 'openhands", "No module named 'uvicorn")
CONFINED = (
    "\nThis agent is confined, and rootless containers do not start then. Add one that is not: "
    "rookery agents add NAME --container"
)


def binds(folder: str, scratch: str) -> list[Bind]:
    """What is inside besides the session's directories. `folder`: for the conversations."""
    return [
        Bind(os.path.join(scratch, "door"), DOOR, writable=True),
        Bind(folder, KEPT, writable=True),
        Bind(os.path.abspath(forward.__file__), FORWARD),
    ]


class OwnContainer(Container):
    called = CALLED


class LoopThread:
    """A thread with a loop. The keeper dies with the thread that started it: this one stays."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="container")
        self._thread.start()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._wait())

    async def _wait(self) -> None:
        await self._over.wait()

    def call[Result](self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Blocks."""

        async def worked() -> Result:
            return await work()

        return asyncio.run_coroutine_threadsafe(worked(), self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()


class ServerContainer:
    """Raises OSError, also as SandboxError, and ValueError for settings with an open quotation."""

    def __init__(self, wish: Sandbox, place: Place, ports: set[int]) -> None:
        """`ports`: of this machine's loopback interface, which are the container's, too."""
        self.ports = ports
        self.url = ""
        self.key = Secret(secrets.token_urlsafe(32))
        KNOWN.learn([self.key.reveal()])
        self._wish = wish
        self._place = place
        self._door = os.path.join(place.scratch, "door")
        self._log = os.path.join(place.scratch, "log")
        os.mkdir(self._door, 0o700)
        self._thread = LoopThread()
        try:
            self._container, self._keeper = self._thread.call(self._start)
        except (OSError, ValueError):
            self._thread.close()
            shutil.rmtree(place.scratch, ignore_errors=True)
            raise

    async def _start(self) -> tuple[Container, "subprocess.Popen[bytes]"]:
        listener = socket.create_server(("127.0.0.1", 0), backlog=relay.BACKLOG)
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self._relays = [relay.Relay(listener, lambda: relay.connected(self._door, SOCKET))]
        command: list[str] = []
        for port in sorted(self.ports):
            name = f"{port}.s"
            self._relays.append(relay.Relay(relay.listening(self._door, name), _way_to(port)))
            command += ["python3", "-I", "-S", FORWARD, f"{DOOR}/{name}", str(port)]
        container = OwnContainer(self._wish, self._place)
        own = SETTINGS | {"SESSION_API_KEY": self.key.reveal()}
        try:
            return container, self._kept(container.spawn([*command, *SERVER], own, AT))
        except (OSError, ValueError):
            container.close()
            raise

    def _kept(self, spawn: Spawn) -> "subprocess.Popen[bytes]":
        with open(self._log, "xb") as log:
            return subprocess.Popen(
                spawn.argv,
                env=spawn.environment,
                cwd=spawn.cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def lives(self) -> bool:
        """Of a container that has just died, the socket is the first to tell."""
        return self._keeper.poll() is None and self._listens()

    def wait(self, closed: threading.Event) -> None:
        """Until its server listens. Blocks. Raises Told."""
        until = time.monotonic() + STARTING
        while not self._listens():
            if self._keeper.poll() is not None:
                raise Told(self._why(), "provider")
            if time.monotonic() > until:
                words = f"did not respond within {STARTING:.0f} seconds."
                raise Told(f"{CALLED} {words}{self._said()}", "provider")
            if closed.wait(LOOK):
                raise Told("The session was closed.", "provider")

    def _listens(self) -> bool:
        try:
            with socket.socket(socket.AF_UNIX) as probe, relay.socket_in(self._door, SOCKET) as at:
                probe.setblocking(False)
                probe.connect(at)
        except BlockingIOError:  # it has much to do
            return True
        except OSError:
            return False
        return True

    def _why(self) -> str:
        """It has ended."""
        said, status = "\n".join(self._lines()), self._keeper.returncode
        if any(words in said for words in image.MISSING):
            return image.missing(self._wish.image)
        if any(words in said for words in NO_SERVER):
            name = self._wish.image
            return f"The image {name} has no {image.PACKAGE} in it. Make one: {image.MAKE}"
        fault = self._container.fault(status, self._lines())
        fault = fault or f"{CALLED} ended (status {status}).{self._said()}"
        return f"{fault}{CONFINED if _is_confined() else ''}"

    def _lines(self) -> list[str]:
        with suppress(OSError), open(self._log, encoding="utf-8", errors="replace") as file:
            return [line.rstrip() for line in file if line.strip()]
        return []

    def _said(self) -> str:
        return "".join(f"\n{line[:300]}" for line in self._lines()[-SAID:])

    def end(self) -> None:
        """Blocks."""
        self._keeper.terminate()
        try:
            self._keeper.wait(ENDING)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()
        self._thread.call(self._leave)
        self._thread.close()
        shutil.rmtree(self._place.scratch, ignore_errors=True)

    async def _leave(self) -> None:
        self._container.close()


def _way_to(port: int) -> Callable[[], Awaitable[relay.Streams]]:
    return lambda: asyncio.open_connection("localhost", port, limit=relay.PIECE)


def _is_confined() -> bool:
    """Whether nothing that it starts gains rights, as a rootless engine has to."""
    with suppress(OSError), open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return os.geteuid() != 0 and "NoNewPrivs:\t1" in file.read()
    return False
