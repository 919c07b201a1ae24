"""What the agent takes from where it is started, and what of it commands see. One process for all
of it: a start without a warm process costs seconds."""

import importlib.util
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from rookery.agent.scripted.server import ScriptedModel
from rookery.processes.lineage import MARK
from tests.acp.driving import Agent
from tests.agent.conftest import ARGV, keep_cold, surroundings
from tests.agent.driving import allow_all, calls, edit, run, shown, stop_reason

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOKEN = "tok-of-the-environment-1"
PASSWORD = "pw-of-a-database-7"
KEY = "sk-of-the-environment-2"


class Placed:
    def __init__(self, agent: Agent, session: str, folder: Path) -> None:
        self.agent = agent
        self.session = session
        self.home = folder / "home"
        self.work = folder / "work"
        self.temporary = folder / "temporary"

    async def told(self, *commands: str) -> list[str]:
        steps = [*map(run, commands), {"text": "ok"}]
        assert stop_reason(await self.agent.turn(self.session, steps)) == "end_turn"
        return [shown(call).strip("`\n") for call in calls(self.agent.news(self.session))]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def placed(
    model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Placed]:
    """Its model's library lies below a folder that has a `.env`, and so has where it works."""
    folder = tmp_path_factory.mktemp("placed")
    for name in ("home/person", "work", "temporary", "above/lib"):
        (folder / name).mkdir(parents=True)
    keep_cold(folder / "home")
    found = importlib.util.find_spec("litellm")
    assert found is not None
    assert found.submodule_search_locations
    (folder / "above/lib/litellm").symlink_to(found.submodule_search_locations[0])
    (folder / "above/.env").write_text(
        "FROM_A_FILE_ABOVE=loaded\nOPENAI_API_KEY=sk-of-a-stranger\n"
    )
    (folder / "work/.env").write_text("FASTMCP_LOG_LEVEL=NONSENSE\nFROM_THE_PROJECT=loaded\n")
    environment = surroundings(
        folder / "home",
        PYTHONPATH=str(folder / "above/lib"),
        TMPDIR=str(folder / "temporary"),
        LLM_MODEL="openai/from-the-environment",
        LLM_API_KEY=KEY,
        LLM_BASE_URL=model.url,
        ROOKERY_CONVERSATIONS=str(folder / "home/elsewhere"),
        MYTOKEN=TOKEN,
        PGPASSWORD=PASSWORD,
        PLAIN="as it is",
        ROOKERY_SOCKET="ours",
        ROOKERY_NONCE="ours",
        ROOKERY_DEBUG="1",
        PROMPT_COMMAND="sleep 1000",
    )
    for name in ("LITELLM_LOCAL_MODEL_COST_MAP", "OPENHANDS_SUPPRESS_BANNER"):
        environment.pop(name, None)  # of the tests' own
    # `env` changes the directory: what is read at import is read there.
    argv = ["/usr/bin/env", "-C", str(folder / "work"), *ARGV, "--override-with-envs"]
    agent = await Agent.start(argv, environment=environment)
    session = await agent.begin(str(folder / "work"))
    allow_all(agent)
    yield Placed(agent, session, folder)
    await agent.kill()


async def test_no_env_file_is_loaded(placed: Placed) -> None:
    """Neither that above the library's package, nor that of the working directory."""
    [said] = await placed.told("echo ${FROM_A_FILE_ABOVE-none} ${FROM_THE_PROJECT-none}")
    assert said.split()[:2] == ["none", "none"]
    for line in Path(f"/proc/{placed.agent.process.pid}/environ").read_bytes().split(b"\0"):
        assert not line.startswith(b"FROM_")


async def test_commands_see_none_of_our_variables(placed: Placed) -> None:
    """But the home, and the marks by which what is left behind is found; and all of the person's
    own as it was."""
    [said] = await placed.told("env; echo plain $PLAIN")
    names = {line.partition("=")[0] for line in said.splitlines()}
    ours = {name for name in names if name.startswith(("ROOKERY_", "RK_"))}
    assert ours <= {MARK, "ROOKERY_HOME", "ROOKERY_TERMINAL"}
    strange = ("LLM_", "OH_", "LITELLM", "OPENHANDS", "TIKTOKEN", "FASTMCP", "PROMPT_", "LOG_")
    found = {name for name in names if name.startswith(strange)}
    assert found <= os.environ.keys(), "a library that a test loaded may have set some"
    assert "AI_AGENT=rookery" in said
    assert {"MYTOKEN", "PGPASSWORD", "PYTHONPATH", "TMPDIR"} <= names
    assert "plain as it is" in said


async def test_secrets_in_the_environment_are_redacted(
    placed: Placed, model: ScriptedModel
) -> None:
    """In what is shown and in what the model is told; commands have them."""
    [said, length] = await placed.told("echo $MYTOKEN $PGPASSWORD", "echo ${#MYTOKEN}")
    assert said.split()[:2] == ["[redacted]", "[redacted]"]
    assert length.split()[0] == str(len(TOKEN))
    for secret in (TOKEN, PASSWORD, KEY):
        assert secret not in str(placed.agent.raw)
        assert secret not in str([asked.body for asked in model.asked])


async def test_the_environment_over_nothing_saved(placed: Placed, model: ScriptedModel) -> None:
    """Used with the flag, never written down; all is kept in the home, and only there."""
    assert len(await placed.told("echo 1")) == 1
    assert model.asked[-1].body["model"] == "from-the-environment"
    assert model.asked[-1].key == KEY
    kept = placed.home / "elsewhere" / placed.session
    assert (kept / "base_state.json").exists()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    for path in [path for path in placed.home.rglob("*") if path.is_file()]:
        assert KEY.encode() not in path.read_bytes(), path
    assert list((placed.home / "person").iterdir()) == []


async def test_no_copy_of_an_edited_file_is_left_behind(placed: Placed) -> None:
    """In the temporary directory, while it runs and after it was killed."""
    note = placed.work / "note.txt"
    note.write_text("words that are nobody's business\n")
    view = {"command": "str_replace", "path": str(note), "old_str": "nobody", "new_str": "some"}
    steps = [
        {"call": {"name": "file_editor", "arguments": view}},
        edit(placed.work / "other.txt", "words that are nobody's business\n"),
        {"text": "ok"},
    ]
    assert stop_reason(await placed.agent.turn(placed.session, steps)) == "end_turn"
    assert "some's" in note.read_text()
    assert os.listdir(placed.temporary) == []
    await placed.agent.kill()
    assert os.listdir(placed.temporary) == []
