"""Every failure that a face can show has the actions that help, from one table."""

from itertools import chain

import pytest

from rookery.cli.output.commands import Commands
from rookery.core.blocks import Document, failures
from rookery.core.blocks.document import Block, make_block
from rookery.core.stop_reasons import REASONS
from rookery.render.lines.view import View
from tests.core.making import Json, blocks, idle, play, prompt, running, update

TABLES = (failures.ENDS, failures.STARTS, failures.MEANWHILE, failures.ERRORS)
WELL = {"end_turn", "cancelled", "forced", "waiting"}
"""Ends that the user wanted, or that an open ask stands for."""
BEGUN = update("_session", id="s", agent="crow", cwd="/", created=1)
OURS = update("_session", id="s", agent="rookery", argv=["rookery", "agent"], cwd="/", created=1)


def failed(kind: str = "", code: int = -32603) -> Json:
    return idle("failed", error={"code": code, "message": "no", "data": {"errorKind": kind}})


def exited(status: int | None = 3, **fields: object) -> Json:
    return update("_agent", state="exited", name="crow", status=status, **fields)


def parked(**fields: object) -> Json:
    return update("_agent", state="parked", name="crow", **fields)


LIMIT = update("_rate_limit", message="slow", prompt=[{"type": "text", "text": "go"}])
IN_TURN = (BEGUN, prompt(), running())
RETRYING = update(
    "notice", title="x", _meta={"rookery": {"retry": {"attempt": 1, "kind": "network"}}}
)
PLAYED: dict[str, tuple[Json, ...]] = {
    **{reason: (*IN_TURN, idle(reason)) for reason in REASONS - WELL - {"rate_limited"}},
    "login": (*IN_TURN, failed("auth")),
    "network": (*IN_TURN, failed("network")),
    "context": (*IN_TURN, failed("context")),
    "no_plan": (*IN_TURN, failed("no_plan")),
    "rate_limited": (*IN_TURN, {**LIMIT, "resetsAt": 4_000_000_000}),
    "parked": (BEGUN, parked(remedy="`rookery logs` shows its output.")),
    "login_needed": (BEGUN, parked(stderr=["please log in"])),
    "missing": (BEGUN, parked(remedy="Program not found. To install it: npm i crow")),
    "worker_died": (BEGUN, parked(reason="worker_died", remedy="It died.")),
    "exited": (BEGUN, exited()),
    "quiet": (*IN_TURN, update("_turn", state="quiet", detail="nothing for 5 min")),
    "servers": (BEGUN, update("notice", title="x", _meta={"rookery": {"failed": "servers"}})),
    "compaction": (
        *IN_TURN,
        update("compaction_update", compactionId="c", status="failed", error="no"),
    ),
}
"""Of each failure, a log that shows it."""
ELSEWHERE = {"unreachable_model", "hung"}
"""Tested where it comes to it: tests/tui/test_status_line.py, tests/tui/test_windows.py."""


def last(document: Document) -> Block:
    found = [*blocks(document, "error"), *blocks(document, "notice"), *blocks(document, "divider")]
    return found[-1]


def labels(names: tuple[str, ...], *, turn: int, own: bool = False) -> list[str]:
    return [each["label"] for each in failures.helping(names, failures.About("crow", own, turn))]


def test_every_action_is_in_use_and_every_name_has_one() -> None:
    used = set(chain.from_iterable(chain.from_iterable(table.values() for table in TABLES)))
    assert used | {"model"} == set(failures.ACTIONS)
    assert all(names for table in TABLES for names in table.values())


def test_every_end_of_a_turn_that_is_not_well_is_in_the_table() -> None:
    assert set(failures.ENDS) >= REASONS - WELL


@pytest.mark.parametrize(
    "kind", sorted({*failures.ENDS, *failures.STARTS, *failures.MEANWHILE} - ELSEWHERE)
)
def test_a_failure_offers_what_its_row_says(kind: str) -> None:
    document = play(*PLAYED[kind])
    rows = {**failures.ENDS, **failures.STARTS, **failures.MEANWHILE}
    wanted = labels(rows[kind], turn=document.header.turn)
    if kind == "rate_limited":
        wanted = ["Retry now", "Continue at the reset", "Continue with another agent"]
    assert [each["label"] for each in last(document)["actions"]] == wanted
    assert wanted


def test_our_own_agent_lacks_a_model_in_the_place_of_a_login() -> None:
    document = play(OURS, prompt(), running(), failed("auth"))
    first = last(document)["actions"][0]
    assert first == {"label": "Set up a model", "window": "model"}
    assert "Change the model" in labels(failures.ENDS["network"], turn=1, own=True)


def test_a_prompt_that_met_a_parked_agent_can_be_sent_again() -> None:
    """The turn's own end says nothing more."""
    actions = last(play(*IN_TURN, parked(remedy="x"), idle("agent_exited")))["actions"]
    assert actions[0]["command"] == {"do": "retry", "turn": 1}
    assert [each["label"] for each in actions] == [
        "Send again",
        "Show the log",
        "Continue with another agent",
    ]


def test_an_agents_notice_brings_no_button_that_ends_or_sends_anything() -> None:
    for kind in failures.MEANWHILE:
        meta = {"rookery": {"failed": kind}}
        block = last(play(BEGUN, update("notice", title="x", _meta=meta)))
        assert [each["label"] for each in block["actions"]] == (
            ["MCP servers"] if kind == "servers" else []
        )


def test_the_command_line_names_a_command_for_each() -> None:
    """A login is in the remedy's own words; a worker that hangs is seen in a face that stays."""
    commands, view = Commands("3f2a"), View(200)._replace(source=True)
    for name, action in failures.ACTIONS.items():
        if name in ("login", "edit", "end", "cancel", "settings", "sessions", "trash", "kill"):
            continue
        block = make_block("1.1", "notice", actions=[action])
        [line] = commands.actions(block, view)
        text = "".join(text for text, _ in line)
        assert text.startswith(f"{action['label']}: rookery "), name
