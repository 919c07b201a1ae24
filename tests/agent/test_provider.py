"""What is made of a provider's answers and errors, without one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.agent.provider import retries, surrogates, think_tags
from rookery.agent.provider.think_tags import ThinkTags
from rookery.agent.provider.words import spoken


class Failed(Exception):
    def __init__(self, words: str, status: int = 0, **headers: str) -> None:
        super().__init__(words)
        self.status_code = status or None
        self.litellm_response_headers = {
            name.replace("_", "-"): value for name, value in headers.items()
        }


# --- think tags --------------------------------------------------------------------------------


@given(st.integers(1, 60), st.sampled_from(["", "\n\n  "]))
def test_think_tags_are_found_in_pieces_of_any_length(size: int, before: str) -> None:
    text = f"{before}<think>\nA < b, </thin. Hm\n</think>\n\nThe <think> answer</think>"
    tags, thought, words = ThinkTags(), "", ""
    for at in range(0, len(text), size):
        more, said = tags.feed(text[at : at + size])
        thought, words = thought + more, words + said
    more, said = tags.rest()
    assert (thought + more).strip() == "A < b, </thin. Hm"
    assert words + said == "The <think> answer</think>"


@given(st.text(max_size=30))
def test_text_without_think_tags_is_unchanged(text: str) -> None:
    if not text.lstrip().startswith("<think>"):
        assert think_tags.split(text) == ("", text)


# --- surrogates --------------------------------------------------------------------------------


@given(st.lists(st.sampled_from(["a", "\ud83d", "\ude00", "\U0001f600", "é"]), max_size=8))
def test_surrogates_are_joined_or_replaced(pieces: list[str]) -> None:
    joined = surrogates.Pieces()
    text = "".join(joined.feed(piece) for piece in pieces)
    text.encode()
    assert surrogates.whole("".join(pieces)).startswith(text)


def test_surrogates_in_json_are_joined_or_replaced() -> None:
    assert surrogates.whole_json('{"a": "x\\ud83d"}') == '{"a": "x\ufffd"}'
    assert surrogates.whole_json('{"a": "\\ud83d\\ude00"}') == '{"a": "\U0001f600"}'
    assert surrogates.whole_json('{"a": "\\ud83d') == '{"a": "\\ud83d'
    assert surrogates.whole_json('{"a":  1}') == '{"a":  1}'


# --- words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('litellm.BadRequestError: AnthropicException - {"error": {"message": "No"}}', "No"),
        ('litellm.APIError: VertexAIException - b\'{"error": {"message": "No"}}\'', "No"),
        ('GeminiException - b\'[{"error": {"code": 429, "message": "Slow"}}]\'', "Slow"),
        ("litellm.APIError: <!DOCTYPE html><html><title>502 Bad</title>", "502 Bad"),
        ("litellm.Timeout: Timeout Error: no answer", "no answer"),
        ("Connection error.", "Connection error."),
        ("{}", ""),
        ("plain words {not json", "plain words {not json"),
    ],
)
def test_an_error_shows_the_providers_own_words(text: str, said: str) -> None:
    assert spoken(text) == said


@given(st.text(max_size=200))
def test_an_errors_words_fit_on_one_line(text: str) -> None:
    assert "\n" not in spoken(text)


# --- retries -----------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404])
def test_final_statuses_are_not_retried(status: int) -> None:
    assert not retries.is_worth_it(Failed("No", status), 60)


def test_a_retry_time_is_read_from_headers_and_message() -> None:
    assert retries.delay_of(Failed("Slow", 429, retry_after="7")) == 7
    assert retries.delay_of(Failed("Slow", 429, retry_after_ms="250")) == 0.25
    assert retries.delay_of(Failed("Please retry in 34.5s.", 429)) == 34.5
    assert retries.delay_of(Failed('{"retryDelay": "34s"}', 429)) == 34
    assert retries.delay_of(Failed("Please try again in 1m30s", 429)) == 90
    assert retries.delay_of(Failed("Slow", 429)) is None
    assert retries.is_worth_it(Failed("Slow", 429, retry_after="7"), 60)
    assert not retries.is_worth_it(Failed("Slow", 429, retry_after="700"), 60)


def test_geminis_quota_error_for_too_many_requests_is_retried() -> None:
    words = "You exceeded your current quota, please check your plan and billing details."
    assert not retries.is_worth_it(Failed(words, 429), 60)
    assert retries.is_worth_it(Failed(f"{words} Please retry in 20s.", 429), 60)
