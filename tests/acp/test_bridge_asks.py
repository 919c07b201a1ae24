"""An editor's dialog says what will run, whole, and what the agent calls it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rookery.acp.bridge.questions import told_call as told
from rookery.core.ask import from_agent
from rookery.core.blocks import ask_details
from rookery.core.header import EMPTY
from tests.acp.bridging import asked, is_call, update
from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import texts
from tests.spoofs import EVIL, HIDING, SPOOFS

type Json = dict[str, Any]

REJECT: Json = {"outcome": {"outcome": "selected", "optionId": "reject"}}


@pytest.fixture
async def bridge(home: Path, tmp_path: Path) -> AsyncIterator[Door]:
    door = Door(BRIDGE, home, tmp_path)
    yield door
    await door.end()


def words(call: Json) -> str:
    """The text of a dialog's content."""
    return "\n".join(
        part["content"]["text"] for part in call["content"] if part["type"] == "content"
    )


async def test_a_harmless_title_does_not_hide_what_runs(bridge: Door, tmp_path: Path) -> None:
    agent = await bridge.open()
    session = await agent.new(str(tmp_path))
    id = agent.prompt(session, [spoof.step for spoof in SPOOFS])
    for spoof in SPOOFS:
        call = (await asked(agent))["params"]["toolCall"]
        said = words(call)
        assert spoof.seen in said, spoof.name
        assert spoof.note in said, spoof.name
        plain = " ".join(said.replace("`", "").split())
        assert f"description: {spoof.title.strip('`')}" in plain, spoof.name
        assert spoof.title != call["title"], spoof.name
        assert not any(sign in call["title"] + said for sign in HIDING), spoof.name
        agent.send(id=agent.lines[-1]["id"], result=REJECT)
    assert (await agent.answer(id))["result"]["stopReason"] == "end_turn"


async def test_a_long_command_is_shown_whole(bridge: Door, tmp_path: Path) -> None:
    agent = await bridge.open()
    session = await agent.new(str(tmp_path))
    text = "".join(f"echo {n}\n" for n in range(3000)) + EVIL
    new = "".join(f"line {n}\n" for n in range(5000))
    path = str(tmp_path / "a.py")
    steps = [
        {"ask": "Echo", "kind": "execute", "rawInput": {"command": text}},
        {"diff": "a.py", "new": new, "ask": True, "title": "A small fix"},
    ]
    id = agent.prompt(session, steps)
    call = (await asked(agent))["params"]["toolCall"]
    assert f"```sh\n{text}\n```" in words(call)
    assert call["title"].endswith("run this (3,001 lines)")
    agent.send(id=agent.lines[-1]["id"], result=REJECT)
    call = (await asked(agent))["params"]["toolCall"]
    [change] = [part for part in call["content"] if part["type"] == "diff"]
    assert (change["path"], change["newText"]) == (path, new)
    assert "a.py" in call["title"]
    agent.send(id=agent.lines[-1]["id"], result=REJECT)
    assert (await agent.answer(id))["result"]["stopReason"] == "end_turn"


async def test_an_ask_about_other_calls_lists_them(bridge: Door, tmp_path: Path) -> None:
    agent = await bridge.open()
    session = await agent.new(str(tmp_path))
    calls = [
        update("tool_call", toolCallId=name, kind="execute", title="terminal", rawInput=raw)
        for name, raw in (("A", {"command": "make"}), ("B", {"command": "rm -rf build"}))
    ]
    confirm = {"toolCallId": "X", "title": "Confirm Agent Actions", "kind": "other"}
    id = agent.prompt(session, [*calls, {"ask": "", "announce": False, "toolCall": confirm}])
    dialog = (await asked(agent))["params"]
    said = words(dialog["toolCall"])
    assert "```sh\nmake\n```" in said
    assert "```sh\nrm -rf build\n```" in said
    assert "permanently" in dialog["toolCall"]["title"]
    assert [option["kind"] for option in dialog["options"]] == ["allow_once", "reject_once"]
    agent.send(id=agent.lines[-1]["id"], result=REJECT)
    assert (await agent.answer(id))["result"]["stopReason"] == "end_turn"


def shown(call: Json) -> Json:
    header = EMPTY.with_(agent="claude", cwd="/w")
    does = ask_details.of([call], "/w", [], "/home/me")
    own = [item for item in does if item["what"] != "diff"]
    ask = from_agent({"kind": "permission", "toolCall": call, "does": own})
    return told(call, ask, header)


@pytest.mark.parametrize("line", ["ls <!-- ; rm -rf / -->", "ls [x](y)", "rm *_*", "a `b` c"])
def test_markdown_in_a_command_hides_nothing(line: str) -> None:
    call = shown({"toolCallId": "t", "kind": "execute", "title": line, "rawInput": line})
    assert call["title"].startswith("`")
    assert line in call["title"]
    assert f"```sh\n{line}\n```" in words(call)


def test_a_fence_in_a_command_does_not_end_our_fence() -> None:
    line = "cat <<E\n```\nfree\n```\nE"
    call = shown({"toolCallId": "t", "kind": "execute", "title": "cat", "rawInput": line})
    assert f"````sh\n{line}\n````" in words(call)


def test_a_call_that_says_all_of_it_stays_as_the_agent_told_it() -> None:
    content = [{"type": "diff", "path": "/w/a_b.py", "oldText": "a", "newText": "b"}]
    call = {"toolCallId": "t", "kind": "edit", "title": "Edit a_b.py", "content": content}
    assert shown(call) == call
    question = {"toolCallId": "t", "title": "May I?", "kind": "other"}
    assert shown(question) == question


async def test_a_dialog_says_which_of_how_many_it_is_and_what_the_command_would_do(
    bridge: Door, tmp_path: Path
) -> None:
    agent = await bridge.open()
    session = await agent.new(str(tmp_path))
    pushes = [
        {"ask": f"git push {name}", "kind": "execute", "rawInput": {"command": f"git push {name}"}}
        for name in ("a", "b")
    ]
    id = agent.prompt(session, [{"together": pushes}])
    first, second = await asked(agent), await asked(agent)
    assert second["params"]["toolCall"]["title"] == "2 of 2: git push b"
    assert second["params"]["_meta"]["rookery"] == {
        "step": [2, 2],
        "explains": ["Sends data to b (git push)"],
    }
    assert "What this would do:\n\n- Sends data to b" in words(first["params"]["toolCall"]).replace(
        " to a ", " to b "
    )
    call = first["params"]["toolCall"]["toolCallId"]

    async def retitled() -> str:
        def is_title(line: Json) -> bool:
            news = line.get("params", {}).get("update", {})
            return news.get("toolCallId") == call and "title" in news

        line = await agent.until(is_title)
        return str(line["params"]["update"]["title"])

    assert await retitled() == "1 of 2: git push a", "it came alone"
    agent.send(id=first["id"], result=REJECT)
    assert await retitled() == "git push a", "its dialog is over"
    agent.send(id=second["id"], result=REJECT)
    assert (await agent.answer(id))["result"]["stopReason"] == "end_turn"


DONE: Json = {"notify": "elicitation/complete", "params": {"elicitationId": "e1"}}
LINK: Json = {
    "question": "Log in",
    "url": "https://auth.example.com/authorize?x=1",
    "elicitationId": "e1",
    "accepted": [{"text": "in"}, DONE],
    "declined": [{"text": "out"}],
}


async def test_an_editor_that_opens_addresses_gets_the_link_and_its_completion(
    bridge: Door,
) -> None:
    agent = await bridge.open(elicitation={"url": {}})
    session = await agent.new()
    id = agent.prompt(session, [LINK])
    link = await agent.until(is_call("elicitation/create"))
    assert (link["params"]["mode"], link["params"]["url"]) == ("url", LINK["url"])
    agent.send(id=link["id"], result={"action": "accept"})
    done = await agent.until(is_call("elicitation/complete"))
    assert done["params"]["elicitationId"] == link["params"]["elicitationId"]
    await agent.answer(id)
    assert "in" in texts(agent.news(session))


@pytest.mark.parametrize(("option", "said"), [("accept", "in"), ("decline", "out")])
async def test_an_editor_without_links_shows_the_address_in_a_question(
    bridge: Door, option: str, said: str
) -> None:
    agent = await bridge.open()
    session = await agent.new()
    id = agent.prompt(session, [LINK])
    dialog = await asked(agent)
    call = dialog["params"]["toolCall"]
    assert "auth.example.com" in call["title"]
    assert LINK["url"] in words(call)
    outcome = {"outcome": "selected", "optionId": option}
    agent.send(id=dialog["id"], result={"outcome": outcome})
    await agent.answer(id)
    assert said in texts(agent.news(session))
