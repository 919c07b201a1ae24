"""Import: what an agent replays becomes turns of a log."""

from rookery.core.agent.imported import History, Listed, drafts, listed
from rookery.core.empty_header import EMPTY
from rookery.core.header import advance
from rookery.core.json import Event, Json


def said(kind: str, text: str) -> Json:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


def user(text: str) -> Json:
    return said("user_message_chunk", text)


def agent(text: str) -> Json:
    return said("agent_message_chunk", text)


READY: Json = {"name": "claude", "sessionId": "abc", "capabilities": {"loadSession": True}}


def folded(*updates: Json, **history: object) -> tuple[list[Json], Json]:
    made = drafts(History(list(updates), **history), READY, "A title")  # type: ignore[arg-type]
    header = EMPTY
    for seq, draft in enumerate(made, 1):
        header = {**header, **advance(header, Event(seq, seq, None, None, draft.update))}
    return [draft.update for draft in made], header


def test_each_prompt_is_a_turn_that_ended_and_its_pieces_are_one() -> None:
    updates, header = folded(user("Fix "), user("it"), agent("Done."), user("And?"), agent("No."))
    prompts = [each["prompt"] for each in updates if each["sessionUpdate"] == "_prompt"]
    assert prompts == [[{"type": "text", "text": "Fix it"}], [{"type": "text", "text": "And?"}]]
    ends = [each for each in updates if each.get("state") == "idle"]
    assert [each["reason"] for each in ends] == ["end_turn", "end_turn"]
    assert (header["turn"], header["state"], header["title"]) == (2, "idle", "A title")
    assert header["agentSession"] == {"name": "claude", "id": "abc"}
    assert header["process"]["state"] == "stopped"


def test_a_last_prompt_without_an_answer_and_an_answer_without_a_prompt_are_turns() -> None:
    _, header = folded(agent("Hello."), user("Hm"))
    assert (header["turn"], header["state"]) == (2, "idle")


def test_what_was_paid_elsewhere_is_not_spent_here() -> None:
    cost = {"sessionUpdate": "usage_update", "cost": {"amount": 3.5, "currency": "USD"}}
    _, header = folded(user("a"), agent("b"), cost)
    more = {"sessionUpdate": "usage_update", "cost": {"amount": 3.75, "currency": "USD"}}
    header = {**header, **advance(header, Event(99, 99, None, None, more))}
    assert header["spent"]["cost"] == {"USD": 0.25}


def test_what_was_left_out_is_said() -> None:
    updates, _ = folded(user("a"), strange=2, cut=True)
    words = [each["text"] for each in updates if each["sessionUpdate"] == "_notice"]
    assert words[0].startswith("The history is too long")
    assert words[1] == "Skipped 2 updates of another session."


def test_a_list_that_is_wrong_has_what_is_right_in_it() -> None:
    given = {"sessions": [None, {}, {"sessionId": 7}, {"sessionId": "a", "cwd": 3, "title": "t"}]}
    assert listed(given) == [Listed("a", "", "t", "")]
    assert listed([]) == listed(None) == []
