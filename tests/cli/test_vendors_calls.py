"""What other vendors' calls bring in `show`, `asks` and `answer`; asks that carry only an id."""

import json
from pathlib import Path
from typing import Any

from tests.cli.driving import rookery
from tests.cli.test_asks_whole import asking, said_by
from tests.core.asks.test_form_words import COLOURS
from tests.core.tools.test_call_output import CODEX, MCP

FOUND = {"result": {"content": [{"type": "text", "text": "2 found"}]}, "error": None}


def only_the_id(name: str) -> dict[str, Any]:
    return {"ask": "", "toolCall": {"toolCallId": name}, "announce": False}


def step(update: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"update": {**update, **more}}


def test_a_session_of_a_codex_like_agent_reads_right(home: Path) -> None:
    """A command, an MCP tool and a question, each asked, answered and shown; before them a tool
    that is named in `_meta`, which a rule allows."""
    assert rookery("policy", "add", "allow", "--tool", "save_memory").code == 0
    qwen = {"sessionUpdate": "tool_call", "toolCallId": "q", "title": "Remember", "kind": "other"}
    qwen |= {"rawInput": {"fact": "x"}, "_meta": {"toolName": "save_memory"}}
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "m", "status": "completed"}
    form = {"type": "object", "properties": {"colour": COLOURS}, "required": ["colour"]}
    steps = [step(qwen), only_the_id("q")]
    steps += [step(CODEX[0]), only_the_id("c"), *(step(each) for each in CODEX[1:])]
    steps += [step(MCP), only_the_id("m"), step(done, rawOutput=FOUND)]
    steps += [{"question": "Which colour?", "schema": form}]
    with asking(*steps) as running:
        running.await_ask()
        for face in (["asks"], ["show", "House"]):
            assert "Demo wants to run:\n┃   │ make" in said_by(*face)
        assert rookery("answer", "House", "allow").code == 0
        running.await_ask()
        [ask] = [json.loads(line) for line in rookery("asks", "--json").out.splitlines()]
        assert [item["text"] for item in ask["does"]] == ["mcp__docs__search", "q: acp"]
        assert rookery("answer", "House", "allow").code == 0
        running.await_ask()
        asked = said_by("asks")
        assert "--set colour=…" in asked
        assert "Blue  like the sky" in asked
        answered = rookery("answer", "House", "accept", "--set", "colour=Blue")
        assert (answered.code, answered.err.strip()) == (0, "Answered: Blue")
    shown = rookery("show", "House").out
    assert "Demo wants to use save_memory  Allowed by rule" in shown
    assert "✓ run make" in shown
    assert "exit 0" in shown
    assert "  one\n  two\n" in shown
    assert "✓ docs: search" in shown
    assert "  2 found\n" in shown
    assert "  Blue" in shown
    assert "Answered" not in shown
