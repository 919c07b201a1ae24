"""The servers of the home's mcp.json reach every agent that takes them, and no log."""

import json
from pathlib import Path
from typing import Any

from rookery.core.json.events import kind_of
from rookery.home import mcp
from tests.worker.aviary import Aviary, Bird, Json, text_of

SECRET = "hush-4711"
ASKED: list[Json] = [{"text": "$servers"}]


def notices(bird: Bird) -> list[str]:
    return [event.update["text"] for event in bird.events() if kind_of(event.update) == "_notice"]


def configure(aviary: Aviary, servers: dict[str, Any]) -> None:
    Path(aviary.home, mcp.FILE).write_text(json.dumps({"mcpServers": servers}))
    aviary.trust()


async def test_mcp_servers_are_given_at_every_start_and_kept_out_of_the_log(aviary: Aviary) -> None:
    heard = aviary.root / "heard"
    argv = ["sh", "-c", 'tee -a "$0" | "$@"', str(heard), *aviary.player()]
    own = {"name": "both", "command": "/bin/own", "args": [], "env": []}
    bird = aviary.hatch(argv=argv, mcp_servers=[own])
    stdio = {"command": "/bin/true", "env": {"KEY": SECRET}}
    configure(
        aviary,
        {
            "local": stdio,
            "both": stdio,
            "off": {**stdio, "enabled": False},
            "web": {"url": "http://localhost:1/mcp", "headers": {"X-Key": SECRET}},
        },
    )
    assert text_of(await bird.turn(ASKED)) == "both, local, web"
    await bird.send("restart")
    assert text_of(await bird.turn(ASKED)) == "both, local, web"
    await bird.send("stop")
    await bird.gone(bird.worker)
    configure(aviary, {"later": stdio})
    assert text_of(await bird.turn(ASKED)) == "both, later"
    told = [json.loads(line) for line in heard.read_text().splitlines()]
    openings = [line for line in told if line["method"] in ("session/new", "session/resume")]
    methods = [line["method"] for line in openings]
    assert methods == ["session/new", "session/resume", "session/resume"]
    first = {server["name"]: server for server in openings[0]["params"]["mcpServers"]}
    assert first["both"] == own
    assert first["local"]["env"] == [{"name": "KEY", "value": SECRET}]
    assert first["web"]["headers"] == [{"name": "X-Key", "value": SECRET}]
    assert notices(bird) == []
    await bird.send("stop")
    await bird.gone(bird.worker)
    for file in bird.directory.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file


async def test_unsupported_mcp_servers_are_reported_once(aviary: Aviary) -> None:
    script: Json = {"agent": {"capabilities": {"mcpCapabilities": {"http": True, "sse": None}}}}
    bird = aviary.hatch(script)
    configure(
        aviary,
        {
            "web": {"url": "http://localhost:1/mcp"},
            "stream": {"url": "http://localhost:1/sse"},
            "unset": {"command": "x", "env": {"K": "${ROOKERY_TEST_NOWHERE}"}},
        },
    )
    assert text_of(await bird.turn(ASKED)) == "web"
    await bird.send("restart")
    await bird.turn(ASKED)
    await bird.send("stop")
    await bird.gone(bird.worker)
    await bird.turn(ASKED)
    unset, stream = notices(bird)
    assert unset.startswith("The MCP server unset: the variable ROOKERY_TEST_NOWHERE is not set")
    assert stream == "player does not support MCP servers over sse: it did not get stream."


async def test_a_broken_mcp_file_stops_no_agent(aviary: Aviary) -> None:
    bird = aviary.hatch()
    file = Path(aviary.home, mcp.FILE)
    file.write_text('{"mcpServers": {"a": }}')
    assert text_of(await bird.turn(ASKED)) == ""
    [told] = notices(bird)
    assert f"{file}, line 1, column 22" in told
    configure(aviary, {"a": {"command": "x"}})
    await bird.send("restart")
    assert text_of(await bird.turn(ASKED)) == "a"
