"""The session list: heads, one word for each, and the order in which they want a person."""

import pytest

from rookery.core.json.events import dumps, loads
from rookery.core.stop_reasons import REASONS
from rookery.core.view.fleet import fleet_block, head_of, is_unread, others_here, state_of
from rookery.core.view.states import GROUPS, STATES, in_order, label_of, standing
from tests.core.making import Json, asked, idle, play, prompt, running, update

ANSWERED = update("_ask", id="a1", state="answered", given={"option": "yes"}, name="Allow")


def head(*updates: Json, seq: int = 9, at: int = 99) -> Json:
    found = head_of(play(*updates).header, seq, at)
    assert loads(dumps(found)) == found
    return found


def test_a_head_says_what_a_list_needs() -> None:
    entries = [{"content": "x", "status": "completed"}, {"content": "y"}]
    found = head(
        update("_session", id="s1", agent="crow", cwd="/w", created=1, title="T", pinned=True),
        *(prompt(), running(), update("plan", entries=entries), asked()),
        update("_queue", op="add", id="q", prompt=[]),
        update("_agent", state="ready", name="crow", sessionId="x"),
    )
    assert (found["id"], found["title"], found["agent"], found["cwd"]) == ("s1", "T", "crow", "/w")
    assert (found["asks"], found["queue"], found["plan"]) == (1, 1, [1, 2])
    assert (found["state"], found["process"], found["turn"]) == ("running", "ready", 1)
    assert (found["seq"], found["at"], found["pinned"]) == (9, 99, True)


@pytest.mark.parametrize(
    ("updates", "awake", "asleep"),
    [
        ([], "idle", "asleep"),
        ([prompt(), running()], "running", "failed"),
        ([prompt(), running(), update("_turn", state="quiet")], "running", "failed"),
        ([prompt(), running(), asked()], "needs-you", "needs-you"),
        ([prompt(), running(), asked(), idle("waiting")], "needs-you", "needs-you"),
        ([prompt(), running(), asked(), idle("waiting"), ANSWERED], "idle", "asleep"),
        ([prompt(), running(), idle()], "idle", "asleep"),
        ([prompt(), running(), idle("cancelled")], "idle", "asleep"),
        ([prompt(), running(), idle("failed")], "failed", "failed"),
        ([prompt(), running(), idle("rate_limited")], "limited", "limited"),
        ([prompt(), running(), idle("interrupted")], "failed", "failed"),
        ([prompt(), running(), idle("failed"), prompt(), running()], "running", "failed"),
    ],
)
def test_each_session_has_one_word(updates: list[Json], awake: str, asleep: str) -> None:
    found = head(*updates)
    assert state_of(found, awake=True) == awake
    assert state_of(found, awake=False) == asleep


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_every_end_has_a_word_that_is_sorted(reason: str) -> None:
    block = fleet_block(head(prompt(), running(), idle(reason)), awake=True)
    assert block["condition"] in STATES
    assert block["group"] in GROUPS


def test_a_session_without_a_title_says_so() -> None:
    assert fleet_block(head(), awake=False)["title"] == "(no title)"


def test_what_needs_a_person_comes_first_then_what_has_news() -> None:
    heads = [
        head(update("_session", id="asleep"), prompt(), idle()) | {"since": 50},
        head(update("_session", id="old"), prompt(), running()) | {"since": 10},
        head(update("_session", id="new"), prompt(), running()) | {"since": 20},
        head(update("_session", id="asks"), prompt(), running(), asked()) | {"at": 1},
        head(update("_session", id="failed"), prompt(), idle("failed")) | {"at": 1, "unread": True},
    ]
    blocks = [fleet_block(found, awake=found["id"] != "asleep") for found in heads]
    assert [block["id"] for block in in_order(blocks)] == ["asks", "failed", "new", "old", "asleep"]


def test_pinned_sessions_come_first_within_their_state() -> None:
    heads = [
        head(update("_session", id="new")) | {"since": 50},
        head(update("_session", id="pinned", pinned=True)) | {"since": 10},
        head(update("_session", id="runs"), prompt(), running()) | {"at": 1},
    ]
    blocks = [fleet_block(found, awake=True) for found in heads]
    assert [block["id"] for block in in_order(blocks)] == ["runs", "pinned", "new"]


QUEUED = update("_queue", op="add", id="q", prompt=[])
LIMIT = update("_rate_limit", message="slow down", resetsAt=1_800_000_000)


@pytest.mark.parametrize(
    ("updates", "unread", "awake", "asleep", "group"),
    [
        ([], False, "not-begun", "not-begun", "Idle"),
        ([prompt(), running()], False, "running", "failed", "Running"),
        ([prompt(), running(), asked()], True, "needs-you", "needs-you", "Needs you"),
        ([prompt(), running(), idle()], False, "idle", "asleep", "Idle"),
        ([prompt(), running(), idle()], True, "to-read", "to-read", "To read"),
        ([prompt(), running(), QUEUED, idle("cancelled")], True, "held", "held", "Waiting"),
        ([prompt(), running(), idle("failed")], True, "failed", "failed", "Needs you"),
        ([prompt(), running(), idle("failed")], False, "failed", "failed", "Idle"),
        (
            [prompt(), running(), LIMIT, idle("rate_limited")],
            *(False, "limited", "limited", "Waiting"),
        ),
    ],
)
def test_each_session_has_a_condition_and_a_group(
    updates: list[Json], unread: bool, awake: str, asleep: str, group: str
) -> None:
    found = head(*updates) | {"unread": unread}
    block = fleet_block(found, awake=True)
    assert (block["condition"], block["group"]) == (awake, group)
    assert fleet_block(found, awake=False)["condition"] == asleep


def test_a_limit_says_until_when_and_a_held_queue_how_much() -> None:
    found = head(prompt(), running(), LIMIT, idle("rate_limited"))
    assert found["limitedUntil"] == 1_800_000_000_000
    assert head(prompt(), running(), idle())["limitedUntil"] == 0
    assert label_of("limited", until="09:00") == "limited until 09:00"
    assert label_of("limited") == "limited"
    assert label_of("held", queued=3) == "held (3 queued)"
    assert label_of("needs-you") == "needs you"
    assert label_of("of_a_newer-build") == "of a newer build"


def test_a_session_that_needs_you_began_to_when_it_asked() -> None:
    found = head(prompt(), running(), asked(), at=500) | {"unread": True, "awake": True}
    assert found["asked"] > 0
    assert standing(found, "needs-you")["began"] == found["asked"]
    of_earlier_build = {key: value for key, value in found.items() if key != "asked"}
    assert standing(of_earlier_build, "needs-you")["began"] == 500


@pytest.mark.parametrize(
    ("argv", "info", "name"),
    [
        (["crow", "acp"], {"name": "crow-cli", "title": "Crow"}, "Crow"),
        (["crow", "acp"], {"name": "crow-cli"}, "crow-cli"),
        (["crow"], {"title": "  a\x1b[31m\nb  "}, "a␛[31m b"),
        (["crow"], {"title": "x" * 90}, "x" * 39 + "…"),
        (["crow"], {"title": 3, "name": []}, ""),
        ([], {"name": "crow-cli", "title": "Crow"}, ""),
    ],
)
def test_an_agent_of_a_command_line_bears_its_own_name(
    argv: list[str], info: Json, name: str
) -> None:
    begun = update("_session", id="s", agent="crow", argv=argv, cwd="/", created=1)
    found = head(begun, update("_agent", state="ready", name="crow", info=info))
    assert found["agentName"] == name


@pytest.mark.parametrize(
    ("updates", "why"),
    [
        ([idle("failed", error={"message": "No route\nto host"})], "No route"),
        ([idle("orphaned")], "the agent went silent"),
        (
            [
                update("_agent", state="exited", status=1, stderr=["a", "Error: no key", ""]),
                idle("agent_exited"),
            ],
            "the agent exited: Error: no key",
        ),
    ],
)
def test_a_failure_says_why_in_the_list(updates: list[Json], why: str) -> None:
    assert head(prompt(), running(), *updates)["doing"] == why


@pytest.mark.parametrize(
    ("updates", "news"),
    [
        ([], 0),
        ([prompt(), running()], 0),
        ([prompt(), running(), idle()], 3),
        ([prompt(), running(), asked()], 3),
        ([prompt(), running(), idle(), update("usage_update", used=1, size=2)], 3),
        ([prompt(), running(), idle(), prompt(), running()], 3),
        ([prompt(), running(), asked(), idle()], 4),
    ],
)
def test_the_end_of_a_turn_and_an_ask_make_a_session_unread(updates: list[Json], news: int) -> None:
    """Unread until somebody has seen that very event: one before it is not enough."""
    found = head(*updates)
    assert found["news"] == news
    assert not is_unread(found, news)
    assert is_unread(found, news - 1)


def test_the_head_of_an_earlier_build_is_not_unread() -> None:
    found = head(prompt(), running(), idle())
    del found["news"]
    assert not is_unread(found, 0)


def test_a_prompt_brings_an_archived_session_back() -> None:
    archived = update("_session", archived=True)
    assert head(prompt(), running(), idle(), archived)["archived"]
    assert not head(prompt(), running(), idle(), archived, prompt())["archived"]


def test_others_here_are_those_that_work_in_the_same_directory() -> None:
    rows = [
        *(("me", "/w", "running"), ("a", "/w", "running"), ("b", "/w", "needs-you")),
        *(("c", "/w", "idle"), ("d", "/w/below", "running")),
    ]
    assert others_here("me", "/w", rows) == 2
    assert others_here("d", "/w/below", rows) == 0
