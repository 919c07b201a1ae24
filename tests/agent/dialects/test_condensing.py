"""A conversation is condensed by the tokens that its model's window holds, and what must not be
lost is kept word for word."""

import json
from pathlib import Path

import pytest

from rookery.agent.scripted.server import Asked, ScriptedModel, serving
from tests.acp.driving import Agent, Json
from tests.agent.dialects.speaking import Talk, models, saved

pytestmark = pytest.mark.asyncio(loop_scope="session")

SUMMARY = "It was looked at."
SCRIPT: Json = {"otherwise": {"text": "Yes."}, "aside": {"text": SUMMARY}}
WINDOW = 60_000
LONG = "many words " * 3000 + json.dumps({"play": ["Yes."]})
"""Over a tenth of the window."""

PLAN: Json = {
    "command": "plan",
    "task_list": [
        {"title": "Find the leak", "notes": "in the parser", "status": "done"},
        {"title": "Mend it", "notes": "", "status": "in_progress"},
    ],
}


def _look(path: Path) -> Json:
    path.write_text("")
    return {"name": "file_editor", "arguments": {"command": "view", "path": str(path)}}


def sent(asked: Asked) -> str:
    return json.dumps(asked.body.get("messages"), ensure_ascii=False)


@pytest.mark.parametrize("dialect", ["chat", pytest.param("anthropic", marks=pytest.mark.long)])
async def test_condensing_goes_by_tokens_and_keeps_plan_and_files(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path, dialect: str
) -> None:
    with serving(SCRIPT) as own:
        wide = models(own)[dialect] | {"max_input_tokens": WINDOW}
        with saved(agent_home, provider, wide=wide):
            talk = await Talk.begin(agent, own, "wide", tmp_path)
            for _ in range(2):
                await talk.turn("Hello.")  # the first events are always kept
            create = {"command": "create", "path": str(tmp_path / "notes.md"), "file_text": "x\n"}
            absent = {"command": "insert", "path": str(tmp_path / "absent.md")}
            absent |= {"insert_line": 0, "new_str": "x"}
            first = [
                {"name": "task_tracker", "arguments": PLAN},
                {"name": "file_editor", "arguments": create},
                {"name": "file_editor", "arguments": absent},
            ]
            looks = [_look(tmp_path / f"{number}") for number in range(45)]
            steps = [{"calls": looks[at : at + 15]} for at in range(0, 45, 15)]
            seen = await talk.turn({"calls": first}, *steps, "Looked")
            assert seen.words == "Looked"
            assert "condensed" not in seen.thoughts, "90 short events are no reason"

            for condensations in (1, 2):
                thoughts = ""
                for _ in range(12):
                    seen = await talk.say(LONG)
                    assert (seen.error, seen.words) == ("", "Yes.")
                    thoughts += seen.thoughts
                    if thoughts:
                        break
                assert thoughts.count("was condensed") == 1
                last = sent(seen.asked[-1])
                assert len(last) < WINDOW * 4 * 0.6
                assert last.count(SUMMARY) == 1
                assert "- [done] Find the leak (in the parser)" in last
                assert "- [in_progress] Mend it" in last
                assert last.count(f"- {tmp_path / 'notes.md'}") == 1, condensations
                assert f"- {tmp_path / 'absent.md'}" not in last, "an edit that failed"
            assert len([each for each in own.asked if not each.body.get("tools")]) == 2
