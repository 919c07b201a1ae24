"""Import: what an agent replays becomes turns of a log."""

from rookery.core.agent.imported import (
    UNLOADED,
    Listed,
    drafts,
    is_unloaded,
    listed,
    listed_as,
)
from rookery.core.agent.opening import conversations
from rookery.core.fold import advance
from rookery.core.header import EMPTY, Header
from rookery.core.json import Event, Json
from rookery.core.view.fleet import head_of, state_of
from rookery.core.view.reduce import fold
from rookery.core.view.states import standing


def said(kind: str, text: str) -> Json:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


def user(text: str) -> Json:
    return said("user_message_chunk", text)


def agent(text: str) -> Json:
    return said("agent_message_chunk", text)


READY: Json = {"sessionUpdate": "_agent", "state": "ready", "name": "mine", "sessionId": "abc"}
MADE: Json = {"sessionUpdate": "_session", "id": "s", "agent": "mine"}
MADE |= listed_as(Listed("abc", "/w", "A title", ""))


def advanced(header: Header, *updates: Json) -> Header:
    for update in updates:
        header = header.with_(**advance(header, Event(header.turn + 1, 9, None, None, update)))
    return header


def folded(
    *updates: Json, cut: bool = False, beside: Json | None = None
) -> tuple[list[Json], Header]:
    """`beside`: what the agent says while it loads."""
    made = [draft.update for draft in drafts(updates, cut=cut)]
    return made, advanced(EMPTY, MADE, *([beside] if beside else []), READY, *made)


def test_each_prompt_is_a_turn_that_ended_and_its_pieces_are_one() -> None:
    updates, header = folded(user("Fix "), user("it"), agent("Done."), user("And?"), agent("No."))
    prompts = [each["prompt"] for each in updates if each["sessionUpdate"] == "_prompt"]
    assert prompts == [[{"type": "text", "text": "Fix it"}], [{"type": "text", "text": "And?"}]]
    ends = [each for each in updates if each.get("state") == "idle"]
    assert [each["reason"] for each in ends] == ["end_turn", "end_turn"]
    assert (header.turn, header.state, header.title) == (2, "idle", "A title")
    assert header.agent_session == {"name": "mine", "id": "abc"}
    assert header.news == 0, "nothing of it is news"


def test_a_last_prompt_without_an_answer_and_an_answer_without_a_prompt_are_turns() -> None:
    _, header = folded(agent("Hello."), user("Hm"))
    assert (header.turn, header.state) == (2, "idle")


def test_what_was_paid_elsewhere_is_not_spent_here() -> None:
    cost = {"sessionUpdate": "usage_update", "cost": {"amount": 3.5, "currency": "USD"}}
    _, header = folded(user("a"), agent("b"), beside=cost)
    more = {"sessionUpdate": "usage_update", "cost": {"amount": 3.75, "currency": "USD"}}
    assert advanced(header, more).spent["cost"] == {"USD": 0.25}


def test_a_history_that_was_cut_says_so() -> None:
    updates, _ = folded(user("a"), cut=True)
    assert [each["text"] for each in updates if each["sessionUpdate"] == "_notice"] == [
        "The history is too long to import all of it."
    ]


def test_a_session_that_is_not_loaded_says_so_until_it_is() -> None:
    header = advanced(EMPTY, MADE)
    head = head_of(header, 1, 1) | {"unread": False}
    assert is_unloaded(header)
    assert (head["title"], head["last"], head["unloaded"]) == ("A title", UNLOADED, True)
    assert standing(head, state_of(head, awake=False))["condition"] == "not-loaded"
    assert is_unloaded(advanced(header, READY)), "ready comes before the history"
    assert not is_unloaded(advanced(header, READY | {"sessionId": "other"})), "it started over"
    events = [Event(1, 1, None, None, MADE)]
    [block] = fold(None, events).blocks.values()
    assert block["text"].startswith("mine has the history of this session.")
    assert block["actions"] == [{"label": "Load", "command": {"do": "start"}}]
    loaded = [Event(2 + n, 1, None, None, each) for n, each in enumerate(folded(user("a"))[0])]
    blocks = fold(None, [*events, *loaded]).blocks.values()
    assert [each["text"] for each in blocks if each["role"] == "notice"] == []
    assert not head_of(fold(None, [*events, *loaded]).header, 9, 9)["unloaded"]


def test_the_conversation_of_a_session_that_is_not_loaded_is_known() -> None:
    [found] = conversations([Event(1, 1, None, None, MADE)])
    assert (found.agent, found.id, found.deletable) == ("mine", "abc", False)


def test_a_list_that_is_wrong_has_what_is_right_in_it() -> None:
    given = {"sessions": [None, {}, {"sessionId": 7}, {"sessionId": "a", "cwd": 3, "title": "t"}]}
    assert listed(given) == [Listed("a", "", "t", "")]
    assert listed([]) == listed(None) == []
