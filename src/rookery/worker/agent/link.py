"""The worker's connection to its agent: starts its process or connects to its address, exchanges
messages with it, and turns output that is not protocol into updates."""

import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from rookery import sandbox
from rookery.agents import programs, registry
from rookery.client import config as client_config
from rookery.client.config.confinement import DEMANDED
from rookery.core.agent import ingest
from rookery.core.json import Draft, Json, lenient, notice
from rookery.core.settings.agent_tables import Extras
from rookery.core.settings.sandbox import BWRAP, CONTAINER
from rookery.home import paths
from rookery.processes import MARK, strays, tree
from rookery.processes.child import Child
from rookery.processes.search_path import for_python
from rookery.wire.failures import ConnectionClosed, RpcError, error_to_json
from rookery.wire.jsonrpc import Answer, Ceilings, OnNotification, OnRequest, Peer
from rookery.worker.agent.chunk_lines import ChunkLines
from rookery.worker.agent.process import AgentProcess
from rookery.worker.agent.surviving_commands import left_running
from rookery.worker.session import Session

if TYPE_CHECKING:
    from rookery.worker.agent.remote import RemoteAgent

MOST_NOISE = 20
"""Lines of an agent's stdout that are no protocol: these are kept, the rest is passed over."""

NOISE_KEPT = 2000
CROWD_KEPT = 64 * 1024

type OnExit = Callable[[int, list[str], str], None]
"""Status and last lines of a process; of a connection, why it ended."""

UNREAD = 32 * 1024 * 1024
"""Bytes of ours that an agent may leave unread before it is no longer heard."""


class AgentLink:
    """The connection to the agent. The callbacks report what the agent does, in the order it came
    over the wire."""

    def __init__(
        self,
        session: Session,
        on_request: OnRequest,
        on_notification: OnNotification,
        on_exit: OnExit,
        may_merge: Callable[[], bool],
    ) -> None:
        """`may_merge`: whether a run of text may be merged into one piece."""
        self._session = session
        self._may_merge = may_merge
        self._on_request = on_request
        self._on_notification = on_notification
        self._on_exit = on_exit
        self._process: AgentProcess | RemoteAgent | None = None
        self._prompting = False
        self._noise = 0
        self._held = False
        self._draining: asyncio.Task[None] | None = None

    def located(self, argv: list[str]) -> list[str]:
        """Return `argv` with the full path of a program that only a version manager of Node has."""
        session = self._session
        if session.sandbox.kind == CONTAINER:  # which has programs of its own
            return registry.in_image(argv)
        return programs.located(argv, session.surroundings.environment, session.config.node_path)

    def spawn(self, argv: list[str], cwd: str, more: Mapping[str, str]) -> Child:
        """Start the agent's process. `more`: variables added to its environment. Raises OSError."""
        session, surroundings, peer = self._session, self._session.surroundings, self._peer()
        log = os.path.join(session.directory, paths.AGENT_LOG)
        environment = programs.beside(argv, {**surroundings.environment, **more})
        left: Callable[[], list[tree.Process]] = list
        if registry.is_own(argv):  # it may be forked from a warm process, which is not below us
            left = partial(strays.of_mark, session.home, os.environ.get(MARK, ""))
            environment |= {DEMANDED: "1"} if session.fence.confined else {}
        if registry.is_own(argv) or argv[:1] == [sys.executable]:
            environment = for_python(environment)
        gone = partial(self._exited, link="")
        process = AgentProcess(peer, log, gone, session.fence, left, session.jobs)
        process.on_left = lambda processes: session.record(left_running(processes))
        inside = session.sandbox.spawn(argv, environment, cwd)
        if inside is None:
            process.spawn(argv, cwd, environment, surroundings.umask)
        else:
            warm = None
            if session.sandbox.kind == BWRAP and registry.is_own(argv):
                from rookery.worker.process.warm_door import WarmDoor

                warm = WarmDoor(session.home)
                inside = warm.given_to(inside)
            try:
                process.spawn(
                    *(inside.argv, inside.cwd, inside.environment, surroundings.umask),
                    **inside.more(),
                )
            finally:
                if warm is not None:
                    warm.started()
        self._process, self._noise = process, 0
        return process.child

    def dial(self, url: str, then: Callable[[str], None]) -> None:
        """Connect to an agent at an address; calls `then("")`, or `then` with why there is no
        connection."""
        from rookery.worker.agent.remote import RemoteAgent  # a session with a process needs none

        session = self._session
        remote = session.config.extras.get(session.header.agent, Extras()).remote
        environment = session.surroundings.environment
        longest = session.policy.line_bytes
        link = client_config.agent_address.link_to(
            url, lambda: client_config.agent_address.target_of(url, remote, environment), longest
        )

        def report(text: str) -> None:
            session.append(Draft(notice(text, "info")))
            session.wake()

        def connected(fault: str) -> None:
            if fault:
                self._process = None
            then(fault)

        agent = RemoteAgent(self._peer(), link, url, lambda why: self._exited(0, [], why), report)
        self._process, self._noise = agent, 0
        agent.connect(session.policy.start_timeout, connected)

    def _peer(self) -> Peer:
        session = self._session
        policy = session.policy
        lines = ChunkLines(policy.line_bytes, policy.chunk_window, self._may_merge)
        return Peer(
            on_request=self._on_request,
            on_notification=self._on_notification,
            on_noise=self._heard_noise,
            on_batch_end=session.heard,
            ceilings=Ceilings(line=policy.line_bytes),
            splitter=lines,
        )

    def _exited(self, status: int, stderr: list[str], link: str) -> None:
        self._process, self._prompting = None, False
        self._on_exit(status, stderr, link)

    def is_away(self) -> bool:
        """Whether the connection is broken but may come back."""
        return not isinstance(self._process, AgentProcess | None) and self._process.link.is_away

    def is_there(self) -> bool:
        """Tell whether the process lives: one killed just now may not have been missed yet."""
        if self._process is None:
            return False
        if not isinstance(self._process, AgentProcess):
            return not self._process.link.broken
        child = self._process.child
        return child.start is None or tree.alive(child.pid, child.start)

    def call(self, method: str, params: Json, then: Callable[[object, Json | None], None]) -> None:
        """Send a request. `then(result, error)` is not called if the connection ends: the exit
        callback reports that."""

        prompting = method == "session/prompt"

        def heard(answer: Answer) -> None:
            self._prompting = self._prompting and not prompting
            if answer.error is None:
                then(answer.result, None)
            elif isinstance(error := answer.error, RpcError):
                then(None, error_to_json(error.code, error.message, error.data))

        if self._process is not None:
            self._prompting = self._prompting or prompting
            self._process.peer.send_request(method, params, heard)

    def notify(self, method: str, params: Json) -> None:
        if self._process is not None:
            self._process.peer.notify(method, params)

    def hold(self, *, held: bool) -> None:
        """Stop reading from the agent, or go on. Nothing is read either while the agent leaves our
        answers unread: they would fill our memory."""
        self._held = held
        if self._process is None:
            return
        peer = self._process.peer
        if self.is_deaf() and self._draining is None:
            self._draining = asyncio.create_task(self._drain(peer), name="drain")
        if held or self._draining is not None:
            peer.pause()
        else:
            peer.resume()

    def is_deaf(self) -> bool:
        """Whether too much of our output waits for the agent to read it."""
        return self._process is not None and self._process.peer.buffered > UNREAD

    async def _drain(self, peer: Peer) -> None:
        with suppress(ConnectionClosed):
            await peer.drain(UNREAD)
        self._draining = None
        self.hold(held=self._held)

    def end(self, grace: float) -> None:
        """Begin to end the agent; the exit callback follows."""
        if self._process is not None:
            self._leave()
            self._process.end(grace)

    async def close(self, grace: float) -> None:
        if self._process is not None:
            self._leave()
            await self._process.end(grace)

    def _leave(self) -> None:
        """Cancel the turn of an agent at an address, which does not end with its connection, unless
        the turn waits for an answer that is kept."""
        session = self._session
        remote = not isinstance(self._process, AgentProcess)
        if remote and self._prompting and not session.header.asks:
            name = lenient.text(session.header.agent_session, "id")
            self.notify("session/cancel", {"sessionId": name})

    def _heard_noise(self, kind: str, what: object) -> None:
        self._noise += 1
        if self._noise > MOST_NOISE:
            return
        kept = NOISE_KEPT
        if kind == "too many values" and isinstance(what, bytes):
            text = f"It has {len(what)} bytes and too many values. Its beginning is kept."
            self._session.record(notice(text, title="Skipped a message from the agent"))
            kept = CROWD_KEPT
        shown = what[:kept].decode("utf-8", "replace") if isinstance(what, bytes) else what
        if not isinstance(shown, str | int):
            shown = repr(shown)[:NOISE_KEPT]
        more = " (the rest is not kept)" if self._noise == MOST_NOISE else ""
        self._session.record(ingest.raw("line", shown, f"stdout: {kind}{more}"))


def spawn_words(
    agent: str, argv: list[str], cwd: str, error: Exception, tree: object = None
) -> str:
    """Return why an agent did not start, and what helps. `tree`: the session's worktree."""
    if not argv:
        return f"There is no longer an agent {agent!r}; `rookery agents` lists the known ones."
    if not os.path.isdir(cwd):
        if (state := lenient.text(tree, "state")) in ("merged", "dropped"):
            return f"The session's worktree was {state} and is gone. Start a new session."
        return f"The session's directory {cwd} does not exist."

    if isinstance(error, sandbox.plan.SandboxError):
        return str(error)
    if isinstance(error, FileNotFoundError):
        install = registry.install_line(agent, argv)
        return registry.not_installed(agent, install, program=argv[0])
    return f"{argv[0]}: {error}"
