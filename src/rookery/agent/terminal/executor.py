"""The executor behind the terminal tool: runs commands in our session, ends them, and passes their
output on as it comes."""

import atexit
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from openhands.sdk.event import ActionEvent
from openhands.sdk.llm import TextContent
from openhands.tools.terminal.definition import TerminalAction, TerminalObservation
from openhands.tools.terminal.env import normalize_terminal_env
from openhands.tools.terminal.impl import TerminalExecutor

from rookery.agent import private
from rookery.agent.terminal.session import Session
from rookery.agent.terminal.shell import ShellEnded
from rookery.models.secrets import KNOWN

if TYPE_CHECKING:
    from openhands.sdk.conversation import LocalConversation

RECENT = 200
"""Events among which an action's call is looked for."""
LIVE = 200_000
"""Characters of one command that are shown while it runs; the rest is in its result."""
CAPPED = "\n[more output follows; it is not shown while the command runs]\n"

type Listener = Callable[[str, str], None]

_executors: "weakref.WeakSet[PtyExecutor]" = weakref.WeakSet()
_listeners: dict[str, Listener] = {}
_lock = threading.Lock()


class Stream:
    """One command's output on its way to a listener: without secrets, and limited in length."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._mask = KNOWN.in_pieces()
        self._room = LIVE

    def feed(self, text: str) -> None:
        if self._room > 0:
            self._send(self._mask.feed(text))

    def flush(self) -> None:
        if self._room > 0:
            self._send(self._mask.flush())

    def _send(self, text: str) -> None:
        if not text:
            return
        shown, self._room = text[: self._room], self._room - len(text)
        self._tell(shown if self._room > 0 else shown + CAPPED)


class PtyExecutor(TerminalExecutor):
    """The terminal tool's executor. Skips the SDK's constructor, which asks for tmux first."""

    def __init__(
        self,
        working_dir: str,
        no_change_timeout_seconds: int | None = None,
        shell_path: str | None = None,
        env: Mapping[str, str] | None = None,
        full_output_save_dir: str | None = None,
    ) -> None:
        self.shell_path = shell_path
        self.full_output_save_dir = full_output_save_dir
        self._working_dir = working_dir
        self._env = normalize_terminal_env(env)
        self._pool = None
        self._ours = Session(working_dir, no_change_timeout_seconds, shell_path, self._env)
        self._session = self._ours  # type: ignore[assignment]
        self._usual: Session | None = None
        """The terminal that waits while another takes its place."""
        self._seen: list[str] = []
        with _lock:
            _executors.add(self)

    def prepare(self) -> None:
        """Start the shell in a thread. A failure is reported by the first command."""

        def start() -> None:
            with suppress(ShellEnded, OSError):
                self._ours.shell()

        threading.Thread(target=start, daemon=True).start()

    @property
    def directory(self) -> str:
        return self._ours.directory

    def interrupt(self, tell: Callable[[str], object] = bool) -> None:
        self._ours.interrupt(tell)

    def close(self) -> None:
        self._ours.close()
        if self._usual is not None:
            self._usual.close()

    def set_apart(self, apart: bool) -> None:
        if apart == (self._usual is not None):
            return
        if self._usual is None:
            self._usual = self._ours
            usual, looking = self._usual, only_looking(self._env)
            self._ours = Session(usual.directory, usual.quiet_seconds, self.shell_path, looking)
        else:
            self._ours.close()
            self._ours, self._usual = self._usual, None
        self._session = self._ours  # type: ignore[assignment]

    def _reset_single_session(self) -> TerminalObservation:
        self._ours.reset()
        return TerminalObservation.from_text(
            "The terminal was reset: a new shell in the first directory.",
            command="[RESET]",
            exit_code=0,
        )

    def _execute_single_session(
        self, action: TerminalAction, conversation: "LocalConversation | None" = None
    ) -> TerminalObservation:
        reset = self._reset_single_session() if action.reset else None
        if reset is not None and not action.command.strip():
            return reset
        try:
            private.export_environment(self, action, conversation, self._ours)
            listener, finish = self._listener(action, conversation)
            observation = self._ours.execute(action, listener)
            finish()
        except ShellEnded as error:
            return TerminalObservation.from_text(
                str(error), command=action.command, exit_code=-1, is_error=True
            )
        if reset is not None:
            text = TextContent(text=f"{reset.text}\n\n{observation.text}")
            observation = observation.model_copy(update={"content": [text]})
        return private.masked(self, observation, conversation)

    def _listener(
        self, action: TerminalAction, conversation: "LocalConversation | None"
    ) -> tuple[Callable[[str], None] | None, Callable[[], None]]:
        """Return the callback for output as it comes, and the one for its end."""
        listener = _listener_of(conversation) if conversation is not None else None
        call = self._call_of(action, conversation) if listener else None
        if listener is None or call is None:
            return None, lambda: None
        stream = Stream(lambda text: listener(call, text))
        return stream.feed, stream.flush

    def _call_of(self, action: TerminalAction, conversation: Any) -> str | None:
        """Return the id of the action's tool call, which the SDK does not give its tools."""
        events = conversation.state.events
        for number in range(len(events) - 1, max(-1, len(events) - RECENT), -1):
            event = events[number]
            if not isinstance(event, ActionEvent) or event.tool_call_id in self._seen:
                continue
            if event.action is action or event.action == action:
                self._seen = [*self._seen[-RECENT:], event.tool_call_id]
                return event.tool_call_id
        return None


def only_looking(more: Mapping[str, str] | None) -> dict[str, str]:
    """Return variables to add to `more` for commands that may only look: git runs neither a pager
    nor a repository's file monitor, and does not refresh its index."""
    more = more or {}
    known = more.get("GIT_CONFIG_COUNT") or os.environ.get("GIT_CONFIG_COUNT", "")
    count = int(known) if known.isdecimal() else 0
    quiet = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_OPTIONAL_LOCKS": "0"}
    quiet |= {"GIT_CONFIG_COUNT": str(count + 1), f"GIT_CONFIG_KEY_{count}": "core.fsmonitor"}
    return {**more, **quiet, f"GIT_CONFIG_VALUE_{count}": "false"}


def on_output(conversation: Any, listener: Listener | None) -> None:
    """Call `listener(tool_call_id, text)` in the terminal's thread, as output comes and before the
    observation is made. None: stop calling it."""
    with _lock:
        if listener is None:
            _listeners.pop(str(conversation.state.id), None)
        else:
            _listeners[str(conversation.state.id)] = listener


def _listener_of(conversation: Any) -> Listener | None:
    with _lock:
        return _listeners.get(str(conversation.state.id))


@atexit.register
def _close_all() -> None:
    with _lock:
        left = list(_executors)
    for executor in left:
        executor.close()
