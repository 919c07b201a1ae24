"""Plans: one block each in a turn, updated in place, by id or the agent's one list."""

from typing import Any

from rookery.core.view.reduce import fold
from tests.core.making import Json, blocks, idle, log, message, only, pages, play, prompt, update

STEPS = [
    {"content": "read", "status": "completed", "priority": "high"},
    {"content": "write", "status": "pending", "priority": "low"},
]


def planned(name: str, **fields: Any) -> Json:
    return update("plan_update", plan={"planId": name, **fields})


def items(name: str, entries: list[Json]) -> Json:
    return planned(name, type="items", entries=entries)


def markdown(name: str, text: str) -> Json:
    return planned(name, type="markdown", content=text)


def removed(name: str) -> Json:
    return update("plan_removed", planId=name)


def titles(*updates: Json) -> list[str]:
    return [block["title"] for block in blocks(play(prompt(), *updates), "plan")]


def test_a_plan_by_id_is_one_block_that_is_updated_in_place() -> None:
    document = play(prompt(), items("p", STEPS[:1]), message("on it"), items("p", STEPS))
    plan = only(document, "plan")
    assert plan["title"] == "Plan 1/2"
    assert [item["text"] for item in plan["parts"][0]["items"]] == ["read", "write"]
    assert [item["text"] for item in document.header.plan] == ["read", "write"]
    assert [block["role"] for block in blocks(document)] == ["prompt", "plan", "answer"]


def test_several_plans_and_the_one_without_an_id_stay_apart() -> None:
    own = update("plan", entries=STEPS)
    assert titles(items("a", STEPS[:1]), own, items("b", STEPS[1:]), items("a", STEPS)) == [
        *("Plan 1/2", "Plan 1/2", "Plan 0/1")
    ]


def test_a_markdown_plan_is_markdown_and_a_file_a_link() -> None:
    document = play(
        prompt(),
        markdown("m", "# Way\n\n- first"),
        planned("f", type="file", uri="file:///home/dev/plan.md"),
    )
    parts = [block["parts"] for block in blocks(document, "plan")]
    assert parts[0] == [{"type": "markdown", "text": "# Way\n\n- first"}]
    assert parts[1] == [{"type": "link", "uri": "file:///home/dev/plan.md", "name": "plan.md"}]


def test_a_plan_that_becomes_markdown_leaves_no_steps() -> None:
    document = play(prompt(), items("p", STEPS), markdown("p", "as text"))
    assert document.header.plan == []
    assert only(document, "plan")["title"] == "Plan"


def test_a_removed_plan_says_so_where_it_stands() -> None:
    document = play(prompt(), items("p", STEPS), markdown("m", "x"), removed("p"))
    assert [block["title"] for block in blocks(document, "plan")] == ["Plan removed", "Plan"]
    assert document.header.plan == []
    assert titles(removed("never seen")) == ["Plan removed"]
    assert titles(items("p", STEPS), removed("p"), items("p", STEPS)) == [
        "Plan removed",
        "Plan 1/2",
    ]


def test_the_removal_of_another_plan_leaves_the_steps_that_are_shown() -> None:
    document = play(prompt(), markdown("m", "x"), update("plan", entries=STEPS), removed("m"))
    assert len(document.header.plan) == 2
    document = play(prompt(), update("plan", entries=STEPS), update("plan_removed"))
    assert len(document.header.plan) == 2, "which has no id"


def test_a_plan_of_an_earlier_turn_gets_a_block_in_this_one() -> None:
    events = log(
        *(prompt("one"), items("p", STEPS[:1]), idle()),
        *(prompt("two"), items("p", STEPS), idle()),
        *(prompt("three"), removed("p"), idle()),
    )
    plans = [[block["title"] for block in blocks(page, "plan")] for page in pages(events)]
    assert plans == [[], ["Plan 1/1"], ["Plan 1/2"], ["Plan removed"]]


def test_endless_plans_are_not_remembered_for_ever() -> None:
    document = fold(None, log(prompt(), *(markdown(str(n), "x") for n in range(500))))
    assert len(document.header.plans) == 20
