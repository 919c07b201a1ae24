"""The scripted model: which answer a request gets, and that a mistake in a script is told."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.agent.scripted.choice import pick
from rookery.agent.scripted.script import NAMED, Failure, ScriptError, Turn, read_script, script_of
from rookery.agent.scripted.server import serving
from tests.agent.asking import called, chat, get, model, play, result, said, user

OK = Turn(text="ok")
BAD = Turn(failure=NAMED["server"])
WORSE = Turn(failure=NAMED["overloaded"])


def test_the_kth_answer_of_a_conversation_is_the_kth_turn() -> None:
    with serving(["one", {"text": "two"}, {"text": "three", "times": 2}]) as it:
        begun = [user("Go")]
        for number, words in enumerate(["one", "two", "three", "three", "The script is over."]):
            answers = [model("said")] * number
            assert said(chat(it.url, *begun, *answers)) == words
        # Another conversation begins anew, also meanwhile.
        assert said(chat(it.url, user("Other"))) == "one"


def test_a_prompt_may_be_its_own_script() -> None:
    with serving(["never"]) as it:
        first = play({"text": "a"}, {"text": "b"})
        assert said(chat(it.url, first)) == "a"
        assert said(chat(it.url, first, called(), result("x"))) == "b"
        assert said(chat(it.url, first, model("x"), model("y"))) == "The script is over."
        later = [first, model("a"), play("c")]
        assert said(chat(it.url, *later)) == "c"
        assert said(chat(it.url, *later[:2], user("steered"))) == "b"


def test_a_script_is_found_among_other_words_and_blocks() -> None:
    blocks = [
        {"type": "text", "text": "<CONTEXT>here</CONTEXT>"},
        {"type": "text", "text": 'Do this: {"play": ["found"]} and no more'},
    ]
    with serving([]) as it:
        assert said(chat(it.url, {"role": "user", "content": blocks})) == "found"


def test_a_wrong_script_in_a_prompt_fails_that_request_alone() -> None:
    with serving(["fine"]) as it:
        for text in ('{"play": [', '{"play": [{"txet": "x"}]}', '{"play": 3}'):
            answer = chat(it.url, user(text))
            assert (answer.status, answer.body["error"]["type"]) == (400, "invalid_script")
        assert said(chat(it.url, user("Go"))) == "fine"


def test_match_by_the_prompts_words() -> None:
    script = {"match": [{"contains": "bye", "turns": ["Bye", "Gone"]}], "turns": ["Hello"]}
    with serving(script) as it:
        assert said(chat(it.url, user("Hi"))) == "Hello"
        assert said(chat(it.url, user("Hi"), model("Hello"), user("Say bye"))) == "Bye"
        assert said(chat(it.url, user("Say bye"), model("Bye"))) == "Gone"


def test_by_request_counts_whatever_the_conversation_says() -> None:
    with serving({"turns": ["one", {"error": 500}, "two"], "by": "request"}) as it:
        assert said(chat(it.url, user("Go"))) == "one"
        assert chat(it.url, user("Go")).status == 500
        assert said(chat(it.url, user("Go"))) == "two"


def test_a_request_without_tools_takes_no_turn() -> None:
    with serving({"turns": ["one"], "aside": {"text": "A title for $prompt"}}) as it:
        assert said(chat(it.url, user("Go"), tools=None)) == "A title for Go"
        assert said(chat(it.url, user("Go"))) == "one"
    with serving({"turns": ["one"], "aside": "play"}) as it:
        assert said(chat(it.url, user("Go"), tools=None)) == "one"


def test_a_summary_of_a_script_does_not_play_it() -> None:
    script = json.dumps({"play": ["played"]})
    with serving({"aside": {"text": "A summary"}}) as it:
        assert said(chat(it.url, user(f"Summarize: {script}"), tools=None)) == "A summary"
        assert said(chat(it.url, user(f"Please {script}"))) == "played"
        assert said(chat(it.url, user(script), tools=None)) == "played"
    with serving({}) as it:
        assert said(chat(it.url, user(f"Judge: {script}"), tools=None)) == "played"


def test_words_that_stand_for_others() -> None:
    call = {"name": "terminal", "arguments": {"command": "echo $result"}}
    with serving(["first", {"text": "$prompt: $result", "call": call}]) as it:
        answer = chat(it.url, user('Say "hi"'), called(), result('a "b"\n'))
        message = answer.body["choices"][0]["message"]
        assert message["content"] == 'Say "hi": a "b"\n'
        arguments = message["tool_calls"][0]["function"]["arguments"]
        assert json.loads(arguments) == {"command": 'echo a "b"\n'}


def test_failures_come_in_their_order_as_often_as_the_same_is_asked() -> None:
    with serving([{"error": "server", "times": 2}, {"error": 503}, "at last", "next"]) as it:
        statuses = [chat(it.url, user("Go")).status for _ in range(5)]
        assert statuses == [500, 500, 503, 200, 200]
        assert said(chat(it.url, user("Go"), model("at last"))) == "next"
    with serving([{"error": 401}]) as it:
        assert [chat(it.url, user("Go")).status for _ in range(3)] == [401] * 3


@given(st.lists(st.sampled_from([OK, BAD, WORSE]), max_size=8), st.integers(0, 8))
def test_pick_meets_every_turn_once_in_its_order(turns: list[Turn], extra: int) -> None:
    met: list[Turn] = []
    answered = again = 0
    for _ in range(len(turns) + extra):
        turn = pick(turns, answered, again)
        if turn is None:
            break
        met.append(turn)
        answered, again = (answered, again + 1) if turn.fails else (answered + 1, 0)
    assert met[: len(turns)] == turns[: len(met)]
    assert set(met[len(turns) :]) <= {turns[-1] if turns else None}


# ---------------------------------------------------------------- who is let in


def test_only_the_key_and_the_models_of_the_script() -> None:
    with serving({"turns": ["in"], "key": "sk-right-one", "models": ["good"]}) as it:
        refused = chat(it.url, user("Go"), model="good", key="sk-other")
        assert (refused.status, refused.body["error"]["code"]) == (401, "invalid_api_key")
        unknown = chat(it.url, user("Go"), model="bad", key="sk-right-one")
        assert (unknown.status, unknown.body["error"]["code"]) == (404, "model_not_found")
        assert said(chat(it.url, user("Go"), model="good", key="sk-right-one")) == "in"
        listed = get(it.url, "/v1/models", key="sk-right-one")
        assert [each["id"] for each in listed.body["data"]] == ["good"]
        assert get(it.url, "/v1/models", key="no").status == 401


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("[", ["line 1", "column 2"]),
        ("3", ["the script", "object"]),
        ('{"truns": []}', ["'truns'", "turns"]),
        ('{"turns": {}}', ["turns", "list"]),
        ('[{"text": 3}]', ["turns[0].text"]),
        ('[{"call": {"arguments": {}}}]', ["turns[0].calls[0].name"]),
        ('[{"call": {"name": "x", "arguments": 3}}]', ["arguments"]),
        ('[{"error": 200}]', ["turns[0].error", "400 to 599"]),
        ('[{"error": "atuh"}]', ["auth", "quota"]),
        ('[{"error": {"status": 429, "retry": 3}}]', ["'retry'", "retry_after"]),
        ('[{"drop": "x"}]', ["turns[0].drop"]),
        ('[{"every": -1}]', ["turns[0].every"]),
        ('[{"usage": {"in": 3}}]', ["turns[0].usage", "cached"]),
        ('{"match": [{"turns": []}]}', ["match[0].contains"]),
        ('{"by": "x"}', ["conversation"]),
        ('{"models": "x"}', ["models"]),
        ('{"key": 3}', ["key"]),
        ("[" * 100_000, ["not JSON"]),
    ],
)
def test_a_mistake_is_told_with_its_place(script: str, words: list[str]) -> None:
    with pytest.raises(ScriptError) as caught:
        read_script(script)
    assert all(word in str(caught.value) for word in words), caught.value


def test_errors_by_name_status_and_object() -> None:
    def failure(value: Any) -> Failure:
        found = script_of([{"error": value}]).turns[0].failure
        assert found is not None
        return found

    assert failure("context").code == "context_length_exceeded"
    assert failure(429) == NAMED["rate_limit"]
    assert failure(418).status == 418
    told = failure({"status": "quota", "message": "Pay", "retry_after": 7, "reset": "6m0s"})
    assert (told.status, told.message, told.code) == (429, "Pay", "insufficient_quota")
    assert dict(told.headers) == {"retry-after": "7", "x-ratelimit-reset-requests": "6m0s"}
