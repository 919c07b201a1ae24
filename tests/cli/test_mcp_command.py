"""`rookery mcp`, with real little servers over each transport."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rookery.home import mcp
from tests.cli.driving import rookery

SERVER = str(Path(__file__).parents[2] / "fixtures" / "mcp_server.py")


@contextmanager
def listening(kind: str, *more: str) -> Iterator[str]:
    """The URL of a server that runs."""
    argv = [sys.executable, SERVER, kind, *more]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def added(name: str, *arguments: str) -> None:
    done = rookery("mcp", "add", name, *arguments)
    assert done.code == 0, done.err
    assert f"rookery mcp test {name}" in done.err


@pytest.mark.long
def test_a_server_is_added_listed_shown_switched_and_removed(home: Path) -> None:
    assert "No MCP servers yet" in rookery("mcp", "list").err
    added("files", "--env", "TOKEN=hush", "--", "srv", "-y", "--api-key=hush", "~/notes")
    added("docs", "https://u:hush@example.com/mcp?token=hush&a=1", "--header", "X: hush")
    listed = rookery("mcp", "list").out
    shown = rookery("mcp", "get", "files").out + rookery("mcp", "get", "docs", "--json").out
    assert "hush" not in listed + shown
    assert "srv -y --api-key=••• ~/notes" in listed
    assert "hush" in rookery("mcp", "get", "files", "--reveal").out
    assert rookery("mcp", "disable", "files").code == 0
    states = [json.loads(line) for line in rookery("mcp", "list", "--json").out.splitlines()]
    assert [(each["name"], each["enabled"]) for each in states] == [
        ("files", False),
        ("docs", True),
    ]
    assert rookery("mcp", "enable", "files").code == 0
    assert rookery("mcp", "remove", "docs").code == 0
    assert [each.name for each in mcp.load(str(home))] == ["files"]
    assert mcp.find(str(home), "files").enabled
    assert "mcp enable off" in rookery("mcp", "add", "--disabled", "off", "--", "srv").err
    assert not mcp.find(str(home), "off").enabled


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["add", "a"], "Pass either --url"),
        (["add", "a", "--url", "http://x", "--", "y"], "Pass either --url"),
        (["add", "a", "--url", "http://x", "--env", "A=b"], "--env needs a server with a command"),
        (["add", "a", "--header", "A=b", "--", "y"], "--header needs a server with a URL"),
        (["add", "a", "--env", "nothing", "--", "y"], "KEY=VALUE"),
        (["add", "a b", "--", "y"], "cannot name an MCP server"),
        (["add", "a", "--url", "ftp://x"], "must begin with http"),
        (["add", "taken", "--", "y"], "--force"),
        (["get", "none"], "Known: taken"),
        (["remove", "none"], "Known: taken"),
        (["enable", "none"], "Known: taken"),
        (["test", "none"], "Known: taken"),
        (["test", "--timeout", "0"], "more than 0"),
    ],
)
def test_bad_input_is_reported_and_changes_nothing(
    home: Path, arguments: list[str], words: str
) -> None:
    mcp.add(str(home), "taken", {"command": "x"})
    before = (home / mcp.FILE).read_bytes()
    done = rookery("mcp", *arguments)
    assert done.code == 2
    assert words in done.err
    assert (home / mcp.FILE).read_bytes() == before


def test_a_broken_file_is_named(home: Path) -> None:
    (home / mcp.FILE).write_text('{\n "mcpServers": oops}')
    done = rookery("mcp", "list")
    assert done.code == 1
    assert "mcp.json, line 2, column 16" in done.err


def test_mcp_test_works_over_every_transport(home: Path) -> None:
    added("local", "--", sys.executable, SERVER)
    with listening("http", "--key", "k1") as web, listening("sse") as old:
        added("web", "--url", web, "--header", "Authorization=Bearer k1")
        added("old", "--url", old)
        done = rookery("mcp", "test", "--json")
    assert done.code == 0, done.out
    told = [json.loads(line) for line in done.out.splitlines()]
    assert [each["name"] for each in told] == ["local", "web", "old"]
    for each in told:
        assert (each["server"], each["version"]) == ("rook", "1.2")
        assert each["tools"] == ["peck", "caw"]


@pytest.mark.long
def test_mcp_test_says_what_is_wrong(home: Path) -> None:
    with listening("http", "--key", "k1") as web:
        key = ["--header", "Authorization=Bearer k1"]
        added("no-key", "--url", web)
        added("no-path", "--url", web.replace("/mcp", "/x"), *key)
        added("moved", "--url", web.replace("/mcp", "/moved"), *key)
        added("no-stream", "--url", web, "--transport", "sse", *key)
        added("absent", "--", "rookery-no-such-program")
        added("crash", "--", "sh", "-c", "echo boom >&2; exit 3")
        added("closed", "--url", "http://127.0.0.1:9/mcp")
        added("unset", "--env", "A=${ROOKERY_TEST_NOWHERE}", "--", "sh")
        added("parrot", "--", "cat")
        done = rookery("mcp", "test")
    assert done.code == 1
    said = dict(line.removeprefix("✗ ").split(": ", 1) for line in done.out.splitlines())
    assert "401" in said["no-key"]
    assert "--header" in said["no-key"]
    assert "404" in said["no-path"]
    assert "it is at /mcp" in said["moved"]
    assert "405" in said["no-stream"]
    assert "'rookery-no-such-program' is not on PATH" in said["absent"]
    assert "exit 3" in said["crash"]
    assert "boom" in said["crash"]
    assert "cannot be reached" in said["closed"]
    assert said["unset"] == "the variable ROOKERY_TEST_NOWHERE is not set"
    assert "was refused" in said["parrot"]


def test_a_silent_server_is_given_up_and_ended(home: Path) -> None:
    added("mute", "--", "sleep", "1000")
    done = rookery("mcp", "test", "--timeout", "0.5")
    assert done.code == 1
    assert "was not answered within" in done.out
