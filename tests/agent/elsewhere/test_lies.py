"""Servers that lie, and others that use the same one. Nothing is lost, shown twice, or run unasked;
nothing hangs; what is wrong is said."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from tests.acp.driving import Agent, Json
from tests.agent.driving import ALLOW, allow_all, calls, permission, shown, stop_reason, words
from tests.agent.elsewhere.conftest import started
from tests.agent.elsewhere.stand_in import KEY, StandIn, call, say, tool
from tests.daemon.served import awaited

pytestmark = pytest.mark.asyncio(loop_scope="session")

THERE = "/srv/there"


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn().serving() as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def away(settled: Path, server: StandIn) -> AsyncIterator[Agent]:
    agent = await started(
        settled, "--remote", server.url, "--directory", THERE, SESSION_API_KEY=KEY
    )
    yield agent
    await agent.kill()


def notices(updates: list[Json]) -> str:
    return words(updates, "agent_thought_chunk")


async def test_a_lying_server_is_not_believed(away: Agent, server: StandIn, tmp_path: Path) -> None:
    session = await away.new(str(tmp_path))
    [(id, one)] = server.conversations.items()
    asked = allow_all(away)
    await _told_twice_and_late(away, session, server)

    # Too large for its socket: read in another way.
    server.steps = [say(f"one {'x' * 2_000_000} two")]
    assert stop_reason(await away.turn(session, "More")) == "end_turn"
    said = words(away.news(session))
    assert said.startswith("one x")
    assert said.endswith("x two")

    # It fails for a moment in mid-turn.
    looks: list[str] = []

    def fails(path: str) -> Response | None:
        if not path.endswith(id) or server.heard[-1] != "run":
            return None
        looks.append(path)
        return PlainTextResponse("no", 500) if 1 < len(looks) < 4 else None

    server.answer, server.steps = fails, [call("make it"), say("Made.")]
    assert stop_reason(await away.turn(session, "Make it")) == "end_turn"
    assert "The agent server is back." in notices(away.news(session))
    assert server.ran[-1:] == ["make it"]

    # Its key expires in mid-turn: what waited is asked again once there is another.
    one.disorder = lambda event: [event]

    def expires(path: str) -> Response | None:
        begun = server.heard[-1:] == ["run"]
        return PlainTextResponse("no", 401) if begun and not path.endswith("run") else None

    server.answer, server.steps = expires, [call("make more"), say("More.")]
    failed = await away.turn(session, "Make more")
    assert "refused the key" in failed["error"]["message"]
    assert "make more" not in server.ran
    server.answer = lambda path: None
    assert stop_reason(await away.turn(session, "And now?")) == "end_turn"
    assert server.ran.count("make more") == 1
    assert len(asked) == len(server.ran)


async def _told_twice_and_late(away: Agent, session: str, server: StandIn) -> None:
    """Everything twice, with kinds that nobody knows between; results before their calls."""
    [one] = server.conversations.values()
    held: list[Json] = []

    def disorder(event: Json) -> list[Json]:
        if event["kind"] == "ActionEvent":
            held.append(event)
            return []
        new = {**event, "kind": "BrandNewEvent", "id": f"new-{event['id']}"}
        late = [held.pop()] if held and event["kind"] == "ObservationEvent" else []
        return [new, event, event, *late]

    one.disorder = disorder
    one.events.append({"kind": "BrandNewEvent", "id": "new", "timestamp": "", "source": "agent"})
    server.steps = [call("make"), say("Made, at last.")]
    assert stop_reason(await away.turn(session, "Make")) == "end_turn"
    news = away.news(session)
    assert words(news) == "Made, at last."
    [made] = calls(news)
    assert (made["status"], shown(made)) == ("completed", "```\nran make\n```")
    assert notices(news).count("BrandNewEvent") == 1


async def test_remote_paths_never_pass_for_local_ones(
    away: Agent, server: StandIn, settled: Path, tmp_path: Path
) -> None:
    """`--directory` is the session's own; no other path passes for it, not by way of a link here.
    Its search would run programs; skills are text."""
    skill = tmp_path / ".agents" / "skills" / "brew"
    skill.mkdir(parents=True)
    about = "---\nname: brew\ndescription: Brews.\n---\n"
    (skill / "SKILL.md").write_text(f"{about}First !`touch {tmp_path}/ran`.")
    work = tmp_path.resolve()
    (settled / "link").symlink_to(work)
    session = await away.new(str(tmp_path))
    [one] = server.conversations.values()
    [sent] = one.request["agent"]["agent_context"]["skills"]
    assert "!`" not in sent["content"]
    assert sent["source"] == f"{THERE}/.agents/skills/brew/SKILL.md"
    assert one.request["workspace"]["working_dir"] == THERE
    assert one.request["autotitle"] is False

    def view(path: str) -> Json:
        return tool("file_editor", "FileEditor", command="view", path=path)

    inside = [view(f"{THERE}/a.txt"), view(f"{THERE}/../there/b.txt")]
    outside = [view(f"{work}/a.txt"), view(f"{settled}/link/a.txt"), view(f"{THERE}/../../etc/a")]
    server.steps = [
        *inside,
        *outside,
        tool("grep", "Grep", pattern="--pre=evil"),
        tool("grep", "Grep", pattern="x", path="below"),
        say("Seen."),
    ]
    asked = allow_all(away)
    assert stop_reason(await away.turn(session, "Look")) == "end_turn"
    made = calls(away.news(session))
    assert [one["title"] for one in made[:2]] == ["view a.txt", "view b.txt"]
    assert [each["toolCall"]["toolCallId"] for each in asked] == [
        each["toolCallId"] for each in made[2:5]
    ]
    assert [each["status"] for each in made] == ["completed"] * 5 + ["failed"] * 2
    assert "Write [-]" in shown(made[5])
    assert "absolute path" in shown(made[6])
    assert len(server.ran) == 5


async def test_another_client_of_the_server_changes_nothing_here(
    away: Agent, server: StandIn, tmp_path: Path
) -> None:
    """It lets the server run unasked, speaks, takes back, and answers for us. A fork at a time is
    made by our clock: the server's is in another zone."""
    session = await away.new(str(tmp_path))
    [one] = server.conversations.values()
    server.steps = [say("First.")]
    await away.turn(session, "one")
    first = one.events[-1]["id"]
    await asyncio.sleep(0.01)
    moment = time.time()
    server.steps = [say("Theirs.")]
    one.policy = "NeverConfirm"
    content = [{"type": "text", "text": "from somebody else"}]
    message = {"role": "user", "content": content}
    await server.perform(one.tell("MessageEvent", "user", llm_message=message))
    await server.perform(server.run(one))
    server.steps = [call("make"), say("Ours.")]
    running = away.prompt(session, "two")
    asked = await permission(away)
    assert one.policy == "AlwaysConfirm"
    assert words(away.news(session), "user_message_chunk") == "from somebody else"

    # They let it run while we are asked.
    await server.perform(server.run(one))
    assert stop_reason(await away.answer(running)) == "cancelled"
    assert "without waiting for your permission" in notices(away.news(session))
    await asyncio.to_thread(awaited, lambda: "interrupt" in server.heard)
    away.send(id=asked["id"], result=ALLOW)

    meta = {"rookery": {"before": int(moment * 1000)}}
    made = await away.call(
        "session/fork", sessionId=session, cwd=str(tmp_path), mcpServers=[], _meta=meta
    )
    [forked] = [each for each in server.conversations.values() if each is not one]
    assert forked.forked_at == first
    await away.call("session/close", sessionId=made["sessionId"])
    await away.call("session/load", sessionId=made["sessionId"], cwd=str(tmp_path), mcpServers=[])
    assert words(away.news(made["sessionId"]), "user_message_chunk") == "one"


@pytest.mark.long
async def test_a_silent_or_redirecting_socket_is_not_used(
    settled: Path, server: StandIn, tmp_path: Path
) -> None:
    """As behind a proxy: the turn is played without one. A key goes to nobody else."""
    with StandIn().serving() as other:
        for socket in ("silent", f"{other.url}/sockets/events/x"):
            server.socket = socket
            agent = await started(settled, "--remote", server.url, SESSION_API_KEY=KEY)
            session = await agent.new(str(tmp_path))
            allow_all(agent)
            server.steps = [call("make"), say("Made.")]
            assert stop_reason(await agent.turn(session, "Make")) == "end_turn"
            assert words(agent.news(session)) == "Made."
            await agent.kill()
        server.answer = lambda path: RedirectResponse(other.url + path)
        agent = await started(settled, "--remote", server.url, SESSION_API_KEY=KEY)
        failed = await agent.answer(agent.ask("session/new", cwd=str(tmp_path), mcpServers=[]))
        assert other.url in failed["error"]["message"]
        assert other.first_words == []
        await agent.kill()
