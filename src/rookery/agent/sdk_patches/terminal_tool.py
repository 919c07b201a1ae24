"""The terminal tool with our executor, under the name that the model and stored conversations know.
A result has one footer.

Made for openhands-tools 1.58, whose terminal shows no output before the end, and whose interrupt
leaves a command running that ignores it; its results state the exit code twice, and the directory
and the Python interpreter each time. Unnecessary once all that is corrected, or once a conversation
can be given a terminal's executor and its results' footer."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from openhands.sdk.llm import TextContent
from openhands.sdk.tool import ToolExecutor, register_tool
from openhands.sdk.utils import maybe_truncate
from openhands.tools.terminal.constants import MAX_CMD_OUTPUT_SIZE
from openhands.tools.terminal.definition import TerminalObservation, TerminalTool

from rookery.agent.terminal.executor import PtyExecutor

if TYPE_CHECKING:
    from openhands.sdk.conversation.state import ConversationState

_theirs = TerminalTool.create


def _create(
    _cls: type[TerminalTool],
    conv_state: "ConversationState",
    username: str | None = None,
    no_change_timeout_seconds: int | None = None,
    terminal_type: str | None = None,
    shell_path: str | None = None,
    executor: ToolExecutor[Any, Any] | None = None,
    *,
    env: Mapping[str, str] | None = None,
) -> Sequence[TerminalTool]:
    del username, terminal_type  # one kind of terminal, of this user
    directory = conv_state.workspace.working_dir
    if executor is None and os.path.isdir(directory):
        executor = PtyExecutor(
            working_dir=directory,
            no_change_timeout_seconds=no_change_timeout_seconds,
            shell_path=shell_path,
            env=env,
            full_output_save_dir=conv_state.env_observation_persistence_dir,
        )
        executor.prepare()
    return _theirs(conv_state, executor=executor)


def _content(self: TerminalObservation) -> list[TextContent]:
    """Return the text for the model, also for results of earlier builds, whose footer is longer."""
    about = self.metadata
    footer = about.suffix
    if not footer and about.exit_code != -1:
        footer = f"\n[exit code {about.exit_code}]"
    text = maybe_truncate(
        content=f"{about.prefix}{self.text}{footer}",
        truncate_after=MAX_CMD_OUTPUT_SIZE,
        save_dir=self.full_output_save_dir,
        tool_prefix="terminal",
    )
    header = [TextContent(text=self.ERROR_MESSAGE_HEADER)] if self.is_error else []
    return [*header, TextContent(text=text)]


def install() -> None:
    TerminalObservation.to_llm_content = property(_content)  # type: ignore[assignment,method-assign]
    TerminalTool.create = classmethod(_create)  # type: ignore[assignment]
    register_tool(TerminalTool.name, TerminalTool)
