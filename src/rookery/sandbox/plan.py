"""A sandbox around everything that a worker starts for its agent: the agent itself, its terminals,
and what they start. It fails closed: if it cannot be made, nothing runs.

    sandbox = kinds.prepare(wish, place)            # raises SandboxError
    spawn = sandbox.spawn(argv, environment, cwd)   # start this instead
    sandbox.to_host(path)                           # translate a path of the agent's to the host's
"""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rookery.core.refusals import Fixed
from rookery.core.settings import sandbox as settings

Wish = settings.Sandbox
"""The settings, with the kind of the session."""


class SandboxError(Fixed, OSError):
    """The sandbox cannot be made; the message says why and what to do."""

    reason = "no_sandbox"


class Bind(NamedTuple):
    """A file or directory of this machine, and its path inside; one that does not exist is left
    out."""

    host: str
    inside: str
    writable: bool = False


class Place(NamedTuple):
    """The directories and files that a sandbox is built from. Paths are absolute."""

    roots: Sequence[str]
    """The session's directories: read and written."""
    user: str
    """The user's home. It is hidden."""
    hidden: Sequence[str]
    """Rookery's home and sockets: never inside, whatever else is."""
    scratch: str
    """An empty folder for the sandbox's own files; its maker removes it."""
    mark: str = ""
    """What names the session's processes (ROOKERY_MARK)."""
    binds: Sequence[Bind] = ()
    """What else is inside: what the agent keeps in the user's home, and what the user added."""
    path: Sequence[str] = ()
    """The directories of PATH, as the session was made: an agent may name others for a terminal."""
    programs: Sequence[str] = ()
    """The agent's program, and what else its command names by a whole path."""
    ports: Sequence[int] = ()
    """Of this machine's loopback interface: a container's lead there, whatever its network."""
    make_image: str = ""
    """The command that makes the container's image with this agent in it; "": none does."""


def readable(wish: Wish, user: str) -> list[Bind]:
    """Return the paths that `sandbox.read` names."""
    named = shlex.split(wish.read)
    paths = [os.path.join(user, word[2:]) if word.startswith("~/") else word for word in named]
    return [Bind(path, path) for path in paths if os.path.isabs(path)]


class Spawn(NamedTuple):
    """The process to start for a command."""

    argv: list[str]
    environment: dict[str, str]
    cwd: str
    pass_fds: tuple[int, ...] = ()
    entry: Callable[[], None] | None = None
    """Called between fork and exec."""
    wrapped: bool = False
    """Its first process and that one's child are the sandbox: a TERM is for those below them."""
    fenced: bool = True
    """False: no domain of Landlock's is around it, since it could not do its work in one."""

    def more(self) -> dict[str, Any]:
        """Return the arguments for `processes.child` besides command, environment and directory."""
        return {
            "pass_fds": self.pass_fds,
            "entry": self.entry,
            "wrapped": self.wrapped,
            "fenced": self.fenced,
        }


class Sandbox:
    """The interface of every kind of sandbox. This class itself is no sandbox at all."""

    def __init__(self, wish: Wish, place: Place) -> None:
        self.wish = wish
        self.place = place
        self.notes: list[str] = []
        """What this machine cannot do for it, each a sentence for the session's log."""

    def spawn(self, argv: Sequence[str], environment: Mapping[str, str], cwd: str) -> Spawn:
        """Return what to start for a command. Raises SandboxError; OSError for a missing
        program."""
        return Spawn(list(argv), dict(environment), cwd)

    def to_host(self, path: str) -> str:
        """Translate a path that the agent named, before it is checked against the roots."""
        return path

    def to_agent(self, path: str) -> str:
        """Translate a path of ours into the agent's name for it."""
        return path

    def fault(self, _status: int, _stderr: Sequence[str], /) -> str:
        """Return why a command did not start and what helps, if the sandbox is the cause;
        else ""."""
        return ""

    def close(self) -> None:
        """Release everything: nothing runs in the sandbox any more."""
