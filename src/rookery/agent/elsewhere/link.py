"""A connection to one conversation on an agent server, and how it is made: the server is found or
woken, and the conversation is attached to, or begun anew if it is gone."""

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
from openhands.sdk import Agent, LocalWorkspace, RemoteConversation, RemoteWorkspace
from openhands.sdk.conversation.conversation_stats import ConversationStats
from openhands.sdk.conversation.exceptions import WebSocketConnectionError
from openhands.sdk.conversation.request import StartConversationRequest
from openhands.sdk.conversation.state import ConversationExecutionStatus as Status
from openhands.sdk.event import Event
from openhands.sdk.security.confirmation_policy import AlwaysConfirm
from openhands.sdk.security.llm_analyzer import LLMSecurityAnalyzer
from pydantic import ValidationError

from rookery.agent.elsewhere import keys
from rookery.agent.elsewhere.cloud import Cloud
from rookery.agent.elsewhere.recap import recap_of
from rookery.agent.elsewhere.requests import Unreachable, waiting
from rookery.agent.elsewhere.server import AgentServer
from rookery.agent.process.place import Place
from rookery.agent.provider.told import ActionableError
from rookery.agent.sdk_patches import remote_history
from rookery.core.json import Json, lenient

if TYPE_CHECKING:
    from openhands.sdk import LLM

type Heard = Callable[[Event], None]

MOST_STEPS = 500
LONG = {"condense": 600.0, "ask_agent": 600.0, "interrupt": 20.0}
"""Seconds for what the server answers only when it is done."""
MODEL = ("run", "condense", "ask_agent")
"""The requests that call the model."""
ROUNDED = 1.0
"""Seconds: a server tells its age in whole ones."""
PLUGINS = (
    "The agent server would run the plugins in {folder} without asking anybody. Move that folder "
    "away over there, or choose another directory with --directory."
)
ANEW = (
    "The conversation is gone from the agent server, so a new one was begun there. The model knows "
    "a recap of what was said; files and processes of the old one may be gone too.\n"
)
OTHER_VERSION = (
    "The agent server runs OpenHands {theirs}, this agent {ours}. If something fails, install "
    "the same version on both sides.\n"
)


UNKNOWN = (
    "Skipped an event of the agent server that cannot be read here ({kind}). If you "
    "miss something, install the same version of OpenHands on both sides.\n"
)


class Began(NamedTuple):
    """When a server was started, by our clock: between these times, since a reply takes time."""

    earliest: float
    latest: float

    def is_after(self, latest: float) -> bool:
        """Tell whether this is a later start than the one at `latest` (at the latest)."""
        return bool(latest) and self.earliest > latest + ROUNDED


def began_of(server: AgentServer) -> Began:
    """Ask a server when it was started. Raises ActionableError."""
    before = time.time()
    uptime = server.uptime()
    return Began(before - uptime, time.time() - uptime)


class Link:
    def __init__(
        self,
        server: AgentServer,
        remote: RemoteConversation,
        began: Began,
        on_unknown: Callable[[str], None],
    ) -> None:
        """`on_unknown` is called with each kind of event that is not known here."""
        self.began = began
        self.on_unknown = on_unknown
        self._server = server
        self._remote = remote
        self._id = str(remote.id)
        self._model: LLM | None = None
        """That it has yet to get."""

    def is_well(self) -> bool:
        """Tell whether it is still the same server, and has the conversation."""
        try:
            if began_of(self._server).is_after(self.began.latest):
                return False
            return self._server.conversation(self._id) is not None
        except ActionableError:
            return False

    def status(self) -> Status:
        """Return the conversation's status. Raises ActionableError."""
        response = self._server.conversation(self._id)
        if response is None:
            raise Unreachable("The conversation is gone from the agent server.")
        reported = lenient.text(response, "execution_status", Status.IDLE.value)
        try:
            return Status(reported)
        except ValueError:
            message = (
                f"The agent server says that the conversation is {reported[:40]!r}, which this"
            )
            raise ActionableError(f"{message} version does not know.", "provider") from None

    def tell(self, what: str, body: Json | None = None) -> Any:
        """Send a request to the conversation and return the response. Raises ActionableError."""
        if self._model is not None and what in MODEL:
            llm, self._model = self._model, None
            self.tell("switch_llm", {"llm": llm.model_dump(mode="json", context=SHOWN)})
        more: Json = {"timeout": LONG[what]} if what in LONG else {}
        more |= {"also": (409,)} if what == "run" else {}  # it runs already
        return self._server.post(f"/api/conversations/{self._id}/{what}", body, **more)

    def confirm(self) -> None:
        """Make the server wait before each action again. Raises ActionableError."""
        self.tell("confirmation_policy", {"policy": AlwaysConfirm().model_dump()})

    def events(self, since: str) -> Iterator[Event]:
        """Yield the events that can be parsed. Raises ActionableError."""
        for payload in self._server.events(self._id, since):
            try:
                yield Event.model_validate(payload)
            except ValidationError:
                self.on_unknown(lenient.text(payload, "kind")[:60] or "no kind")

    def give_model(self, llm: "LLM") -> None:
        """Set the model, to be sent when it is needed: before its first message, a server does not
        count the usage of a model that it was switched to."""
        self._model = llm

    def stats(self) -> ConversationStats:
        return self._remote.state.stats

    def on_gap(self, read: Callable[[], None]) -> None:
        events = self._remote.state.events
        if isinstance(events, remote_history.NoHistory):
            events.on_gap = read

    def close(self) -> None:
        """Close in a thread: the SDK waits 5 seconds for one that reads from a silent socket."""
        threading.Thread(target=self._close, daemon=True, name="hang-up").start()
        self._server.close()

    def _close(self) -> None:
        self._remote.close()
        self._remote.workspace.reset_client()


SHOWN = {"expose_secrets": True}


class Linker:
    """Makes the links of one session. `keep` stores where it runs; `tell` shows a notice to the
    user."""

    def __init__(
        self,
        home: str,
        session: str,
        cwd: str,
        place: Place,
        keep: Callable[[Place], None],
        tell: Callable[[str], None],
    ) -> None:
        self._home = home
        self._session = session
        self._cwd = cwd
        self._place = place
        self._keep = keep
        self._tell = tell
        self._told_version = False
        self._unknown: set[str] = set()

    @property
    def conversation(self) -> str:
        return self._place.conversation or str(uuid.UUID(self._session))

    def waiting(self) -> AbstractContextManager[None]:
        return waiting(self._place, self._tell)

    def restarted(self, link: Link) -> bool:
        """Tell whether the server was restarted since the last link, of any process."""
        restarted = link.began.is_after(self._place.began)
        if restarted or not self._place.began:
            self._move(self._place._replace(began=link.began.latest))
        return restarted

    def check(self) -> None:
        """Check the key before anything is begun. Blocks. Raises ActionableError."""
        if self._place.cloud:
            cloud = self._cloud()
            try:
                cloud.check()
            finally:
                cloud.close()

    def reach(self, agent: Agent, heard: Heard, past: Sequence[Event]) -> Link:
        """Link to the conversation, or to a new one if it is gone. Blocks. Raises
        ActionableError."""
        server, info = self._checked()
        link: Link | None = None
        try:
            self._compare_versions(info)
            if folder := server.plugins(self._place.where(self._cwd)):
                raise ActionableError(PLUGINS.format(folder=folder), "provider")
            began = began_of(server)
            if server.conversation(self.conversation) is not None:
                remote = self._attached(server, heard)
                link = self._resumed(Link(server, remote, began, self._note_unknown), agent)
            else:
                if past:
                    self._move(self._place._replace(conversation=str(uuid.uuid4())))
                    agent = _knowing(agent, recap_of(past))
                remote = self._begun(server, agent, heard)
                link = Link(server, remote, began, self._note_unknown)
                if past:
                    self._tell(ANEW)
        finally:
            if link is None:
                server.close()
        return link

    @staticmethod
    def _resumed(link: Link, agent: Agent) -> Link:
        """Make the server wait before each action, and give it the model's key, which a server
        without a secret key forgets when it is restarted."""
        link.confirm()
        analyzer = LLMSecurityAnalyzer().model_dump(mode="json")
        link.tell("security_analyzer", {"security_analyzer": analyzer})
        link.give_model(agent.llm)
        return link

    def release(self) -> None:
        """Delete what nobody needs now: the conversation, and a sandbox of its own. Blocks."""
        with suppress(ActionableError):
            if not self._place.cloud:
                server = self._server()
                server.ask("DELETE", f"/api/conversations/{self.conversation}", missing=True)
                server.close()
            elif self._place.sandbox:
                cloud = self._cloud()
                cloud.release(self._place.sandbox)
                cloud.close()

    # --- servers ---------------------------------------------------------------------------------

    def _checked(self) -> tuple[AgentServer, Json]:
        """Return the server, checked, and what it reports about itself. Raises ActionableError."""
        server = self._server()
        try:
            return server, server.check()
        except ActionableError:
            server.close()
            raise

    def _server(self) -> AgentServer:
        key = keys.key_of(self._home, self._place, os.environ)
        if not self._place.cloud:
            return AgentServer(self._place, self._place.url, key)
        cloud = self._cloud()
        try:
            cloud.check()
            sandbox = cloud.sandbox(self._place.sandbox, self._tell)
        finally:
            cloud.close()
        if sandbox.id != self._place.sandbox:
            self._move(self._place._replace(sandbox=sandbox.id))
        return AgentServer(self._place, sandbox.url, sandbox.key)

    def _cloud(self) -> Cloud:
        return Cloud(self._place, keys.key_of(self._home, self._place, os.environ))

    def _move(self, place: Place) -> None:
        self._place = place
        self._keep(place)

    def _compare_versions(self, info: Json) -> None:
        import openhands.sdk

        theirs, ours = lenient.text(info, "sdk_version"), openhands.sdk.__version__
        if theirs and theirs != ours and not self._told_version:
            self._told_version = True
            self._tell(OTHER_VERSION.format(theirs=theirs, ours=ours))

    def _note_unknown(self, kind: str) -> None:
        if kind not in self._unknown:
            self._unknown.add(kind)
            self._tell(UNKNOWN.format(kind=kind))

    # --- conversations ---------------------------------------------------------------------------

    def _attached(self, server: AgentServer, heard: Heard) -> RemoteConversation:
        return self._made(
            lambda: RemoteConversation.attach(
                self._workspace(server),
                uuid.UUID(self.conversation),
                callbacks=[heard],
                visualizer=None,
            )
        )

    def _begun(self, server: AgentServer, agent: Agent, heard: Heard) -> RemoteConversation:
        request = StartConversationRequest(
            agent=agent,
            workspace=LocalWorkspace(working_dir=self._place.where(self._cwd)),
            conversation_id=uuid.UUID(self.conversation),
            confirmation_policy=AlwaysConfirm(),
            security_analyzer=LLMSecurityAnalyzer(),
            max_iterations=MOST_STEPS,
            autotitle=False,  # it would call the model
        )
        workspace = self._workspace(server)
        return self._made(
            lambda: RemoteConversation.create(
                workspace, request, callbacks=[heard], visualizer=None
            )
        )

    def _workspace(self, server: AgentServer) -> RemoteWorkspace:
        where = self._place.where(self._cwd)
        return RemoteWorkspace(
            host=server.url, api_key=server.key.reveal() or None, working_dir=where
        )

    def _made(self, make: Callable[[], RemoteConversation]) -> RemoteConversation:
        remote_history.install()
        try:
            with remote_history.soon():
                return make()
        except (httpx.HTTPError, WebSocketConnectionError, OSError) as error:
            message = f"{self._place.name()} cannot be used now. Try again."
            raise Unreachable(f"{message}\n{error}") from error
        except (ValidationError, ImportError, KeyError, ValueError) as error:
            message = f"{self._place.name()} has a conversation that this version cannot read."
            raise ActionableError(f"{message}\n{str(error)[:300]}", "provider") from error


def _knowing(agent: Agent, recap: str) -> Agent:
    context = agent.agent_context
    if context is None or not recap:
        return agent
    suffix = f"{context.system_message_suffix or ''}\n\n{recap}"
    changed = context.model_copy(update={"system_message_suffix": suffix})
    return agent.model_copy(update={"agent_context": changed})
