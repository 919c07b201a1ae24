"""The header: what of a session outlives its turns."""

from typing import Any

import pytest

from rookery.core.agent.switching import OF_THE_AGENT
from rookery.core.header import EMPTY, Header
from tests.core.making import Json, asked, call, idle, news, play, prompt, running, text, update


def header(*updates: Json) -> Header:
    return play(*updates).header


def test_what_a_session_is_created_with_is_kept() -> None:
    made = {
        "id": "s1",
        "cwd": "/w",
        "roots": ["/a"],
        "mcpServers": [{"name": "m", "command": "c"}],
        "agent": "crow",
        "argv": ["crow", "acp"],
        "created": 5,
    }
    after = header(update("_session", **made), update("_session", pinned=True, archived=True))
    assert {key: after.raw[key] for key in made} == made
    assert (after.pinned, after.archived) == (True, True)


def test_later_choices_are_merged() -> None:
    after = header(update("_session", mode="plan"), update("_session", model="m", effort="high"))
    assert after.wanted == {"mode": "plan", "model": "m", "effort": "high"}


def test_values_of_the_wrong_type_change_nothing() -> None:
    junk = update("_session", id=7, cwd=None, agent=[], created="x", archived=1, title={})
    assert header(junk) == EMPTY


# --- titles ---


PERSON, AGENT = update("_session", title="P"), update("session_info_update", title="A")


@pytest.mark.parametrize(
    ("updates", "title"),
    [
        ([], ""),
        ([prompt("\n  first line \nsecond")], "first line"),
        ([prompt("one"), prompt("two")], "one"),
        ([prompt("one"), AGENT], "A"),
        ([AGENT, prompt("one")], "A"),
        ([AGENT, PERSON], "P"),
        ([PERSON, AGENT, prompt("one")], "P"),
        ([PERSON, AGENT, update("_session", title="")], "A"),
        ([prompt("one"), AGENT, update("session_info_update", title=None)], "one"),
        ([prompt("one"), update("session_info_update", title=None)], "one"),
        ([AGENT, update("session_info_update", title="  ")], "A"),
        ([AGENT, update("session_info_update", updatedAt="x")], "A"),
        ([AGENT, update("session_info_update", title=["B"])], "A"),
    ],
)
def test_the_users_title_comes_before_the_agents_and_the_first_prompt(
    updates: list[Json], title: str
) -> None:
    assert header(*updates).title == title


def test_a_long_title_is_cut_and_says_so() -> None:
    assert header(prompt("x" * 300)).title == "x" * 199 + "…"


# --- the queue ---


def queue(op: str, name: str, **fields: Any) -> Json:
    return update("_queue", op=op, id=name, **fields)


def add(name: str) -> Json:
    return queue("add", name, prompt=[text(name)])


@pytest.mark.parametrize(
    ("updates", "left"),
    [
        ([], "abc"),
        ([queue("remove", "b")], "ac"),
        ([queue("remove", "x")], "abc"),
        ([queue("move", "c", to=0)], "cab"),
        ([queue("move", "a", to=1)], "bac"),
        ([queue("move", "a", to=99)], "bca"),
        ([queue("move", "b", to=-3)], "bac"),
        ([queue("move", "b", to="x")], "bac"),
        ([queue("move", "x", to=0)], "abc"),
        ([queue("edit", "x", prompt=[])], "abc"),
        ([add("a")], "bca"),
        ([prompt("sent", queued=["a", "c"])], "b"),
        ([prompt("not from the queue")], "abc"),
        ([queue("odd", "a")], "abc"),
    ],
)
def test_the_queue_is_kept_in_order(updates: list[Json], left: str) -> None:
    after = header(add("a"), add("b"), add("c"), *updates)
    assert "".join(item["id"] for item in after.queue) == left


def test_an_edited_prompt_keeps_its_place() -> None:
    after = header(add("a"), add("b"), queue("edit", "a", prompt=[text("new")]))
    assert after.queue[0] == {"id": "a", "prompt": [text("new")]}


# --- modes, models, options ---


MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code"}]}
MODELS = {"currentModelId": "m1", "availableModels": [{"modelId": "m1", "name": "One"}]}
CONFIG = [
    {
        "id": "the-mode",
        "name": "Mode",
        "category": "mode",
        "type": "select",
        "currentValue": "plan",
        "options": [{"value": "plan", "name": "Plan"}, {"value": "auto", "name": "Auto"}],
    },
    {
        "id": "model",
        "name": "Model",
        "category": "model",
        "type": "select",
        "currentValue": "big",
        "options": [
            {"group": "g", "name": "G", "options": [{"value": "big", "name": "Big"}]},
            {"group": "h", "name": "H", "options": [{"value": "small"}, {"value": "tiny"}]},
        ],
    },
    {"id": "think", "category": "thought_level", "type": "select", "currentValue": "high"},
    {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": True},
]


def ready(**offers: Any) -> Json:
    return update("_agent", state="ready", name="crow", sessionId="x", **offers)


def test_config_options_come_first() -> None:
    after = header(ready(configOptions=CONFIG, modes=MODES, models=MODELS))
    assert [option["via"] for option in after.options] == ["config"] * 4
    assert (after.mode, after.model, after.effort) == ("plan", "big", "high")
    assert after.options[3]["value"] is True


def test_grouped_choices_are_one_list_in_order() -> None:
    choices = header(ready(configOptions=CONFIG)).options[1]["choices"]
    assert [choice["value"] for choice in choices] == ["big", "small", "tiny"]
    assert [choice["name"] for choice in choices] == ["Big", "small", "tiny"]


def test_modes_and_legacy_models_count_without_options() -> None:
    after = header(ready(modes=MODES, models=MODELS))
    assert [(option["id"], option["via"]) for option in after.options] == [
        ("mode", "mode"),
        ("model", "model"),
    ]
    assert (after.mode, after.model) == ("ask", "m1")
    assert [choice["value"] for choice in after.options[0]["choices"]] == ["ask", "code"]


def test_missing_options_come_from_modes_and_models() -> None:
    after = header(ready(configOptions=CONFIG[1:], modes=MODES, models=MODELS))
    assert [option["via"] for option in after.options] == ["config", "config", "config", "mode"]
    assert (after.mode, after.model) == ("ask", "big")


def test_a_snapshot_of_options_replaces_all_of_them() -> None:
    after = header(
        ready(configOptions=CONFIG), update("config_option_update", configOptions=CONFIG[2:])
    )
    assert [option["id"] for option in after.options] == ["think", "fast"]
    assert (after.mode, after.model, after.effort) == ("", "", "high")


@pytest.mark.parametrize("offers", [{"configOptions": CONFIG}, {"modes": MODES}, {}])
def test_mode_and_mode_option_stay_in_step(offers: Json) -> None:
    changed = update("current_mode_update", currentModeId="auto")
    after = header(ready(**offers), changed)
    assert after.mode == "auto"
    assert [option["value"] for option in after.options if option["category"] == "mode"] == ["auto"]
    without = header(ready(**offers), changed, update("config_option_update", configOptions=[]))
    assert without.mode == "auto", "the session's modes say the same"


def test_a_mode_without_a_name_changes_nothing() -> None:
    after = header(ready(modes=MODES), update("current_mode_update", currentModeId=None))
    assert after.mode == "ask"


# --- the agent ---


def test_a_ready_agent_is_remembered_with_its_session() -> None:
    after = header(ready(capabilities={"loadSession": True}, info={"name": "c"}, how="new"))
    assert after.agent_session == {"name": "crow", "id": "x"}
    assert (after.capabilities, after.info) == ({"loadSession": True}, {"name": "c"})


@pytest.mark.parametrize("state", ["exited", "stopped", "starting", "parked"])
def test_an_agents_end_keeps_its_session(state: str) -> None:
    after = header(ready(), update("_agent", state=state, name="crow"))
    assert after.agent_session == {"name": "crow", "id": "x"}


def test_a_switch_drops_what_belonged_to_the_old_agent() -> None:
    after = header(
        update("_session", id="s", agent="crow", argv=["crow"], title="T"),
        ready(configOptions=CONFIG, capabilities={"a": 1}, info={"b": 1}),
        *(prompt(), running(), call("t"), update("usage_update", used=1, size=2)),
        update("available_commands_update", availableCommands=[{"name": "c"}]),
        update("plan", entries=[{"content": "x"}]),
        *(update("_rate_limit", message="slow"), idle("rate_limited")),
        update("_agent", state="switched", to="jay", argv=["jay"], **{"from": "crow"}),
    )
    assert {key: after.raw[key] for key in OF_THE_AGENT} == {
        key: EMPTY.raw[key] for key in OF_THE_AGENT
    }
    assert (after.usage, after.rate_limit, after.agent_session) == ({}, None, None)
    assert (after.agent, after.argv, after.title, after.turn) == (
        "jay",
        ["jay"],
        "T",
        1,
    )


def test_news_of_the_old_agents_call_is_another_call_after_a_switch() -> None:
    switched = update("_agent", state="switched", to="jay")
    document = play(call("t"), idle(), switched, news("t", status="completed"))
    statuses = [block["status"] for block in document.blocks.values() if block["role"] == "tool"]
    assert statuses == ["unfinished", "done"]


# --- usage, commands, asks ---


def usage(**fields: Any) -> Json:
    return update("usage_update", **fields)


COST = {"amount": 0.5, "currency": "USD"}


@pytest.mark.parametrize(
    ("updates", "after"),
    [
        ([usage(used=1, size=9)], {"used": 1, "size": 9}),
        ([usage(used=1, size=9), usage(used=2)], {"used": 2, "size": 9}),
        (
            [usage(used=1, size=9, cost=COST), usage(used=2, size=9)],
            {"used": 2, "size": 9, "cost": COST},
        ),
        ([usage(used=1, cost=None)], {"used": 1}),
        ([usage(used=True, size="9", cost={"amount": "x"})], {}),
        ([usage(cost={"amount": 1})], {"cost": {"amount": 1, "currency": ""}}),
        ([usage(used=1), update("_context", state="reset")], {}),
        ([usage(used=1), update("_context", state="cleared")], {}),
        ([usage(used=1), update("_context", state="compacted")], {"used": 1}),
    ],
)
def test_usage_is_merged(updates: list[Json], after: Json) -> None:
    assert header(*updates).usage == after


def test_commands_are_replaced_and_those_without_a_name_passed_over() -> None:
    def commands(*given: Any) -> Json:
        return update("available_commands_update", availableCommands=list(given))

    assert header(commands({"name": "a"}), commands({"name": "b"}, {}, 7)).commands == [
        {"name": "b"}
    ]
    assert header(commands({"name": "a"}), commands()).commands == []


def test_open_asks_are_in_the_header_until_they_are_closed() -> None:
    after = header(prompt(), asked("a"), asked("b"), idle(), update("_ask", id="a", state="closed"))
    assert list(after.asks) == ["b"]
    assert after.asks["b"]["block"] in play(prompt(), asked("a"), asked("b")).blocks


def test_a_header_too_large_for_an_op_is_told_in_outline() -> None:
    many = [{"name": f"c{n}", "description": "🪶" * 500} for n in range(100)]
    document = play(update("available_commands_update", availableCommands=many))
    assert document.header.commands == many
    told = document.to_json()["header"]["commands"]
    assert [command["name"] for command in told[:50]] == [f"c{n}" for n in range(50)]
