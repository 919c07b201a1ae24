"""Whatever runs for an agent in a sandbox runs inside: the critic's command, hooks, MCP servers."""

import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from rookery.agent.scripted.server import serving
from rookery.processes import tree
from tests.agent.conftest import SCRIPT, write_settings
from tests.agent.driving import run
from tests.sandbox.cage import ROOT, caged, configure
from tests.worker.aviary import Aviary, text_of
from tests.worker.test_critic import judged, verdicts_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")

SERVER = ROOT / "fixtures" / "mcp_server.py"


def attempt(name: str, outside: Path) -> str:
    """A command that says where it runs, and tries to write elsewhere."""
    return f"readlink /proc/self/ns/mnt > {name}; echo out > {shlex.quote(str(outside))}; true"


def namespace(pid: int | str) -> str:
    return os.readlink(f"/proc/{pid}/ns/mnt")


async def test_the_critics_command_runs_inside(aviary: Aviary) -> None:
    outside = aviary.root / "outside"
    command = json.dumps(attempt("critic", outside))
    configure(aviary, f"[critic]\ncommand = {command}\nrefine = true\n", network="off")
    aviary.trust()
    bird = caged(aviary, script={"otherwise": [{"write": "out.txt", "content": "x"}]})
    [verdict] = verdicts_of(await judged(bird))
    assert verdict["score"] == 1.0
    assert (aviary.work / "critic").read_text().strip() != namespace("self")
    assert not outside.exists()
    begun = await bird.prompt([{"command": "mkdir .git; echo ../evil > .git/commondir"}])
    told = await bird.until(lambda event: "commondir" in str(event.update.get("text")), begun.seq)
    assert "Remove it before you use git" in told.update["text"]


@pytest.mark.long
async def test_hooks_and_mcp_servers_run_inside(aviary: Aviary) -> None:
    """Of Rookery's own agent, which starts cold there. The program and the script of a server are
    visible without being named in the settings."""
    outside = aviary.root / "outside"
    (aviary.root / "person").mkdir()
    server = {"name": "rook", "command": sys.executable, "args": [str(SERVER)], "env": []}
    hook = {"matcher": "*", "hooks": [{"command": attempt("hook", outside)}]}
    with serving(SCRIPT) as model:
        write_settings(Path(aviary.home), model)
        configure(aviary)
        Path(aviary.home, "hooks.json").write_text(json.dumps({"pre_tool_use": [hook]}))
        aviary.trust()
        environment = {**os.environ, "HOME": str(aviary.root / "person")}
        argv = [sys.executable, "-P", "-m", "rookery", "agent"]
        bird = aviary.hatch(
            argv=argv,
            environment=environment | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
            agent="rookery",
            confirm="all",
            sandbox="bwrap",
            mcp_servers=[server],
        )
        events = await bird.turn([run(attempt("tool", outside)), {"text": "Done."}])
        assert "Done." in text_of(events), [event.update for event in events[-4:]]
        servers = [
            row
            for row in tree.descendants(bird.agent.pid)
            if str(SERVER).encode() in Path(f"/proc/{row.pid}/cmdline").read_bytes()
        ]
        assert servers
        assert {namespace(row.pid) for row in servers} & {namespace("self")} == set()
    for name in ("hook", "tool"):
        assert (aviary.work / name).read_text().strip() != namespace("self"), name
    assert not outside.exists()
