"""A session's container: made when its server is needed, made anew when it has died, ended with the
session."""

import os
import shutil
import stat
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies_environment

from rookery.agent.elsewhere import image
from rookery.agent.elsewhere.container import CALLED, ServerContainer, binds
from rookery.agent.provider.told import Told
from rookery.core.settings.sandbox import CONTAINER, Sandbox
from rookery.home import scratch
from rookery.models.profiles import Profile
from rookery.models.providers import api_of, is_loopback
from rookery.models.secrets import Secret
from rookery.processes import LINUX
from rookery.sandbox.bwrap import PORT as PROXY
from rookery.sandbox.container import find_engine
from rookery.sandbox.plan import Place, readable
from rookery.sandbox.visible import check_roots, settled

NEEDS_LINUX = "--container needs Linux. Here, start an agent server yourself and use --remote."
STARTS = "A container is being started.\n"
STARTS_AGAIN = "The container has ended. Another one is being started.\n"
KEPT = "server"
"""In a session's folder: where the server keeps its conversations."""
PRIVILEGED = 1024
"""Ports below are not for a container's user."""


class Around(NamedTuple):
    """What a container is made for."""

    home: str
    session: str
    folder: str
    """The session's."""
    roots: Sequence[str]
    """The session's directories, its working directory first."""
    image: str
    """ "": the usual one."""


class Workspace:
    def __init__(
        self,
        around: Around,
        models: Callable[[], Sequence[Profile]],
        tell: Callable[[str], None],
    ) -> None:
        """`models`: all that may be asked; `tell`: for the user."""
        self._around = around
        self._kept = os.path.join(around.folder, KEPT)
        self._models = models
        self._tell = tell
        self._lock = threading.Lock()
        self._running: ServerContainer | None = None
        self._lost = False
        """The last one was given up."""
        self._closed = threading.Event()

    def check(self) -> None:
        """Whether a container can be made at all. Blocks. Raises Told."""
        with _telling():
            check(self._wish(), self._around.roots)
            check_roots(self._place(self._wish(), ""))

    def server(self) -> tuple[str, Secret]:
        """Its address and its key. Blocks, until it answers. Raises Told."""
        with self._lock:
            if self._running is None or not self._running.lives():
                self._tell(STARTS_AGAIN if self._running or self._lost else STARTS)
                self._lost = False
                self._end()
                self._begin()
            assert self._running is not None
            return self._running.url, self._running.key

    def end(self) -> None:
        """The next who needs it gets another. Blocks."""
        with self._lock:
            self._lost = self._lost or self._running is not None
            self._end()

    def refit(self, model: Profile) -> None:
        """End the container if it has no way to the model. Blocks."""
        with self._lock:
            needed = loopback_ports([_address(model)])
            if self._running is not None and not needed <= self._running.ports:
                self._end()

    def take_along(self, conversation: str, folder: str) -> None:
        """A fork to the folder of its own session, for a container of its own. Blocks."""
        name = uuid.UUID(conversation).hex
        copy_files(os.path.join(self._kept, name), os.path.join(folder, KEPT, name))

    def leave(self) -> None:
        """Nobody waits for its start now."""
        self._closed.set()

    def close(self) -> None:
        """Blocks. Twice does no harm."""
        self.leave()
        with self._lock:
            self._end()

    def _begin(self) -> None:
        wish = self._wish()
        _spare_loopback()
        with _telling():
            check(wish, self._around.roots)
            os.makedirs(self._kept, 0o700, exist_ok=True)
            place = self._place(wish, scratch.folder(self._around.home, "box-"))
            self._running = ServerContainer(wish, place, self._ports())
        try:
            self._running.wait(self._closed)
        except Told:
            self._end()
            raise

    def _end(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.end()

    def _wish(self) -> Sandbox:
        name = self._around.image or image.usual()
        return _settings()._replace(kind=CONTAINER, image=name, workspace="")

    def _ports(self) -> set[int]:
        return loopback_ports([_address(model) for model in self._models()])

    def _place(self, wish: Sandbox, folder: str) -> Place:
        around, user = self._around, os.path.expanduser("~")
        return Place(
            roots=settled(around.roots[0], around.roots[1:]),
            user=user,
            hidden=[around.home],
            scratch=folder,
            mark=around.session,
            binds=[*readable(wish, user), *binds(self._kept, folder)],
        )


def check(wish: Sandbox, roots: Sequence[str]) -> list[str]:
    """The engine's command, if it is here with the image. Blocks. Raises Told, SandboxError."""
    if not LINUX:
        raise Told(NEEDS_LINUX, "provider")
    engine = find_engine(wish.engine, roots, CALLED)
    if fault := image.fault(engine, wish.image):
        raise Told(fault, "provider")
    return engine


def _settings() -> Sandbox:
    """Those in force. Raises Told."""
    from rookery.agent.session import auto_answer  # a command of the user's needs no agent

    found = auto_answer.home_settings()
    if found is None:
        raise Told("config.toml is not valid. To see why: rookery doctor", "provider")
    return found.sandbox


def _address(model: Profile) -> str:
    return model.base_url or api_of(model.model, "")


def loopback_ports(urls: Sequence[str]) -> set[int]:
    """Of this machine's: inside, that address is the container's own."""
    found = set()
    for url in filter(is_loopback, urls):
        with suppress(ValueError):
            found.add(urlsplit(url).port or 0)
    return {port for port in found if port >= PRIVILEGED and port != int(PROXY)}


def copy_files(source: str, target: str) -> None:
    """A folder that a container may write to, also now: links are neither followed nor copied, as
    they would lead to files on this side."""
    for place, _, names, folder in os.fwalk(source):
        there = os.path.normpath(os.path.join(target, os.path.relpath(place, source)))
        os.makedirs(there, 0o700, exist_ok=True)
        for name in names:
            with suppress(OSError):  # a link, or it is gone
                file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
                with open(file, "rb") as read:
                    if stat.S_ISREG(os.fstat(file).st_mode):
                        with open(os.path.join(there, name), "xb") as written:
                            shutil.copyfileobj(read, written)


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except OSError as error:  # SandboxError says what to do
        raise Told(str(error), "provider") from error
    except ValueError as error:
        words = f"sandbox.engine, sandbox.args or sandbox.read is not valid: {error}."
        raise Told(words, "provider") from error


def _spare_loopback() -> None:
    """A proxy that is set is not for our own port."""
    if not getproxies_environment():
        return
    names = ("no_proxy", "NO_PROXY")
    known = next(filter(None, (os.environ.get(name) for name in names)), "")
    if "127.0.0.1" not in known.split(","):
        for name in names:
            os.environ[name] = ",".join(filter(None, (known, "127.0.0.1")))
