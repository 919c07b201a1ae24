"""Ends of turns, asks, the agent's life and everything else that has a look of its own."""

from typing import Any

import pytest

from rookery.core.json.events import Event
from rookery.core.stop_reasons import REASONS
from tests.core.making import (
    ACP_UPDATES,
    Json,
    asked,
    blocks,
    idle,
    log,
    look,
    message,
    only,
    play,
    prompt,
    running,
    text,
    update,
    watch,
)


@pytest.mark.parametrize("kind", ACP_UPDATES)
def test_no_kind_of_acp_is_shown_raw(kind: str) -> None:
    document = play(update(kind, **ACP_UPDATES[kind]))
    assert not blocks(document, "raw")
    assert document.blocks or document.to_json()["header"] != play().to_json()["header"]


def test_the_notice_of_an_agent_is_shown_whole() -> None:
    block = only(play(update("notice", **ACP_UPDATES["notice"])), "notice")
    assert (block["status"], block["title"], block["text"]) == ("warning", "x", "d")


def here(*sessions: str) -> Json:
    """As a worker tells of others in its directory, in many logs one after the other."""
    return update("_notice", level="info", text=f"{sessions[0]} is here.", sessions=list(sessions))


def test_others_in_the_directory_are_one_line_in_a_turn_and_none_without() -> None:
    document = play(
        *(here("early"), prompt(), running(), here("a"), here("b"), here("a"), here("c", "d")),
        *(idle(), here("later"), prompt(), running(), asked(), here("below the ask")),
    )
    (line,) = blocks(document, "notice")
    assert line["text"] == "4 other sessions are working in this directory."
    assert line["id"].startswith("1."), "it stands in the turn"
    assert [action["window"] for action in line["actions"]] == ["move"]


def test_who_has_a_worktree_is_not_offered_another() -> None:
    tree = {"path": "/w/t", "branch": "rookery/t", "state": "open"}
    document = play(update("_session", worktree=tree), prompt(), running(), here("a"))
    assert only(document, "notice")["actions"] == []


@pytest.mark.parametrize("reason", sorted(REASONS - {"end_turn"}))
def test_every_other_end_is_said_in_words(reason: str) -> None:
    document = play(prompt(), running(), idle(reason, detail="because"))
    block = list(document.blocks.values())[-1]
    calm = reason in ("cancelled", "forced", "waiting")
    assert block["role"] == ("notice" if calm else "error")
    assert block["status"] == reason
    assert block["title"] not in ("", reason)
    assert block["text"].startswith("because")
    assert (document.header.state, document.header.reason) == ("idle", reason)


def test_a_normal_end_needs_no_words() -> None:
    document = play(prompt(), running(), idle("end_turn"))
    assert look(document) == [("prompt", "go")]
    assert (document.header.state, document.header.since) == ("idle", 3000)


def test_a_reason_that_nobody_knows_is_shown_as_it_is() -> None:
    assert look(play(idle("_odd"))) == [("error", "_odd")]


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        ({"code": -32000, "message": "m"}, "Log in to crow"),
        ({"code": 1, "message": "m", "data": {"errorKind": "auth"}}, "Log in to crow"),
        ({"code": 1, "message": "m", "data": {"errorKind": "network"}}, "Check the network"),
        ({"code": 1, "message": "m", "data": {"errorKind": "context"}}, "too long for the model"),
        ({"code": 1, "message": "m", "data": "text"}, "still usable"),
    ],
)
def test_a_failed_turn_shows_the_message_and_the_remedy(error: Json, remedy: str) -> None:
    document = play(update("_session", agent="crow"), prompt(), idle("failed", error=error))
    block = only(document, "error")
    assert block["text"].startswith(("m\n", "m: text\n"))
    assert remedy in block["text"]
    assert document.header.error == error


def test_our_own_agent_says_itself_what_it_lacks() -> None:
    error = {"code": -32000, "message": "Run: rookery setup"}
    document = play(update("_session", agent="rookery"), prompt(), idle("failed", error=error))
    assert only(document, "error")["text"] == "Run: rookery setup"


def test_a_turn_is_running_then_quiet_then_running_again() -> None:
    quiet = update("_turn", state="quiet")
    assert play(prompt(), running(), quiet).header.state == "quiet"
    header = play(prompt(), running(), quiet, running()).header
    assert (header.state, header.since) == ("running", 2000)


def test_a_new_turn_forgets_how_the_last_one_ended() -> None:
    limit = update("_rate_limit", message="slow")
    ended = play(prompt(), running(), limit, idle("rate_limited", error={"code": 1}))
    assert (ended.header.rate_limit, ended.header.error) == (
        {"message": "slow", "block": "1.3"},
        {"code": 1},
    )
    header = play(prompt(), running(), limit, idle("rate_limited"), prompt(), running()).header
    assert (header.rate_limit, header.error, header.reason) == (None, None, "")


@pytest.mark.parametrize(
    ("resets", "words"),
    [("noon", "The limit resets at noon."), (None, "did not say when it resets")],
)
def test_a_rate_limit_says_until_when_and_invents_nothing(resets: Any, words: str) -> None:
    block = only(play(update("_rate_limit", message="slow", resetsAt=resets)), "notice")
    assert block["text"].startswith("slow\n")
    assert words in block["text"]


# --- asks ---


OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "all", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
CALL = {"toolCallId": "t", "title": "Run"}


def selected(option: str) -> Json:
    name = next(each["name"] for each in OPTIONS if each["optionId"] == option)
    return {"outcome": {"outcome": "selected", "optionId": option}, "name": name}


def test_an_ask_offers_the_agents_options_as_finished_commands() -> None:
    document = play(asked(options=OPTIONS, toolCall=CALL))
    block = only(document, "ask")
    assert (block["status"], block["title"]) == ("asked", "Run")
    assert [action["label"] for action in block["actions"]] == ["Allow", "Always", "Reject"]
    command = {"do": "answer", "ask": "a1", "nonce": "n1", "option": "no"}
    assert block["actions"][2]["command"] == command
    assert document.header.asks["a1"]["options"] == OPTIONS


@pytest.mark.parametrize(
    ("closed", "by", "status", "words"),
    [
        ({"outcome": {"action": "accept"}, "name": "accept"}, "cli", "answered", "You answered"),
        ({"outcome": {"action": "decline"}, "name": "decline"}, None, "answered", "Declined"),
        (selected("yes"), "terminal", "answered", "You allowed it"),
        (selected("yes"), "rook", "answered", "Allowed · rook"),
        (selected("all"), "terminal", "answered", "You chose “Always”"),
        (selected("no"), "web:1", "answered", "You rejected it"),
        ({"outcome": {"outcome": "selected"}, "name": "Allow"}, None, "answered", "Allow"),
        ({"outcome": {"outcome": "cancelled"}, "reason": "gone"}, None, "cancelled", "Gone"),
    ],
)
def test_a_closed_ask_says_how_and_by_whom(
    closed: Json, by: str | None, status: str, words: str
) -> None:
    ask = asked(options=OPTIONS, toolCall=CALL)
    events = log(ask, update("_ask", id="a1", state="closed", **closed))
    document = watch([events[0], events[1]._replace(by=by)])
    block = only(document, "ask")
    assert (block["status"], block["text"], block["actions"]) == (status, words, [])
    assert document.header.asks == {}


def test_an_ask_closed_twice_keeps_its_first_outcome() -> None:
    first = update("_ask", id="a1", state="closed", name="Allow", outcome={"outcome": "selected"})
    document = play(asked(), first, {**first, "name": "Reject"})
    assert only(document, "ask")["text"] == "Allow"


def test_a_question_shows_its_form() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    ask = update("_ask", id="q", state="asked", kind="question", message="Who?", schema=schema)
    block = only(play(ask), "ask")
    assert (block["title"], block["parent"]) == ("Who?", None)
    assert block["parts"] == [{"type": "form", "schema": schema}]


# --- the agent ---


def test_a_switch_is_a_divider() -> None:
    switched = update("_agent", state="switched", **{"from": "crow", "to": "jay"})
    assert look(play(switched)) == [("divider", "Switched from crow to jay")]


def test_a_parked_agent_says_why_and_offers_a_retry() -> None:
    lines = [f"line {n}" for n in range(30)]
    parked = update("_agent", state="parked", name="crow", stderr=lines, remedy="Install it.")
    block = only(play(parked), "error")
    assert block["title"] == "crow did not start. Install it."
    assert block["text"].splitlines() == lines[-20:]
    assert block["actions"][0]["command"] == {"do": "restart"}
    assert [action["label"] for action in block["actions"][1:]] == [
        "Show the log",
        "Continue with another agent",
    ]


@pytest.mark.parametrize(
    ("stderr", "title", "text"),
    [
        ([], "crow ended with status 3", ""),
        (["no key"], "crow ended with status 3: no key", ""),
        (["Traceback", "no key"], "crow ended with status 3", "Traceback\nno key"),
    ],
)
def test_an_agent_that_dies_in_a_turn_is_one_block(
    stderr: list[str], title: str, text: str
) -> None:
    begun = update("_session", id="s", agent="crow", cwd="/", created=1)
    died = update("_agent", state="exited", name="crow", status=3, stderr=stderr)
    document = play(begun, prompt(), running(), died)
    assert not [block for block in document.blocks.values() if block["role"] == "notice"]
    document = play(begun, prompt(), running(), died, idle("agent_exited"))
    block = only(document, "error")
    assert (block["title"], block["text"]) == (title, text)
    assert len(block["actions"]) == 4
    parked = update("_agent", state="parked", name="crow", stderr=stderr, remedy="Install it.")
    document = play(begun, prompt(), running(), parked, idle("agent_exited"))
    assert only(document, "error")["title"] == "crow did not start. Install it."


@pytest.mark.parametrize(("status", "shown"), [(0, 0), (None, 0), (1, 1), (-9, 1), ("odd", 1)])
def test_only_a_bad_exit_is_shown(status: Any, shown: int) -> None:
    document = play(update("_agent", state="exited", name="crow", status=status, stderr=["oh"]))
    assert len(document.blocks) == shown
    assert document.header.process["state"] == "exited"


@pytest.mark.parametrize("state", ["starting", "ready", "stopped", "odd"])
def test_the_agents_other_states_are_in_the_header_alone(state: str) -> None:
    document = play(update("_agent", state=state, name="crow", pid=7))
    assert not document.blocks
    assert document.header.process == {"state": state, "name": "crow", "pid": 7}


# --- plans, contexts, notices ---


def test_a_plan_is_one_block_a_turn_that_counts_what_is_done() -> None:
    def plan(*statuses: str) -> Json:
        return update("plan", entries=[{"content": "x", "status": status} for status in statuses])

    document = play(
        *(prompt(), plan("pending"), plan("completed", "in_progress"), idle()),
        *(prompt(), plan("completed", "completed")),
    )
    assert look(document)[1::2] == [("plan", "Plan 1/2"), ("plan", "Plan 2/2")]
    items = blocks(document, "plan")[0]["parts"][0]["items"]
    assert [item["status"] for item in items] == ["completed", "in_progress"]
    assert document.header.plan == blocks(document, "plan")[1]["parts"][0]["items"]


def test_a_plan_of_long_entries_is_cut_not_lost() -> None:
    entries = [{"content": f"{n} " + "🪶" * 5000, "status": "completed"} for n in range(100)]
    part = only(play(update("plan", entries=entries)), "plan")["parts"][0]
    assert [item["text"].split()[0] for item in part["items"]] == [str(n) for n in range(100)]
    assert part["cut"]


@pytest.mark.parametrize(
    ("state", "title"),
    [
        ("reset", "The agent's context was reset"),
        ("cleared", "Cleared"),
        ("compacted", "Context compacted"),
        ("odd", "Context changed"),
    ],
)
def test_a_changed_context_is_a_divider_with_its_reason(state: str, title: str) -> None:
    block = only(play(update("_context", state=state, reason="why")), "divider")
    assert (block["title"], block["text"]) == (title, "why")


@pytest.mark.parametrize("status", ["in_progress", "completed", "failed", "cancelled", "_odd"])
def test_a_compaction_is_a_divider(status: str) -> None:
    document = play(update("compaction_update", compactionId="c", status=status))
    assert "ompact" in only(document, "divider")["title"]


def test_a_compaction_is_one_divider_with_its_summary() -> None:
    def news(**fields: Any) -> Json:
        return update("compaction_update", compactionId="c", **fields)

    chunk = update("compaction_summary_chunk", compactionId="c", content=text("So "))
    more = {**chunk, "content": text("far.")}
    begun = [prompt("go"), message("a"), news(status="in_progress"), chunk, more]
    block = only(play(*begun), "divider")
    assert (block["title"], block["text"]) == ("Compacting the context", "So far.")
    done = news(status="completed", summary=[text("All of it.")])
    block = only(play(*begun, done, message("b")), "divider")
    assert (block["title"], block["text"]) == ("Context compacted", "All of it.")
    assert only(play(*begun, news(status="completed")), "divider")["text"] == "So far."
    failed = only(play(*begun[:3], news(status="failed", error="no room")), "divider")
    assert (failed["title"], failed["text"]) == ("Compaction failed", "no room")
    later = play(*begun, prompt("again"), done)
    assert [block["title"] for block in later.blocks.values() if block["role"] == "divider"] == [
        "Compacting the context",
        "Context compacted",
    ]


def test_a_notice_keeps_its_level_and_its_finished_actions() -> None:
    actions = [{"label": "Go", "command": {"do": "restart"}}, {"label": "no command"}, "junk"]
    block = only(play(update("_notice", level="warn", text="t", actions=actions)), "notice")
    assert (block["status"], block["text"], block["actions"]) == ("warn", "t", actions[:1])


def test_a_rejected_command_says_why() -> None:
    document = play(update("_rejected", command="prompt", reason="queue_full", message="Full."))
    assert look(document) == [("notice", "Full.")]


@pytest.mark.parametrize(
    ("score", "title"),
    [
        (0.876, "Critic ★★★★☆ 0.88"),
        (0.0, "Critic ☆☆☆☆☆ 0.00"),
        (1, "Critic ★★★★★ 1.00"),
        (0.5, "Critic ★★★☆☆ 0.50"),
        *((odd, "Critic: no score") for odd in (None, True, 1.5, -1, 10**400, float("nan"))),
    ],
)
def test_the_critics_score(score: Any, title: str) -> None:
    document = watch([Event(1, 1, None, None, update("_critic", score=score))])
    assert only(document, "notice")["title"] == title


def test_a_kind_that_nobody_knows_is_shown_raw() -> None:
    odd = update("never_heard_of", a=[1])
    block = only(play(odd), "raw")
    assert (block["title"], block["parts"]) == ("never_heard_of", [{"type": "json", "value": odd}])


def test_something_raw_shows_its_value_and_why() -> None:
    block = only(play(update("_raw", source="update", value={"x": 1}, why="forged")), "raw")
    assert (block["title"], block["parts"][0]["value"]) == ("forged", {"x": 1})


@pytest.mark.parametrize("odd", [{}, {"sessionUpdate": 7}, {"sessionUpdate": None}])
def test_an_update_without_a_kind_is_shown_raw(odd: Json) -> None:
    assert look(play(odd)) == [("raw", "an update without a kind")]
