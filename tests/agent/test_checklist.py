"""What tests/acp/test_checklist_*.py states of any agent, shown of our own, over stdio; the driver
holds each line to the schema.

What other files of this folder show at length is named in SHOWN; the rest is here. A process with
the SDK takes seconds to start, so the statements share one.
"""

import json
import re
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent, Json, kinds, texts
from tests.acp.schema import check_message
from tests.acp.test_checklist_sessions import history
from tests.acp.test_checklist_transport import fields
from tests.agent.driving import ALLOW, allow_all, calls, edit, permission, run, stop_reason, words
from tests.agent.test_surroundings import SERVER

pytestmark = pytest.mark.asyncio(loop_scope="session")

MIB = 1024 * 1024
SHOWN = {
    "test_process: test_stdout_is_the_protocol_alone": ["every_line_of_stdout_is_one_message"],
    "test_process: test_the_agent_ends_with_its_stdin": ["the_agent_ends_with_its_stdin"],
    "test_process: test_initialize_is_answered_before_the_sdk_loads": [
        "initialize_answers_with_a_protocol_version",
        "version_1_is_answered_with_version_1",
        "an_unknown_version_is_not_echoed",
        "agent_info_names_the_agent_and_its_version",
        "authentication_method_ids_are_unique",
        "terminal_login_only_where_the_client_offers_it",
    ],
    "test_process: test_without_a_model_new_sessions_say_what_is_missing": [
        "missing_credentials_are_refused_as_such"
    ],
    "test_failures: test_errors_have_a_kind_and_a_remedy": [
        "a_model_error_fails_the_prompt_not_the_session"
    ],
    "test_sessions: test_a_sessions_directory_must_exist": ["relative_paths_are_refused"],
    "test_sessions: test_tools_run_in_the_sessions_directory": [
        "tools_run_in_the_sessions_directory"
    ],
    "test_sessions: test_load_replays_the_whole_conversation": [
        "load_replays_the_whole_conversation"
    ],
    "test_sessions: test_load_works_after_kill_9": ["load_works_after_kill_9"],
    "test_sessions: test_unknown_sessions_are_refused": ["unknown_sessions_are_refused"],
    "test_sessions: test_resume_replays_nothing_and_continues": ["resume_replays_nothing"],
    "test_sessions: test_the_list_comes_in_pages_of_a_hundred": ["the_list_of_sessions_is_paged"],
    "test_sessions: test_close_ends_the_turn_and_the_shell": ["close_cancels_the_turn_in_flight"],
    "test_sessions: test_delete_removes_the_conversation": [
        "delete_takes_a_session_out_of_the_list"
    ],
    "test_sessions: test_modes_and_options_stay_in_step": [
        "the_current_mode_is_one_of_the_modes",
        "setting_an_option_answers_with_all_options",
        "boolean_options_only_where_offered",
        "mode_and_mode_option_stay_in_step",
    ],
    "test_sessions: test_the_model_can_be_switched_in_mid_turn": [
        "modes_and_options_are_set_while_a_turn_runs"
    ],
    "test_surroundings: test_mcp_servers_are_launched_and_their_tools_work": [
        "mcp_servers_reach_the_agent"
    ],
    "test_surroundings: test_a_broken_mcp_server_is_a_notice": [
        "a_broken_mcp_server_does_not_fail_the_session",
        "notices_only_where_offered",
    ],
    "test_prompts: test_every_kind_of_content_reaches_the_model": [
        "content_is_accepted_if_advertised"
    ],
    "test_prompts: test_unsupported_content_is_refused": ["content_is_accepted_if_advertised"],
    "test_prompts: test_a_plan_update_whose_call_completes": ["plan_updates_carry_the_whole_plan"],
    "test_prompts: test_a_prompt_during_a_turn_enters_at_the_next_step": [
        "a_second_prompt_waits_and_breaks_nothing"
    ],
    "test_prompts: test_title_and_usage_are_reported": ["usage_has_used_and_size"],
    "test_permissions: test_the_real_call_is_asked_about_before_it_runs": [
        "a_call_is_announced_before_its_permission_is_asked"
    ],
    "test_permissions: test_a_rejections_reason_reaches_the_model": [
        "a_rejected_call_is_not_carried_out"
    ],
    "test_permissions: test_an_unclear_answer_leaves_the_action_waiting": [
        "an_unclear_permission_answer_is_a_no"
    ],
    "test_judgement: test_a_client_that_hung_up_allows_nothing": [
        "a_client_that_hangs_up_has_allowed_nothing"
    ],
    "test_cancel: test_cancel_while_the_model_speaks": ["cancel_while_the_model_streams"],
    "test_cancel: test_cancel_before_the_first_word": ["cancel_before_the_first_token"],
    "test_cancel: test_cancel_while_a_permission_is_open": ["cancel_while_a_permission_is_open"],
    "test_cancel: test_cancel_while_a_command_runs": ["cancel_while_a_tool_runs"],
    "test_cancel: goes_on": ["history_is_valid_after_a_cancel"],
    "test_checklist: test_text_and_links_are_always_accepted": ["a_prompt_ends_with_a_stop_reason"],
    "test_checklist: test_keys_and_discriminators_are_spelled_as_in_acp": [
        "custom_methods_begin_with_an_underscore"
    ],
    "test_checklist: test_requests_before_initialize_are_refused": [
        "a_last_line_without_newline_is_answered"
    ],
    "test_checklist: test_cancel_request_withdraws_a_prompt": [
        "cancel_request_before_the_prompts_first_step"
    ],
}
"""Where other statements are shown at length, or by the way."""
NEEDLESS = {
    "capabilities_left_out_count_as_unsupported": "in every test the driver offers nothing",
    "a_missing_file_is_written_as_a_new_one": "it reads and writes files by itself",
    "every_terminal_is_released": "it has terminals of its own",
}


async def test_every_statement_is_shown() -> None:
    """Each test of tests/acp/test_checklist_*.py is a statement. What SHOWN points to is there."""
    suite = (Path(__file__).parents[1] / "acp").glob("test_checklist_*.py")
    statements = {name for file in suite for name in statements_of(file)}
    elsewhere = {name for names in SHOWN.values() for name in names} | NEEDLESS.keys()
    assert elsewhere <= statements
    assert statements <= elsewhere | set(statements_of(Path(__file__)))
    for where in SHOWN:
        file, _, name = where.partition(": ")
        assert f"def {name}(" in (Path(__file__).parent / f"{file}.py").read_text(), where


def statements_of(file: Path) -> list[str]:
    return re.findall(r"^async def test_(\w+)\(", file.read_text(), re.MULTILINE)


# --- transport


async def test_lines_are_utf8_without_newlines(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    text = "\U0001f426\u2028\u0000\ufffd end"
    await agent.turn(session, [{"text": text}])
    assert words(agent.news(session)) == text
    await agent.turn(session, [{"text": "lone \ud800 surrogate"}])
    assert words(agent.news(session)).endswith("surrogate")


@pytest.mark.parametrize("id", [0, -1, 2**53, "", "word", "0"])
async def test_an_answer_has_its_requests_id(agent: Agent, id: Any) -> None:
    agent.send(id=id, method="session/list", params={})
    good = await agent.answer(id)
    agent.send(id=id, method="session/new", params={"cwd": "relative", "mcpServers": []})
    bad = await agent.answer(id)
    for answer in (good, bad):
        assert (type(answer["id"]), answer["id"]) == (type(id), id)


async def test_an_answer_has_a_result_or_an_error(agent: Agent) -> None:
    for method in ("_x/unknown", "session/load", "session/prompt", "foo/bar", "session/set_mode"):
        answer = await agent.answer(agent.ask(method))
        assert set(answer) == {"jsonrpc", "id", "error"}
        assert answer["error"]["message"]
    assert set(await agent.answer(agent.ask("session/list"))) == {"jsonrpc", "id", "result"}


async def test_notifications_get_no_answer(agent: Agent) -> None:
    for method in ("initialize", "session/new", "session/prompt", "_x/y", "", "$/z", "foo/bar"):
        agent.notify(method, protocolVersion=1, sessionId="x", prompt=[])
    for params in (None, [1], "x", {}, {"sessionId": 4}):
        agent.send(method="session/cancel", params=params)
    agent.send(id="last", method="_x/last", params={})
    await agent.answer("last")
    assert [line["id"] for line in agent.lines if "id" in line] == ["last"]


async def test_unknown_notifications_are_ignored(agent: Agent, tmp_path: Path) -> None:
    for method in ("_x/y", "foo/bar", "$/progress", "$/cancel_request", "session/update"):
        agent.notify(method, requestId="nothing", any=[1, {"a": None}])
    session = await agent.new(str(tmp_path))
    assert stop_reason(await agent.turn(session, "hi")) == "end_turn"


async def test_unknown_methods_are_refused(agent: Agent) -> None:
    """Logging out is not offered."""
    for method in ("_x/unknown", "foo/bar", "session/unheard", "", "initialize ", "logout"):
        assert await agent.call(method) == -32601


async def test_logout_only_where_advertised(agent: Agent) -> None:
    assert await agent.call("logout") == -32601


async def test_malformed_lines_get_a_parse_error(agent: Agent) -> None:
    for line in (b"{oops", b"\xff\xfe", b'{"jsonrpc":', b'{"a":NaN}', b"[" * 100_000):
        agent.write(line + b"\n")
        answer = await agent.read()
        assert (answer["id"], answer["error"]["code"]) == (None, -32700), line[:20]
    agent.write(b"\n  \r\n")
    assert "sessions" in await agent.call("session/list")


async def test_lines_that_are_no_request_are_invalid(agent: Agent) -> None:
    for line in (b"[]", b"null", b"42", b'"x"', b'{"foo":1}', b"{}"):
        agent.write(line + b"\n")
        answer = await agent.read()
        assert (answer["id"], answer["error"]["code"]) == (None, -32600), line
    assert "sessions" in await agent.call("session/list")


async def test_a_bad_request_breaks_nothing(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    for method in ("new", "load", "resume", "fork", "list", "prompt", "set_mode", "close"):
        for params in ([], "x", 4, {"sessionId": [1], "cwd": 4, "cursor": {}, "prompt": "x"}):
            agent.send(id=f"{method}{params}", method=f"session/{method}", params=params)
            assert "error" in await agent.answer(f"{method}{params}"), (method, params)
    for bad in ([], "text", [4], [{"type": "text"}], [{"type": "alien"}], None):
        assert await agent.call("session/prompt", sessionId=session, prompt=bad) == -32602
    assert stop_reason(await agent.turn(session, "hi")) == "end_turn"


@pytest.mark.parametrize(
    "size", [64 * 1024 + 1, MIB, pytest.param(10 * MIB, marks=pytest.mark.long)]
)
async def test_long_lines_are_accepted(agent: Agent, tmp_path: Path, size: int) -> None:
    assert "sessions" in await agent.call("session/list", _meta={"padding": "x" * size})
    session = await agent.new(str(tmp_path))
    text = [{"type": "text", "text": "x" * size}]
    answer = await agent.answer(agent.ask("session/prompt", sessionId=session, prompt=text))
    assert stop_reason(answer) == "end_turn"
    await agent.call("session/delete", sessionId=session)


@pytest.mark.long
async def test_no_line_is_too_long_for_clients(agent: Agent, tmp_path: Path) -> None:
    """40 MB of a command's output, live and again."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    steps = [run("head -c 40000000 /dev/zero | tr '\\0' x"), {"text": "ok"}]
    assert stop_reason(await agent.turn(session, steps)) == "end_turn"
    await agent.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    assert max(map(len, agent.raw)) < 32 * MIB


async def test_an_unread_stderr_blocks_nothing(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """The driver does not; a server, whose stderr is the agent's, says a megabyte before it serves:
    were that one full, its tool would never be there."""
    loud = "import sys; print('loud ' * 200_000, file=sys.stderr, flush=True)\n"
    (tmp_path / "server.py").write_text(loud + SERVER)
    argv = {"command": sys.executable, "args": [str(tmp_path / "server.py")], "env": []}
    servers = [{"name": "songs", **argv}]
    made = await agent.call("session/new", cwd=str(tmp_path), mcpServers=servers)
    assert stop_reason(await agent.turn(made["sessionId"], "hi")) == "end_turn"
    assert "sing" in str(model.asked[-1].body["tools"])


async def test_keys_and_discriminators_are_spelled_as_in_acp(agent: Agent, tmp_path: Path) -> None:
    """camelCase keys, snake_case words, `_meta` wherever it may stand, no method of our own without
    its mark."""
    allow_all(agent)
    meta: Json = {"_meta": {"ours": {"a": [1]}}}
    made = await agent.call("session/new", cwd=str(tmp_path), mcpServers=[], **meta)
    session = made["sessionId"]
    await agent.turn(session, [run("echo 1"), edit(tmp_path / "a", "x"), {"text": "ok"}])
    link = {"type": "resource_link", "uri": "file:///x", "name": "x", **meta}
    blocks = [{"type": "text", "text": "hi", **meta, "annotations": {"priority": 1}}, link]
    answer = await agent.call("session/prompt", sessionId=session, prompt=blocks, **meta)
    assert answer["stopReason"] == "end_turn"
    words = {"sessionUpdate", "type", "kind", "status", "stopReason", "priority"}
    for line in agent.lines:
        for key, value in fields(line):
            assert re.fullmatch(r"_meta|[a-z][a-zA-Z0-9]*", key), key
            if key in words:
                assert re.fullmatch(r"[a-z][a-z0-9_]*", value), (key, value)
    used = {line["method"] for line in agent.lines if "method" in line}
    assert used == {"session/update", "session/request_permission"}


async def test_no_fields_outside_the_schema(agent: Agent, tmp_path: Path) -> None:
    """Each kind of line passes the schema as it came, and would not with one field more."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    await agent.turn(session, [run("echo 1"), edit(tmp_path / "a", "x"), {"text": "ok"}])
    await agent.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    seen = set()
    for line in agent.lines:
        asked = None if "method" in line else agent.asked[line["id"]]
        check_message(line, asked)
        body = line["result"] if asked else line["params"]
        body = body.get("update", body)
        seen.add(body.get("sessionUpdate") or asked or line["method"])
        body["foreign"] = 1
        with pytest.raises(AssertionError, match="foreign"):
            check_message(line, asked)
    assert seen >= {
        *("session/new", "session/prompt", "session/load", "session/request_permission"),
        *("tool_call", "tool_call_update", "agent_message_chunk", "user_message_chunk"),
        *("usage_update", "session_info_update", "available_commands_update"),
    }


async def test_meta_overrides_no_parameter(agent: Agent, tmp_path: Path) -> None:
    evil = {"cwd": "/evil", "sessionId": "x", "session_id": "x", "prompt": "x", "modeId": "x"}
    made = await agent.call("session/new", cwd=str(tmp_path), mcpServers=[], _meta=evil)
    blocks = [{"type": "text", "text": "good", "_meta": {"text": "evil", "type": "image"}}]
    id = made["sessionId"]
    await agent.call("session/prompt", sessionId=id, prompt=blocks, _meta=evil)
    assert words(agent.news(id)) == "You said: good"
    found = (await agent.call("session/list", cwd=str(tmp_path)))["sessions"]
    assert [entry["cwd"] for entry in found] == [str(tmp_path)]


# --- initialize


async def test_a_second_initialize_keeps_sessions_whole(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    assert "protocolVersion" in await agent.call("initialize", protocolVersion=1)
    assert stop_reason(await agent.turn(session, "two")) == "end_turn"


async def test_requests_before_initialize_are_refused(agent_home: Path) -> None:
    """Nothing is served before `initialize`; a last line without its newline is."""
    from tests.agent.conftest import ARGV, surroundings

    other = await Agent.start(ARGV, environment=surroundings(agent_home), forked=True)
    try:
        for method in ("session/new", "session/list", "session/load", "session/prompt"):
            assert await other.call(method, cwd="/tmp", mcpServers=[], sessionId="x") == -32600
        other.asked[0] = "initialize"
        params = {"protocolVersion": 1}
        line = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        other.write(json.dumps(line).encode())
        assert await other.close() == 0
        assert other.lines[-1]["result"]["protocolVersion"] == 1
    finally:
        await other.kill()


# --- sessions


async def test_new_sessions_have_distinct_ids(agent: Agent, tmp_path: Path) -> None:
    ids = [await agent.new(str(tmp_path)) for _ in range(3)]
    assert all(ids)
    assert len(set(ids)) == 3


async def test_concurrent_sessions_keep_apart(agent: Agent, tmp_path: Path) -> None:
    """Directory and environment of two shells whose turns are open at once."""
    folders = [tmp_path / name for name in ("one", "two")]
    ids = []
    for folder in folders:
        folder.mkdir()
        ids.append(await agent.new(str(folder)))
    steps = [run("export WORD=$PWD; echo here > said"), run("echo $WORD >> said"), {"text": "ok"}]
    allow_all(agent)
    left = {agent.prompt(id, steps) for id in ids}
    while left:
        left.discard((await agent.until(lambda line: line.get("id") in left))["id"])
    for folder in folders:
        assert (folder / "said").read_text().split() == ["here", str(folder)]


async def test_no_update_precedes_its_session_id(agent: Agent, tmp_path: Path) -> None:
    made = agent.ask("session/new", cwd=str(tmp_path), mcpServers=[])
    session = (await agent.answer(made))["result"]["sessionId"]
    assert not [line for line in agent.lines[:-1] if session in str(line)]
    await agent.turn(session, "hi")
    told = [line for line in agent.lines if "available_commands_update" in str(line)]
    assert session in str(told)


async def test_the_whole_replay_precedes_the_loads_answer(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    text = " ".join(map(str, range(1000)))
    await agent.turn(session, [{"text": text}])
    await agent.call("session/close", sessionId=session)
    agent.news()
    id = agent.ask("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    await agent.answer(id)
    assert words(agent.news(session)) == text
    agent.send(id="mark", method="_x/mark", params={})
    await agent.answer("mark")
    assert not history(agent.news(session))


async def test_replayed_calls_keep_their_ids_and_content(agent: Agent, tmp_path: Path) -> None:
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    live: list[Json] = []
    for name in ("a", "b"):
        await agent.turn(session, [edit(tmp_path / name, "x"), {"text": "ok"}])
        live += [entry for entry in history(agent.news(session)) if entry["what"] == "tool"]
    await agent.call("session/close", sessionId=session)
    agent.news()
    await agent.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    told = [entry for entry in history(agent.news(session)) if entry["what"] == "tool"]
    assert told == live
    assert len({entry["toolCallId"] for entry in told}) == 2


async def test_loading_a_live_session_starts_no_second_agent(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "one")
    for _ in range(2):
        await agent.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    agent.news()
    await agent.turn(session, "two")
    assert words(agent.news(session)) == "You said: two"


async def test_sessions_are_listed(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    await agent.turn(session, "hi")
    found = (await agent.call("session/list"))["sessions"]
    assert session in [entry["sessionId"] for entry in found]
    for entry in found:
        assert entry["cwd"].startswith("/")
        assert datetime.fromisoformat(entry["updatedAt"]).tzinfo is not None
    assert (await agent.call("session/list", cwd="/nowhere"))["sessions"] == []


async def test_additional_directories_only_where_advertised(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """Left out at a load: none."""
    more: Json = {"additionalDirectories": ["/tmp/more-of-it"]}
    made = await agent.call("session/new", cwd=str(tmp_path), mcpServers=[], **more)
    session = made["sessionId"]
    await agent.turn(session, "hi")
    found = (await agent.call("session/list", cwd=str(tmp_path)))["sessions"]
    assert found[0]["additionalDirectories"] == ["/tmp/more-of-it"]
    await agent.call("session/close", sessionId=session)
    await agent.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    await agent.turn(session, "hi")
    found = (await agent.call("session/list", cwd=str(tmp_path)))["sessions"]
    assert "additionalDirectories" not in found[0]


# --- prompts


async def test_text_and_links_are_always_accepted(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    session = await agent.new(str(tmp_path))
    link = {"type": "resource_link", "uri": "file:///x", "name": "x"}
    blocks = [link, {"type": "text", "text": "look"}, link]
    answer = await agent.call("session/prompt", sessionId=session, prompt=blocks)
    assert answer["stopReason"] == "end_turn"
    assert str(model.asked[-1].body["messages"][-1]).count("[x](/x)") == 2


async def test_every_update_names_its_session(agent: Agent, tmp_path: Path) -> None:
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    await agent.turn(session, [run("echo 1"), {"text": "ok"}])
    told = {line["params"]["sessionId"] for line in agent.lines if "params" in line}
    assert told == {session}


@pytest.mark.parametrize("times", [5, pytest.param(20, marks=pytest.mark.long)])
async def test_all_updates_precede_the_prompts_answer(
    agent: Agent, tmp_path: Path, times: int
) -> None:
    """By the order of bytes on the pipe, with a large last chunk."""
    session = await agent.new(str(tmp_path))
    text = "one " + " ".join(map(str, range(500))) + " end"
    for _ in range(times):
        seen = len(agent.raw)
        id = agent.prompt(session, [{"text": text, "chunks": 4}])
        await agent.answer(id)
        said = b"".join(agent.raw[seen:])
        assert 0 < said.index(b"one 0") < said.index(b' end"') < said.index(b'"stopReason"')
    agent.news()
    agent.send(id="mark", method="_x/mark", params={})
    await agent.answer("mark")
    assert not texts(agent.news(session))


async def test_tool_call_ids_are_unique_in_a_session(agent: Agent, tmp_path: Path) -> None:
    """Also where the model gives the same id twice."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    announced: list[str] = []
    for number in range(3):
        call = run(f"echo {number}")
        call["call"]["id"] = "same"
        await agent.turn(session, [call, {"text": "ok"}])
        updates = agent.news(session)
        fresh = [u["toolCallId"] for u in updates if u["sessionUpdate"] == "tool_call"]
        assert len(fresh) == 1
        announced += fresh
    assert len(announced) == len(set(announced)) == 3


async def test_paths_are_absolute_and_lines_count_from_one(agent: Agent, tmp_path: Path) -> None:
    allow_all(agent)
    (tmp_path / "old.txt").write_text("a\nb\nc\n")
    session = await agent.new(str(tmp_path))
    view = {"command": "view", "path": str(tmp_path / "old.txt"), "view_range": [2, 3]}
    change = {"command": "str_replace", "path": str(tmp_path / "old.txt")}
    change |= {"old_str": "b", "new_str": "B"}
    steps: list[Json] = [
        edit(tmp_path / "new.txt", "x"),
        {"call": {"name": "file_editor", "arguments": view}},
        {"call": {"name": "file_editor", "arguments": change}},
        {"text": "ok"},
    ]
    await agent.turn(session, steps)
    updates = agent.news(session)
    places = [place for u in updates for place in u.get("locations") or []]
    assert places
    assert all(place["path"].startswith("/") and place.get("line", 1) >= 1 for place in places)
    made, _, changed = calls(updates)
    [diff] = [part for part in made["content"] if part["type"] == "diff"]
    assert diff["oldText"] is None
    [diff] = [part for part in changed["content"] if part["type"] == "diff"]
    assert "b" in diff["oldText"]
    assert "B" in diff["newText"]


async def test_only_client_methods_on_offer_are_called(agent: Agent, tmp_path: Path) -> None:
    """Files and commands are its own affair, whatever the client offers."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    await agent.turn(session, [run("echo 1"), edit(tmp_path / "a", "x"), {"text": "ok"}])
    assert set(agent.requests()) == {"session/request_permission"}


async def test_each_message_has_one_id_live_and_replayed(agent: Agent, tmp_path: Path) -> None:
    """One for each message, the same in every chunk and in the replay."""
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    live: list[str] = []
    for _ in range(2):
        steps = [run("echo 1") | {"text": "a b", "thought": "c d"}, {"text": "e f"}]
        await agent.turn(session, steps)
        chunks = [u for u in agent.news(session) if u["sessionUpdate"].endswith("_chunk")]
        ids = list(dict.fromkeys(chunk["messageId"] for chunk in chunks))
        assert len(ids) == 3
        live += ids
    assert len(set(live)) == 6
    await agent.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    told = [u for u in agent.news(session) if u["sessionUpdate"].startswith("agent_")]
    assert list(dict.fromkeys(u["messageId"] for u in told)) == live


# --- cancel


async def test_no_update_follows_a_cancelled_prompts_answer(agent: Agent, tmp_path: Path) -> None:
    allow_all(agent)
    session = await agent.new(str(tmp_path))
    id = agent.prompt(session, [run("echo on; sleep 600")])
    await agent.until(lambda line: "'in_progress'" in str(line))
    agent.notify("session/cancel", sessionId=session)
    assert stop_reason(await agent.answer(id)) == "cancelled"
    assert calls(agent.news(session))[0]["status"] == "failed"
    for number in range(5):
        agent.send(id=f"mark{number}", method="session/list", params={})
        await agent.answer(f"mark{number}")
    assert kinds(agent.news(session)) == []


async def test_cancel_with_nothing_to_cancel(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    for name in (session, session, "nobody", ""):
        agent.notify("session/cancel", sessionId=name)
    assert stop_reason(await agent.turn(session, "hi")) == "end_turn"


@pytest.mark.parametrize("times", [6, pytest.param(12, marks=pytest.mark.long)])
async def test_cancel_racing_with_the_turns_end(agent: Agent, tmp_path: Path, times: int) -> None:
    session = await agent.new(str(tmp_path))
    for number in range(times):
        id = agent.prompt(session, [{"text": "on"}])
        if number % 3:
            await agent.until(lambda line: "agent_message_chunk" in str(line))
        agent.notify("session/cancel", sessionId=session)
        assert stop_reason(await agent.answer(id)) in ("cancelled", "end_turn")
        assert stop_reason(await agent.turn(session, [{"text": "next"}])) == "end_turn"
    ids = [line["id"] for line in agent.lines if "id" in line and "method" not in line]
    assert len(ids) == len(set(ids))


async def test_cancel_request_withdraws_a_prompt(agent: Agent, tmp_path: Path) -> None:
    session = await agent.new(str(tmp_path))
    id = agent.prompt(session, [run("true")])
    asked = await permission(agent)
    for unknown in ("nothing", 4711, None, [1]):
        agent.notify("$/cancel_request", requestId=unknown)
    agent.notify("$/cancel_request", requestId=id)
    answer = await agent.answer(id)
    assert answer.get("error", {}).get("code") == -32800 or stop_reason(answer) == "cancelled"
    agent.send(id=asked["id"], result=ALLOW)
    assert stop_reason(await agent.turn(session, [{"text": "next"}])) == "end_turn"
