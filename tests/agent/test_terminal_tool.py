"""The terminal tool in a real conversation of the SDK: tmux is never asked for, output is heard by
the call's id, and a cancel leaves a history that goes on."""

import asyncio
import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openhands.sdk import LLM, Agent, LocalConversation, Tool
from openhands.sdk.event import ActionEvent, AgentErrorEvent, Event, MessageEvent, ObservationEvent
from openhands.tools.terminal import TerminalTool
from pydantic import SecretStr

from rookery.agent import terminal
from rookery.agent.scripted.server import serving
from rookery.agent.sdk_patches import terminal_tool
from rookery.agent.terminal import PtyExecutor
from rookery.processes.tree import start_time

pytestmark = pytest.mark.filterwarnings("ignore")  # of the SDK's, at every conversation

SCRIPT: dict[str, Any] = {
    "turns": [
        {
            "calls": [
                {"name": "terminal", "arguments": {"command": "cd below; export A=1; echo in"}}
            ]
        },
        {"calls": [{"name": "terminal", "arguments": {"command": "echo $$ $BASHPID; sleep 60"}}]},
        {"calls": [{"name": "terminal", "arguments": {"command": "echo $A; pwd"}}]},
        {"text": "Done."},
    ]
}


class Watched:
    def __init__(self, directory: Path, url: str) -> None:
        self.events: list[Event] = []
        self.output: list[tuple[str, str]] = []
        self.asleep = threading.Event()
        llm = LLM(
            model="openai/scripted", base_url=url, api_key=SecretStr("none"), usage_id="agent"
        )
        self.conversation = LocalConversation(
            agent=Agent(llm=llm, tools=[Tool(name=TerminalTool.name)]),
            workspace=str(directory),
            callbacks=[self.events.append],
            visualizer=None,
        )
        terminal.on_output(self.conversation, self._heard)

    def _heard(self, call: str, text: str) -> None:
        self.output.append((call, text))
        if len(text.split()) == 2:
            self.asleep.set()

    def of(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    home, tools = tmp_path / "home", tmp_path / "tools"
    for folder in (home, tools, tmp_path / "below"):
        folder.mkdir()
    tmux = tools / "tmux"
    tmux.write_text(f"#!/bin/sh\necho asked >> {tmp_path}/tmux-was-asked\necho tmux 3.3\n")
    tmux.chmod(tmux.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    terminal_tool.install()
    terminal_tool.install()
    with serving(SCRIPT) as model:
        made = Watched(tmp_path, model.url)
        yield made
        made.conversation.close()


def foreground(shell: Any, own: int) -> int:
    """The group of the command that runs. Nothing tells when a shell gave its terminal away."""
    until = time.monotonic() + 60
    while (busy := shell.foreground()) in (0, own):
        assert time.monotonic() < until
        time.sleep(0.01)
    return int(busy)


async def test_a_cancel_leaves_a_valid_history(watched: Watched, tmp_path: Path) -> None:
    conversation = watched.conversation
    await asyncio.to_thread(conversation.send_message, "Begin.")
    running = asyncio.create_task(conversation.arun())
    assert await asyncio.to_thread(watched.asleep.wait, 60)
    shell = int(watched.output[-1][1].split()[0])
    (executor,) = terminal.executors(conversation)
    busy = await asyncio.to_thread(foreground, executor._ours.shell(), shell)
    conversation.interrupt()
    await running
    assert len(watched.of(AgentErrorEvent)) == 1, "the history is whole"
    await asyncio.to_thread(conversation.send_message, "Go on.")
    await conversation.arun()
    assert start_time(busy) is None
    last = watched.of(ObservationEvent)[-1].observation
    assert last.text.splitlines() == ["1", str((tmp_path / "below").resolve())]
    assert watched.of(MessageEvent)[-1].llm_message.content[0].text == "Done."

    calls = {event.action.command: event.tool_call_id for event in watched.of(ActionEvent)}
    heard = "".join(text for call, text in watched.output if call == calls["echo $A; pwd"])
    assert heard.startswith("1\r\n")
    assert not (tmp_path / "tmux-was-asked").exists()
    assert isinstance(executor, PtyExecutor)
    conversation.close()
    assert start_time(shell) is None
