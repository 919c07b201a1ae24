"""The home's mcp.json: what it means, what is kept of it, and what is said of a broken one."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from rookery.home import mcp, paths

FILES = {"command": "sh", "args": ["-c", "x"], "env": {"KEY": "secret"}}
WEB = {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer t"}}


def write(home: Path, servers: dict[str, Any], **more: Any) -> Path:
    file = home / mcp.FILE
    file.write_text(json.dumps({"mcpServers": servers, **more}))
    return file


def kinds(home: Path) -> dict[str, str]:
    return {server.name: server.kind or server.fault for server in mcp.load(str(home))}


def test_no_file_means_no_servers(tmp_path: Path) -> None:
    assert mcp.load(str(tmp_path)) == []


def test_the_formats_of_other_tools_are_understood(tmp_path: Path) -> None:
    url = "http://localhost/x"
    write(
        tmp_path,
        {
            "a": {"command": "x"},
            "b": {"url": url},
            "c": {"url": "http://localhost/sse"},
            "d": {"url": url, "type": "sse"},
            "e": {"url": url, "transport": "streamable-http"},
            "f": {"httpUrl": url},
            "g": {"command": "x", "type": "stdio"},
        },
    )
    assert kinds(tmp_path) == {
        "a": "stdio",
        "b": "http",
        "c": "sse",
        "d": "sse",
        "e": "http",
        "f": "http",
        "g": "stdio",
    }


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({}, "needs a command, or a url"),
        ("x", "must be an object"),
        ({"command": ["x"]}, "command must be"),
        ({"command": "x", "args": "y"}, "args must be a list"),
        ({"command": "x", "env": {"A": None}}, "env must be an object of strings"),
        ({"url": "ftp://x"}, "must begin with http"),
        ({"url": "http://x", "type": "pigeon"}, "unknown transport 'pigeon'"),
        ({"type": "http"}, "over http needs a url"),
        ({"type": "stdio", "url": "http://x"}, "needs a command"),
    ],
)
def test_a_bad_server_is_named_and_the_others_stay(tmp_path: Path, entry: Any, words: str) -> None:
    write(tmp_path, {"bad": entry, "good": FILES})
    assert words in kinds(tmp_path)["bad"]
    found = mcp.for_agent(mcp.load(str(tmp_path)), {"PATH": "/bin"})
    assert [server["name"] for server in found.servers] == ["good"]
    assert len(found.faults) == 1
    assert found.faults[0].startswith("bad: ")


def test_servers_are_given_in_acps_shape(tmp_path: Path) -> None:
    token = {"url": "https://example.com/mcp", "auth": "t"}
    there = {"command": "x", "cwd": "/srv"}
    write(tmp_path, {"files": FILES, "web": WEB, "there": there, "token": token})
    found = mcp.for_agent(mcp.load(str(tmp_path)), {"PATH": "/bin"})
    assert found.faults == []
    local, web, there, known = found.servers
    assert known == web | {"name": "token"}
    assert local == {
        "name": "files",
        "command": "/bin/sh",
        "args": ["-c", "x"],
        "env": [{"name": "KEY", "value": "secret"}],
    }
    assert web == {
        "type": "http",
        "name": "web",
        "url": "https://example.com/mcp",
        "headers": [{"name": "Authorization", "value": "Bearer t"}],
    }
    assert there["command"] == "/bin/sh"
    assert there["args"][-2:] == ["/srv", "x"]


def test_variables_come_from_the_sessions_environment(tmp_path: Path) -> None:
    write(tmp_path, {"a": {"command": "${P:-/bin/x}", "env": {"K": "<${TOKEN}>"}}})
    servers = mcp.load(str(tmp_path))
    [given] = mcp.for_agent(servers, {"TOKEN": "t"}).servers
    assert (given["command"], given["env"]) == ("/bin/x", [{"name": "K", "value": "<t>"}])
    missing = mcp.for_agent(servers, {"P": "y"})
    assert missing.servers == []
    assert missing.faults == ["a: the variable TOKEN is not set"]


def test_servers_are_enabled_or_disabled(tmp_path: Path) -> None:
    home = str(tmp_path)
    off = {"command": "x", "disabled": True}
    write(tmp_path, {"a": {"command": "x", "enabled": False}, "b": off, "c": {"command": "x"}})
    assert [server.enabled for server in mcp.load(home)] == [False, False, True]
    mcp.set_enabled(home, "b", enabled=True)
    mcp.set_enabled(home, "c", enabled=False)
    assert [server.enabled for server in mcp.load(home)] == [False, True, False]
    assert "disabled" not in mcp.find(home, "b").entry
    on = mcp.for_agent(mcp.load(home), {}).servers
    assert [server["name"] for server in on] == ["b"]


def test_unknown_fields_are_kept(tmp_path: Path) -> None:
    home = str(tmp_path)
    file = write(tmp_path, {"a": {"command": "x", "odd": [1]}}, other={"é": 2})
    mcp.add(home, "b", WEB)
    mcp.set_enabled(home, "a", enabled=False)
    kept = json.loads(file.read_text())
    assert kept["other"] == {"é": 2}
    assert kept["mcpServers"]["a"] == {"command": "x", "odd": [1], "enabled": False}
    mcp.remove(home, "a")
    assert list(json.loads(file.read_text())["mcpServers"]) == ["b"]


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    home = tmp_path / "new"
    mcp.add(str(home), "a", FILES)
    assert stat.S_IMODE((home / mcp.FILE).stat().st_mode) == 0o600
    assert {file.name for file in home.iterdir() if file.is_file()} == {mcp.FILE, paths.FORMAT}


def test_a_symbolic_link_stays_a_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "mine.json"
    elsewhere.write_text("{}")
    (tmp_path / mcp.FILE).symlink_to(elsewhere)
    mcp.add(str(tmp_path), "a", FILES)
    assert (tmp_path / mcp.FILE).is_symlink()
    assert "a" in json.loads(elsewhere.read_text())["mcpServers"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n  "mcpServers": {\n    "a": }\n', "line 3, column 10"),
        ('{"mcpServers":\n []}', "line 1"),
        ("[]", "line 1"),
        ('{"mcpServers": {"a": {},\n "a": {}}}', "line 2: 'a' is there twice"),
        (b'{\n"\xff": 1}', "line 2: not UTF-8"),
        ('{"mcpServers": {},\n "é": 1, "é": 2}', "line 2: 'é' is there twice"),
        ('{"a": ' + "9" * 5000 + "}", "digits"),
    ],
)
def test_a_broken_file_is_named_and_left_alone(
    tmp_path: Path, text: str | bytes, place: str
) -> None:
    file = tmp_path / mcp.FILE
    data = text.encode() if isinstance(text, str) else text
    file.write_bytes(data)
    with pytest.raises(mcp.McpError) as told:
        mcp.add(str(tmp_path), "b", FILES)
    assert str(told.value).startswith(str(file))
    assert place in str(told.value)
    assert file.read_bytes() == data


def test_names_are_checked(tmp_path: Path) -> None:
    home = str(tmp_path)
    mcp.add(home, "a", FILES)
    with pytest.raises(mcp.BadServer, match="--force"):
        mcp.add(home, "a", WEB)
    mcp.add(home, "a", WEB, replace=True)
    assert mcp.find(home, "a").kind == "http"
    for wrong in ("", "a b", "-a", "x" * 65):
        with pytest.raises(mcp.BadServer, match="cannot name"):
            mcp.add(home, wrong, FILES)
    with pytest.raises(mcp.BadServer, match="Known: a"):
        mcp.remove(home, "b")
