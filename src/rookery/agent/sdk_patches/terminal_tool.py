"""The terminal tool with our executor, under the name that the model and stored conversations know.

Made for openhands-tools 1.58, whose terminal shows no output before the end, and whose interrupt
leaves a command running that ignores it. Unnecessary once both are corrected, or once a
conversation can be given a terminal's executor.
"""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from openhands.sdk.tool import ToolExecutor, register_tool
from openhands.tools.terminal.definition import TerminalTool

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


def install() -> None:
    TerminalTool.create = classmethod(_create)  # type: ignore[assignment]
    register_tool(TerminalTool.name, TerminalTool)
