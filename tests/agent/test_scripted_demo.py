"""The demo's model: it does one small thing, the same every time, and nothing twice."""

from pathlib import Path
from typing import Any

from rookery.agent.scripted import demo
from rookery.agent.scripted.dialects import Chat
from rookery.agent.scripted.script import Turn
from tests.agent.asking import TERMINAL, model, result, user


def tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {}}}


ALL = [TERMINAL, tool("file_editor"), tool("finish")]


def after(*messages: dict[str, Any], tools: list[dict[str, Any]] | None = None) -> Turn:
    offered = ALL if tools is None else tools
    return demo.next_turn(Chat({"messages": list(messages), "tools": offered}).read())


def names(turn: Turn) -> list[str]:
    return [call.name for call in turn.calls]


def test_from_the_task_to_the_end(tmp_path: Path) -> None:
    said = [user("Count the birds")]
    assert names(after(*said)) == ["terminal"]
    assert '"security_risk": "LOW"' in after(*said).calls[0].arguments
    said += [model(), result(f"{tmp_path}\nREADME.md\n")]
    writing = after(*said).calls[0]
    assert writing.name == "file_editor"
    assert f"{tmp_path}/{demo.NOTE}" in writing.arguments
    assert "Count the birds" in writing.arguments
    assert "security_risk" not in writing.arguments  # which this tool does not take
    said += [model(), result("created")]
    assert names(after(*said)) == ["terminal"]
    said += [model(), result("9 words")]
    assert names(after(*said)) == ["finish"]
    said += [model(), result("done"), user("And now?")]
    assert names(after(*said)) == ["terminal"]


def test_a_note_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    said = [user("Go"), model(), result(f"{tmp_path}\n{demo.NOTE}\n")]
    assert names(after(*said)) == ["terminal"]
    assert names(after(*said, model(), result("9 words"))) == ["finish"]


def test_without_tools_it_says_so() -> None:
    assert after(user("Go"), tools=[]).text == demo.TITLE.text
    assert "no terminal" in after(user("Go"), tools=[tool("other")]).text
