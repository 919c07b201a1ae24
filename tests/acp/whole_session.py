"""One session that does everything a client can see, for statements about every line at once."""

from pathlib import Path
from typing import Any

from tests.acp.driving import Agent, Json

HERE: Json = {"cwd": "/tmp", "mcpServers": []}
ALLOW = {"outcome": {"outcome": "selected", "optionId": "allow"}}
MODES = [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]
OPTIONS = [
    {
        "id": "mode",
        "name": "Mode",
        "category": "mode",
        "type": "select",
        "currentValue": "ask",
        "options": [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}],
    },
    {
        "id": "model",
        "name": "Model",
        "category": "model",
        "type": "select",
        "currentValue": "small",
        "options": [
            {"group": "g", "name": "G", "options": [{"value": "small", "name": "S"}]},
            {"group": "h", "name": "H", "options": [{"value": "big", "name": "B"}]},
        ],
    },
    {"id": "loud", "name": "Loud", "type": "boolean", "currentValue": False},
]
COMMANDS = [{"name": "go", "description": "Go", "input": {"hint": "where"}}]
SCRIPT: Json = {
    "agent": {"modes": MODES, "configOptions": OPTIONS, "commands": COMMANDS},
    "start": {"stderr": "a banner"},
}
STEPS: list[Json] = [
    {"print": "a stray print"},
    {"stderr": "a warning\n", "repeat": 10},
    {"spawn": ["sh", "-c", "echo from a child; echo and on stderr >&2"]},
    {"thought": "Let me think."},
    {"text": "First, second, third.", "chunks": 3},
    {"plan": ["look", "change"], "done": 1},
    {"tool": "Look", "toolCallId": "look", "kind": "search", "locations": [{"path": "a"}]},
    {"tool": {"toolCallId": "look", "status": "completed", "rawOutput": {"hits": 3}}},
    {"ask": "May I?", "kind": "execute", "rawInput": {"command": "ls"}},
    {"read": "a.txt", "content": "text"},
    {"diff": "new.py", "new": "x = 1\n"},
    {"command": "echo hello", "output": "hello\n"},
    {"question": "Which colour?"},
    {"usage": 10, "size": 100, "cost": 0.5},
    {"title": "A whole session"},
    {"mode": "code"},
    {"text": "Done."},
]


async def play_whole_session(agent: Agent, cwd: Path) -> str:
    """Initialize, new, prompt with an ask, options, errors, cancel, list, load, resume, close."""
    agent.answers["session/request_permission"] = lambda _params: ALLOW
    session = await agent.begin(cwd=str(cwd))
    assert (await agent.turn(session, STEPS))["result"]["stopReason"] == "end_turn"
    assert "error" in await agent.turn(session, [{"error": "The model is away."}])
    for call, params in calls(session):
        await agent.call(call, **params)
    running = agent.prompt(session, [{"text": "on"}, {"until": "cancel"}])
    await agent.until(lambda line: "on" in str(line))
    agent.notify("session/cancel", sessionId=session)
    assert (await agent.answer(running))["result"]["stopReason"] == "cancelled"
    for method in ("load", "resume", "close", "delete"):
        result = await agent.call(f"session/{method}", sessionId=session, **HERE)
        assert isinstance(result, dict), (method, result)
    return session


def calls(session: str) -> list[tuple[str, Json]]:
    """Good ones, bad ones and unknown ones."""
    known: Json = {"sessionId": session}
    options: list[tuple[str, Any]] = [("model", "big"), ("model", "none"), ("none", 1)]
    return [
        ("session/set_mode", {**known, "modeId": "ask"}),
        ("session/set_mode", {**known, "modeId": "none"}),
        *(
            ("session/set_config_option", {**known, "configId": id, "value": value})
            for id, value in options
        ),
        ("session/list", {}),
        ("session/list", {"cwd": "/nowhere"}),
        ("session/load", {"sessionId": "nobody", **HERE}),
        ("_x/unknown", {}),
        ("session/prompt", known),
    ]
