"""Secrets do not get out: not by printing, not by logging, not within JSON."""

import json
import logging
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.models.credentials import is_secret_name
from rookery.models.profiles import Condenser, Profile, Settings
from rookery.models.secrets import HIDDEN, Redactor, Secret, secrets_in

KEY = "sk-very-secret-1234"


def test_a_secret_shows_itself_to_nobody() -> None:
    secret = Secret(KEY)
    settings = Settings().with_profile(Profile("a", "x/y", secret, extras={"aws_secret": KEY}))
    settings = settings._replace(extras={"token": KEY}, condenser=Condenser(extras={"key": KEY}))
    model = Profile("a", "x/y", secret, "", None, {"api_token": KEY})
    for thing in (secret, settings, settings.profiles["a"], settings.condenser, model):
        for shown in (str(thing), repr(thing), f"{thing}", ascii(thing)):
            assert KEY not in shown
    with pytest.raises(TypeError):
        json.dumps({"key": secret})
    assert secret.reveal() == KEY
    assert secret == Secret(KEY) != Secret("other")


def test_a_trace_and_a_log_show_none(caplog: pytest.LogCaptureFixture) -> None:
    profile = Profile("a", "x/y", Secret(KEY))
    logging.getLogger("x").warning("made %s and %r", profile, profile)
    with pytest.raises(ValueError, match="Profile") as caught:
        raise ValueError(profile)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in caplog.text


def test_all_secrets_of_the_settings_are_known() -> None:
    settings = Settings().with_profile(
        Profile("a", "x/y", Secret(KEY), extras={"aws_secret_access_key": "aws-1234", "seed": "no"})
    )
    assert settings.secrets() == {KEY, "aws-1234"}


@pytest.mark.parametrize(
    "name",
    ["api_key", "API-KEY", "x-api-key", "LLM_API_KEY", "token", "auth_token", "Authorization"],
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["max_tokens", "model", "keyboard", "tokenizer", "monkey"])
def test_names_of_none(name: str) -> None:
    assert not is_secret_name(name)


def test_secrets_below_a_name() -> None:
    value = {"headers": [{"authorization": ["Bearer 1"]}], "env": {"X_TOKEN": "2", "PATH": "3"}}
    assert secrets_in(value) == {"Bearer 1", "1", "2"}


def test_redaction_of_texts_and_json() -> None:
    redactor = Redactor([Secret(KEY), 'quo"ted\\1', "short", ""])
    assert redactor.text(f"<{KEY}>") == f"<{HIDDEN}>"
    inside = json.dumps({"a": 'quo"ted\\1'})
    assert 'quo\\"ted' not in redactor.text(inside)
    assert redactor.json({"a": [KEY, 1, None], KEY: True}) == {"a": [HIDDEN, 1, None], HIDDEN: True}
    assert redactor.text("short") == "short"
    assert Redactor([]).text(KEY) == KEY


@given(st.lists(st.text(min_size=6, max_size=12), max_size=4), st.text(), st.text())
def test_no_secret_is_left(secrets: list[str], before: str, after: str) -> None:
    redactor = Redactor(secrets)
    for secret in secrets:
        cleaned = redactor.text(before + secret + after)
        for part in cleaned.split(HIDDEN):
            assert not any(each in part for each in secrets)


SHORT = st.text("abc", min_size=6, max_size=9)


@given(st.lists(SHORT, max_size=3), st.lists(st.text("abc", max_size=12), max_size=8))
def test_pieces_hide_what_the_whole_would(secrets: list[str], pieces: list[str]) -> None:
    """However the text is cut, it is shown as it would be in one piece."""
    redactor = Redactor(secrets)
    mask = redactor.in_pieces()
    shown = [mask.feed(piece) for piece in pieces]
    assert "".join(shown) + mask.flush() == redactor.text("".join(pieces))


def test_pieces_hold_nothing_else_back() -> None:
    mask = Redactor([KEY, "other-secret-" + "x" * 500]).in_pieces()
    assert mask.feed("a short line") == "a short line"
    assert mask.feed("it is sk-ve") == "it is "
    assert mask.feed("ry good") == "sk-very good"
    assert mask.feed(f" {KEY[:9]}") == " "
    assert mask.feed(KEY[9:]) == HIDDEN
    assert mask.flush() == ""
