"""Agents by address: another Rookery, and servers that cannot take a connection up again."""

import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rookery.client import fleet
from rookery.home import paths
from rookery.log.reader import Reader
from tests.conftest import end_all
from tests.rigs.player import player
from tests.rigs.sockets import Endpoint, certificate
from tests.worker.aviary import Aviary, Bird, is_ask, is_idle, is_text, kinds, text_of

CHUNKS = 200
TEXT = " ".join(str(n) for n in range(CHUNKS))
LONG = [{"text": TEXT, "chunks": CHUNKS, "every": 0.01}]


class Far:
    """Another Rookery, with a home of its own and an endpoint of its own."""

    def __init__(self, home: Path, endpoint: Endpoint) -> None:
        self.home = home
        self.endpoint = endpoint

    def sessions(self) -> list[str]:
        return [head["id"] for head in fleet.heads(str(self.home))]

    def prompts(self, session: str) -> int:
        with Reader.open(paths.session_dir(str(self.home), session)) as log:
            return kinds(log.read(0, 1_000_000)).count("_prompt")


@pytest.fixture
async def far(aviary: Aviary, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Far]:
    monkeypatch.setenv("FAR_TOKEN", "secret")
    home = Path(tempfile.mkdtemp(prefix="rk-far-", dir="/tmp"))
    words = json.dumps(player("demo", "--state", str(home / "player")))
    config = f'default_agent = "bird"\n[agents.bird]\ncommand = {words}\n'
    (home / "config.toml").write_text(config)
    try:
        async with Endpoint(str(home), "secret") as endpoint:
            yield Far(home, endpoint)
            for bird in aviary.birds:
                await bird.send("stop")
    finally:
        end_all(home)
        shutil.rmtree(home, ignore_errors=True)


def near(aviary: Aviary, url: str, *lines: str, **fields: Any) -> Bird:
    """A session whose agent is at the address."""
    header = 'headers = { Authorization = { env = "FAR_TOKEN" } }'
    table = ["[agents.far]", f'url = "{url}"', header, *lines]
    Path(aviary.home, "config.toml").write_text("\n".join(table) + "\n")
    aviary.trust()
    return aviary.hatch(argv=[], agent="far", **fields)


def idles(bird: Bird) -> list[str]:
    return [event.update["reason"] for event in bird.events() if is_idle(event)]


async def test_another_rookery_is_an_agent_like_any_other(aviary: Aviary, far: Far) -> None:
    bird = near(aviary, far.endpoint.url)
    said = await bird.turn([{"text": "hello from afar"}])
    assert text_of(said) == "hello from afar"
    assert idles(bird) == ["end_turn"]
    assert bird.record["agentAddress"] == far.endpoint.url
    assert bird.record["agentPid"] == 0
    assert len(far.sessions()) == 1
    log = "".join(json.dumps(event.update) for event in bird.events())
    assert "secret" not in log


async def test_a_link_cut_in_mid_turn_loses_nothing(aviary: Aviary, far: Far) -> None:
    bird = near(aviary, far.endpoint.url)
    begun = await bird.prompt(LONG)
    for part in ("20 ", "60 ", "100 "):
        await bird.until(lambda event, part=part: is_text(event, part), begun.seq)
        far.endpoint.cut()
    await bird.until(lambda event: is_text(event, "120 "), begun.seq)
    await far.endpoint.deafen()
    await asyncio.sleep(1)
    await far.endpoint.listen()
    await bird.ended(begun)
    assert text_of(bird.events()) == TEXT
    assert idles(bird) == ["end_turn"]
    (session,) = far.sessions()
    assert far.prompts(session) == 1


async def test_a_remote_agents_ask_is_answered_here(aviary: Aviary, far: Far) -> None:
    bird = near(aviary, far.endpoint.url)
    steps = [{"ask": "May I?", "allowed": [{"text": "allowed"}], "rejected": [{"text": "no"}]}]
    begun = await bird.prompt(steps)
    ask = (await bird.until(is_ask, begun.seq)).update
    far.endpoint.cut()
    allow = next(each["optionId"] for each in ask["options"] if each["kind"] == "allow_once")
    await bird.answer(ask, allow)
    await bird.ended(begun)
    assert text_of(bird.events()) == "allowed"


async def test_a_server_that_cannot_resume_counts_as_an_exited_agent(
    aviary: Aviary, far: Far
) -> None:
    far.endpoint._resumes = False
    bird = near(aviary, far.endpoint.url)
    begun = await bird.prompt(LONG)
    await bird.until(lambda event: is_text(event, "20 "), begun.seq)
    far.endpoint.cut()
    ended = await bird.ended(begun)
    assert ended.update["reason"] == "agent_exited"
    assert "was lost" in ended.update["detail"]
    (session,) = far.sessions()
    before = len(bird.events())
    said = await bird.turn([{"text": "again"}])
    assert text_of(said).endswith("again")
    assert "_context" not in kinds(bird.events()[before:])
    assert far.sessions() == [session]


async def test_an_address_where_nobody_answers_is_reported(
    aviary: Aviary, far: Far, monkeypatch: pytest.MonkeyPatch
) -> None:
    aviary.configure()
    await far.endpoint.deafen()
    try:
        bird = near(aviary, far.endpoint.url, "[worker]", "start_timeout = 1")
        (ended,) = [e for e in await bird.turn("hello") if is_idle(e)]
        assert ended.update["reason"] == "agent_exited"
        assert "cannot be reached" in ended.update["detail"]
    finally:
        await far.endpoint.listen()
    # Another Rookery's session has to start there: a second is not enough on a busy machine.
    config = Path(aviary.home, "config.toml")
    config.write_text(config.read_text().replace("start_timeout = 1", "start_timeout = 60"))
    aviary.trust()
    assert text_of(await bird.turn([{"text": "there now"}])) == "there now"


async def test_a_refused_connection_says_why(aviary: Aviary, far: Far) -> None:
    missing = {key: value for key, value in os.environ.items() if key != "FAR_TOKEN"}
    bird = near(aviary, far.endpoint.url, environment=missing)
    (ended,) = [e for e in await bird.turn("hello") if is_idle(e)]
    assert "FAR_TOKEN, and that is not set" in ended.update["detail"]
    wrong = near(aviary, far.endpoint.url, environment={**os.environ, "FAR_TOKEN": "wrong"})
    (ended,) = [e for e in await wrong.turn("hello") if is_idle(e)]
    assert "401" in ended.update["detail"]
    assert "wrong" not in ended.update["detail"]


async def test_a_remote_agent_over_tls_with_a_token_file(
    aviary: Aviary, far: Far, tmp_path: Path
) -> None:
    made, token = certificate(tmp_path), tmp_path / "token"
    token.write_text("secret\n")
    token.chmod(0o644)
    await far.endpoint.deafen()
    await far.endpoint.listen(made.context())
    table = [f'url = "{far.endpoint.url}"', f'fingerprint = "sha256:{made.fingerprint}"']
    table += [f'headers = {{ Authorization = {{ file = "{token}" }} }}']
    Path(aviary.home, "config.toml").write_text("\n".join(["[agents.far]", *table]) + "\n")
    aviary.trust()
    bird = aviary.hatch(argv=[], agent="far")
    (ended,) = [e for e in await bird.turn("hello") if is_idle(e)]
    assert f"chmod 600 {token}" in ended.update["detail"]
    token.chmod(0o600)
    assert text_of(await bird.turn([{"text": "over TLS"}])) == "over TLS"


async def test_a_remote_agent_sees_no_local_files_unless_offered(aviary: Aviary, far: Far) -> None:
    """The far agent gets its own directory, and no file of this machine."""
    there = far.home / "project"
    there.mkdir()
    bird = near(aviary, far.endpoint.url, f'cwd = "{there}"')
    assert text_of(await bird.turn([{"text": "in $cwd"}])) == f"in {there}"
    (head,) = fleet.heads(str(far.home))
    assert head["cwd"] == str(there)


@pytest.mark.long
async def test_agents_and_doctor_say_whether_the_address_answers(
    aviary: Aviary, far: Far, monkeypatch: pytest.MonkeyPatch
) -> None:
    near(aviary, far.endpoint.url)
    listed = (await _rookery("agents", "--json")).splitlines()
    found = next(each for each in map(json.loads, listed) if each["name"] == "far")
    assert found["address"] == far.endpoint.url
    assert found["installed"]
    assert found["starts"]
    assert found["version"]
    assert far.endpoint.url in await _rookery("agents")
    card = json.loads(await _rookery("doctor", "far", "--json"))
    assert card["usable"]
    assert "secret" not in json.dumps(card)
    monkeypatch.setenv("FAR_TOKEN", "wrong")
    assert "401" in await _rookery("doctor", "far", code=1)
    assert "does not respond" in await _rookery("agents")
    explained = await _rookery("config", "show")
    assert far.endpoint.url in explained
    assert "secret" not in explained.replace("webhook_secret", "")  # a setting's name


async def test_a_session_switches_to_a_remote_agent_and_is_deleted_there(
    aviary: Aviary, far: Far
) -> None:
    bird = near(aviary, far.endpoint.url)
    await bird.turn([{"text": "one"}])
    await bird.send("switch", agent="demo")
    assert idles(bird) == ["end_turn"]
    await _rookery("rm", "--yes", "--permanently", bird.id)
    aviary.birds.clear()
    assert far.sessions() == []


async def _rookery(*words: str, code: int = 0) -> str:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "rookery", *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, complained = await process.communicate()
    assert process.returncode == code, said.decode() + complained.decode()
    return said.decode()
