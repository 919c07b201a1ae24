"""The sandbox around a session's agent and everything else that the worker starts for it. It is
built when the agent starts, from the sandbox kind stored in the session and the settings in force.
"""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rookery import agents, models, sandbox
from rookery.agents import programs, registry
from rookery.build import build
from rookery.client import worktrees
from rookery.core import worktree
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.core.settings.sandbox import BWRAP, CONTAINER, NONE, ON
from rookery.core.settings.sandbox import Sandbox as Settings
from rookery.core.vendors.detection import is_player
from rookery.core.vendors.profiles import Profile
from rookery.home import paths, scratch
from rookery.processes import MARK

if TYPE_CHECKING:  # a session without a sandbox imports none of it
    from rookery.sandbox.plan import Bind, Place, Sandbox, Spawn

CONVERSATIONS, PLAYED = "conversations", "player"
"""Directories of Rookery's home in which our own agent and the player keep their files."""
OWN_FILES = (
    *("agent_settings.json", "agent_servers.json"),
    *("config.toml", "confirmed.json", "hooks.json", "trusted.json"),
)
"""The files of Rookery's home that our own agent reads."""

XDG = (
    ("XDG_CONFIG_HOME", "~/.config/"),
    ("XDG_DATA_HOME", "~/.local/share/"),
    ("XDG_STATE_HOME", "~/.local/state/"),
    ("XDG_CACHE_HOME", "~/.cache/"),
)


class Subject(NamedTuple):
    """The agent that a sandbox is built for, with its settings and servers."""

    argv: list[str]
    environment: Mapping[str, str]
    """Of the agent."""
    profile: Profile
    settings: Settings
    servers: list[Json]
    """The MCP servers that it is given: it starts them inside."""


class SessionSandbox:
    def __init__(
        self,
        directory: str,
        environment: Mapping[str, str],
        header: Callable[[], Header],
        argv: Callable[[], list[str]],
        subject: Callable[[], Subject],
    ) -> None:
        self._directory = directory
        self._header = header
        self._argv = argv
        self._environment = environment
        self._subject = subject
        self._made: Sandbox | None = None
        self._left: set[str] = set()
        self._taking: asyncio.Future[None] | None = None

    @property
    def kind(self) -> str:
        """The kind of sandbox that the session was created with. An agent that always runs in a
        container does so in any session."""
        made = self._header().sandbox or NONE
        return made if registry.image_of(self._argv()) is None else CONTAINER

    def moves(self) -> bool:
        """Tell whether the kind differs from the one in the session's log."""
        return self.kind != (self._header().sandbox or NONE)

    @property
    def image(self) -> str:
        """The image of a container: the agent's own, the one in the settings, or the one that
        Rookery builds."""
        return (
            registry.image_of(self._argv()) or self._subject().settings.image or agents.image.NAME
        )

    def begin(self) -> list[str]:
        """Build the sandbox anew for an agent that starts, with the settings of this moment. Return
        sentences that the user should know about. Raises SandboxError."""
        self.close()
        made = self._there()
        return made.notes if made else []

    def spawn(
        self, argv: Sequence[str], environment: Mapping[str, str], cwd: str
    ) -> "Spawn | None":
        """Return what to start instead of `argv`; None if there is no sandbox. Raises SandboxError,
        OSError."""
        made = self._there()
        return made.spawn(argv, environment, cwd) if made else None

    def roots(self, given: list[str]) -> list[str]:
        """Return the roots in which files are read and written for the agent."""
        if self.kind == NONE:
            return given

        return sandbox.visible.outermost(given)

    def to_host(self, path: str) -> str:
        """Translate a path that the agent named into the host's path."""
        return self._made.to_host(path) if self._made and path else path

    def to_agent(self, path: str) -> str:
        return self._made.to_agent(path) if self._made else path

    def fault(self, status: int, stderr: Sequence[str]) -> list[str]:
        """Return why the agent did not start, if that is because of the sandbox."""
        text = self._made.fault(status, stderr) if self._made else ""
        return [text] if text else []

    def left(self) -> list[str]:
        """Return warnings for the user to read before they use git: a repository that the agent
        made may have a `commondir` file. Each is returned once."""
        roots = map(os.path.realpath, self._made.place.roots if self._made else ())
        places = [os.path.join(root, ".git", "commondir") for root in roots]
        there = [path for path in places if os.path.lexists(path)]
        if not there:
            return []

        fresh = {path for path in there if not sandbox.placeholders.is_one(path)} - self._left
        self._left |= fresh
        return [
            f"The agent left {path}: git would obey settings and hooks of the place that it names. "
            "Remove it before you use git there."
            for path in sorted(fresh)
        ]

    def other_build(self, result: object) -> list[str]:
        """Return a warning if our own agent in a container is of another build than we are: it is
        that of its image. `result`: of its `initialize`."""
        meta = lenient.mapping(lenient.mapping(result, "_meta"), "rookery")
        theirs = lenient.text(meta, "imageBuild")
        if self.kind != CONTAINER or theirs in ("", build()):
            return []

        return [sandbox.engine.older(self.image, theirs)]

    def turn_ended(self, tell: Callable[[str], None]) -> None:
        """Have git take over what the agent committed in its worktree, in the background. `tell`:
        reports failures."""
        tree = self._header().worktree
        if self.kind != NONE and tree is not None and worktree.exists(tree):
            self._taking = asyncio.ensure_future(_take_over(tree, tell))

    async def taken(self) -> None:
        if self._taking is not None:
            await asyncio.wait([self._taking])

    def close(self) -> None:
        if self._made is not None:
            import shutil

            self._made.close()
            shutil.rmtree(self._made.place.scratch, ignore_errors=True)
            self._made = None

    def _there(self) -> "Sandbox | None":
        if self._made is None and (kind := self.kind) != NONE:
            subject = self._subject()
            wish = subject.settings._replace(kind=kind, image=self.image)
            self._made = sandbox.kinds.prepare(wish, self._place(subject, wish))
        return self._made

    def _place(self, subject: Subject, wish: Settings) -> "Place":
        header, home = self._header(), os.path.dirname(os.path.dirname(self._directory))
        user = self._environment.get("HOME") or os.path.expanduser("~")
        return sandbox.plan.Place(
            roots=sandbox.visible.settled(header.cwd, header.roots),
            user=user,
            hidden=[home, os.path.dirname(paths.socket_path(self._directory))],
            scratch=scratch.folder(home, "sandbox-"),
            binds=[
                *_kept(subject.profile, user, self._environment),
                *sandbox.plan.readable(subject.settings, user),
                *_of_home(home, self._directory, subject.argv),
                *_of_worktree(header.worktree, header.roots),
            ],
            path=subject.environment.get("PATH", os.defpath).split(os.pathsep),
            programs=_programs(subject, header.cwd),
            mark=os.environ.get(MARK, ""),
            ports=_model_ports(subject, wish, home),
            **(_for_container(subject, wish) if wish.kind == CONTAINER else {}),
        )


def _programs(subject: Subject, cwd: str) -> list[str]:
    """List the files that the agent's command names: its program, and files by an absolute path;
    and of each MCP server its program, and a script that comes first in its arguments."""
    commands = filter(None, (lenient.text(each, "command") for each in subject.servers))
    names = [*subject.argv[:1], *commands]
    located = [programs.find(name, subject.environment, cwd) for name in names]
    first = [lenient.texts(each, "args")[:1] for each in subject.servers]
    args = [*subject.argv[1:], *(word for each in first for word in each)]
    named = [word for word in args if os.path.isabs(word) and os.path.isfile(word)]
    return [os.path.join(cwd, each) for each in (*located, *named) if each]


def _for_container(subject: Subject, wish: Settings) -> dict[str, Any]:
    return {"make_image": agents.image.make_line(subject.argv, wish.image)}


def _model_ports(subject: Subject, wish: Settings, home: str) -> list[int]:
    """Return the ports of models on this machine that our own agent may query, if `localhost` is a
    different one inside the sandbox."""
    if not registry.is_own(subject.argv) or (wish.kind == BWRAP and wish.network == ON):
        return []

    try:
        saved = list(models.profiles.load(home).profiles.values())
    except models.documents.SettingsError:
        saved = []  # the agent says what is wrong
    urls = [each.base_url or models.providers.api_of(each.model, "") for each in saved]
    ports = models.providers.loopback_ports(
        [*urls, subject.environment.get(models.profiles.BASE_URL, "")]
    )
    return [port for port in ports if str(port) != sandbox.bwrap.PORT]


def _kept(profile: Profile, user: str, environment: Mapping[str, str]) -> "list[Bind]":
    """Return binds for what the agent keeps in the user's home, also if XDG moves it."""
    binds: list[sandbox.plan.Bind] = []
    for kept in profile.keeps:
        moved = [
            os.path.join(environment[name], kept.removeprefix(usual))
            for name, usual in XDG
            if kept.startswith(usual) and os.path.isabs(environment.get(name, ""))
        ]
        path = (moved[0] if moved else os.path.join(user, kept.removeprefix("~/"))).rstrip("/")
        if kept.endswith("/"):
            os.makedirs(path, 0o700, exist_ok=True)  # else it would be gone after each run
        binds.append(sandbox.plan.Bind(path, path, writable=True))
    return binds


def _of_worktree(tree: Json | None, roots: Sequence[str]) -> "list[Bind]":
    """Return the binds that a commit in the session's own worktree needs: a git directory of its
    own in the place of the repository's. If the user gave the session that one, too, it is visible
    as it is. Raises SandboxError."""
    if tree is None or not worktree.exists(tree) or not os.path.isdir(tree["git"]):
        return []

    try:
        if sandbox.visible.is_in(os.path.realpath(tree["git"]), map(os.path.realpath, roots)):
            worktrees.own_git.give_up(tree)
            return []
        return [sandbox.plan.Bind(*mount) for mount in worktrees.own_git.prepare(tree)]
    except worktrees.repository.NoWorktree as error:
        raise sandbox.plan.SandboxError(error.sentences) from None


async def _take_over(tree: Json, tell: Callable[[str], None]) -> None:
    try:
        await asyncio.to_thread(worktrees.own_git.exchange, tree)
    except worktrees.repository.NoWorktree as error:
        tell(error.sentences)


def _of_home(home: str, directory: str, argv: list[str]) -> "list[Bind]":
    """Return the binds of Rookery's home for our own agents: the settings that they read, and a
    directory of this session's own for what they keep there."""
    own, kept = registry.is_own(argv), CONVERSATIONS
    if not own:
        if not is_player(argv):
            return []
        kept = PLAYED
    place = os.path.join(directory, kept)
    os.makedirs(place, 0o700, exist_ok=True)
    files = [os.path.join(home, name) for name in OWN_FILES if own]
    shared = [sandbox.plan.Bind(path, path) for path in files]
    return [*shared, sandbox.plan.Bind(place, os.path.join(home, kept), writable=True)]
