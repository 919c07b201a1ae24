"""What an agent says again is not logged again, and nothing that is new is taken for old."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.agent.repeats import PastTurn, Repeats
from tests.core.hostile import foreign_json, junk
from tests.core.making import Json, asked, call, message, news, text, update


class Talk:
    """Earlier turns as the log has them, and a stored session that was opened again."""

    def __init__(self, *turns: tuple[str, list[Json]], stored: bool = True) -> None:
        self.turns = turns
        self.repeats = Repeats(self.past, self.page)
        self.repeats.opened(stored=stored)

    def past(self) -> list[PastTurn]:
        return [PastTurn(n, [text(words)]) for n, (words, _) in enumerate(self.turns)]

    def page(self, n: int) -> list[Json]:
        return self.turns[n][1]

    def hear(self, *updates: Json) -> list[Json]:
        """What of it is news."""
        return [news for each in updates for news in self.repeats.take(each)]

    def sent(self, words: str) -> None:
        self.repeats.sent([text(words)])


def said(words: str) -> Json:
    return message(words, "user_message_chunk")


ONE = ("one", [message("Fir"), message("st."), call("t1"), news("t1", status="completed")])
TWO = ("two", [message("hm", "agent_thought_chunk"), message("Second.")])


def replay(*turns: tuple[str, list[Json]]) -> list[Json]:
    return [each for words, told in turns for each in (said(words), *told)]


def test_an_echo_of_the_turns_prompt_is_dropped() -> None:
    talk = Talk(stored=False)
    talk.sent("fix  it\n")
    assert talk.hear(said("fix it"), message("I do"), said("fix it")) == [message("I do")]
    assert talk.hear(said("fix that")) == [said("fix that")]
    talk.sent("and then?")
    assert talk.hear(said("fix it"), said("and then?")) == [said("fix it")]


def test_an_echo_in_blocks_or_with_attachments_is_dropped() -> None:
    talk = Talk(stored=False)
    link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
    talk.repeats.sent([text("look"), text("here"), link])
    for content in (text("look"), text("here"), text("look\nhere"), link):
        assert not talk.hear(update("user_message_chunk", content=content))
    assert not talk.hear(said("look\nhere\npath: /a\ncontent: x"))
    assert talk.hear(said("lo"))
    talk.repeats.steered([text("no, there")])
    assert not talk.hear(said("no, there"))


@pytest.mark.parametrize("running", [False, True])
def test_a_late_history_is_recognised(running: bool) -> None:
    talk = Talk(ONE, TWO)
    if running:
        talk.sent("three")
    live = [message("Third."), call("t9"), news("t9", status="completed")]
    assert talk.hear(*replay(ONE, TWO), *live) == live


def test_a_prompt_sent_during_a_late_history_is_recognised() -> None:
    """crow begins to tell it after its answer to session/load; the person does not wait."""
    talk = Talk(ONE, TWO)
    told = replay(ONE, TWO)
    assert not talk.hear(*told[:3])
    talk.sent("three")
    assert talk.hear(*told[3:], message("Third.")) == [message("Third.")]


def test_a_history_with_other_call_id_prefixes_is_recognised() -> None:
    """crow: `8f1c/call_1a2b3c` is `replay/3/call_1a2b3c` when it is told again."""
    first, again = "8f1c/call_1a2b3c", "replay/3/call_1a2b3c"
    turn = ("one", [call(first), news(first, status="completed"), message("First.")])
    talk = Talk(turn, TWO)
    talk.sent("three")
    told = [said("one"), call(again), news(again, status="completed"), message("First.")]
    live = [call("9a/call_9d9d9d"), call("replay/4/1")]
    assert talk.hear(*told, *replay(TWO), *live) == live


def test_a_history_in_other_pieces_or_incomplete_is_recognised() -> None:
    talk = Talk(ONE, TWO)
    talk.sent("three")
    told = [said("one"), message("First."), call("t1", status="completed")]
    assert not talk.hear(*told, said("two"), message("Second."), said("three"))
    assert talk.hear(message("Second.")) == [message("Second.")]


def test_a_history_with_the_same_prompt_twice_is_recognised() -> None:
    again = [("go on", [message(f"Step {n}.")]) for n in range(5)]
    talk = Talk(*again)
    talk.sent("stop")
    assert talk.hear(*replay(*again[2:]), message("Step 1.")) == [message("Step 1.")]


def test_a_replayed_call_known_from_an_ask_is_recognised() -> None:
    asks = ("one", [asked(toolCall={"toolCallId": "t1", "title": "x"})])
    talk = Talk(asks, TWO)
    talk.sent("three")
    assert not talk.hear(said("one"), call("t1", status="completed"), *replay(TWO))


def test_new_words_like_old_ones_are_news() -> None:
    """No replay: nothing is old that was not led in by an earlier prompt."""
    talk = Talk(ONE, TWO)
    talk.sent("three")
    live = [*ONE[1], *TWO[1]]
    assert talk.hear(*live) == live


def test_a_repeated_prompt_is_an_echo_and_its_answer_is_news() -> None:
    talk = Talk(ONE, TWO)
    talk.sent("one")
    assert [*talk.hear(*replay(ONE)), *talk.repeats.release()] == ONE[1]


def ended(turn: tuple[str, list[Json]]) -> list[Json]:
    """As agents tell it again: message by message, each call with its end."""
    words = "".join(each["content"]["text"] for each in turn[1] if "content" in each)
    calls = [
        each | {"status": "completed"} for each in turn[1] if each["sessionUpdate"] == "tool_call"
    ]
    return [said(turn[0]), message(words), *calls]


@pytest.mark.parametrize("echo", [False, True])
def test_a_late_history_during_an_equal_prompt_is_recognised(echo: bool) -> None:
    """Known by a call that is announced as ended; the answer after it, in the same words, is
    news."""
    again = [("one", [message("Fir"), message("st."), call(f"t{n}")]) for n in range(3)]
    talk = Talk(*again)
    talk.sent("one")
    live = [message("Fir"), message("st."), call("t9"), news("t9", status="completed")]
    heard = talk.hear(*(each for turn in again for each in ended(turn)))
    assert heard == []
    assert talk.hear(*([said("one")] if echo else []), *live) == live
    assert talk.repeats.release() == []


def test_a_late_history_is_recognised_by_the_next_prompt() -> None:
    talk = Talk(("one", [message("Yes.")]), ("two", [message("No.")]))
    talk.sent("one")
    assert talk.hear(*replay(*talk.turns)) == []
    assert talk.hear(message("Yes.")) == [message("Yes.")]


def test_a_late_history_is_recognised_by_message_ids() -> None:
    name = "0123456789abcdef"
    talk = Talk(("one", [message("Yes.", messageId=name)]))
    talk.sent("one")
    assert talk.hear(said("one"), message("Yes.", messageId=name)) == []
    talk = Talk(("one", [message("Yes.", messageId="1")]))
    talk.sent("one")
    assert talk.hear(said("one"), message("Yes.", messageId="1")) == []
    assert talk.repeats.release() == [message("Yes.", messageId="1")], "that may be a new count"


def test_held_updates_are_news_when_the_turn_ends() -> None:
    talk = Talk(ONE, TWO)
    talk.sent("two")
    assert talk.hear(said("two"), *TWO[1]) == []
    assert talk.repeats.doubts
    assert talk.repeats.release() == TWO[1]
    assert not talk.repeats.doubts


pieces = st.lists(
    st.sampled_from([message("Fir"), message("st."), message("x"), call("t1"), said("one")])
    | st.sampled_from([news("t1", status="completed"), message("hm", "agent_thought_chunk")]),
    max_size=8,
)


@given(pieces)
def test_no_word_of_an_equal_turn_is_lost_without_a_replay(live: list[Json]) -> None:
    """Whatever it says again: echoes of the prompt are all that is dropped."""
    talk = Talk(ONE, TWO, ONE)
    talk.sent("one")
    heard = [*talk.hear(said("one"), *live), *talk.repeats.release()]
    assert heard == [each for each in live if each != said("one")]


def test_interrupted_work_may_be_done_once_more() -> None:
    """The agent knows the last prompt and not what it had begun: it begins anew, the same way."""
    killed = ("two", [message("Let me "), message("loo"), call("t1", status="in_progress")])
    talk = Talk(ONE, killed)
    talk.sent("go on")
    live = [message("Let me "), message("look."), call("t1", status="in_progress")]
    assert talk.hear(*replay(ONE), said("two"), *live) == live


def test_a_message_is_recognised_by_its_id_in_any_pieces() -> None:
    told = [message("Let me "), message("loo")]
    talk = Talk(ONE, ("two", [each | {"messageId": "m2"} for each in told]))
    talk.sent("go on")
    again = [message(words, messageId="m2") for words in ("Let", " me l", "oo")]
    live = [message(words, messageId="m3") for words in ("Let", " me l", "ook")]
    assert talk.hear(said("two"), *again, *live) == live


def test_after_the_first_turn_nothing_is_late() -> None:
    talk = Talk(ONE, TWO)
    talk.sent("three")
    talk.sent("four")
    assert talk.hear(*replay(ONE)) == replay(ONE)


def test_a_new_session_has_no_history() -> None:
    talk = Talk(ONE, stored=False)
    talk.sent("three")
    assert talk.hear(*replay(ONE)) == replay(ONE)


odd = st.fixed_dictionaries(
    {
        "sessionUpdate": st.sampled_from(
            ["user_message_chunk", "agent_message_chunk", "tool_call", "tool_call_update", "plan"]
        )
    },
    optional={
        "content": foreign_json | st.just(text("one")) | st.just(text("First.")),
        "toolCallId": foreign_json,
        "entries": foreign_json,
        "status": foreign_json,
    },
)


@given(st.lists(odd | junk, max_size=8), st.lists(odd, max_size=4))
def test_any_json_is_survived(given: list[Any], told: list[Json]) -> None:
    talk = Talk(("one", told), ONE)
    talk.sent("one" if told else "x")
    for each in given:
        talk.hear(each)


@given(
    st.lists(st.text("ab .", max_size=6), max_size=6),
    st.lists(st.text("ab .", max_size=6)),
)
def test_no_word_of_a_turn_is_lost_without_a_replay(old: list[str], new: list[str]) -> None:
    talk = Talk(("p", [message(words) for words in old]))
    talk.sent("q")
    live = [message(words) for words in new]
    assert talk.hear(*live) == live
