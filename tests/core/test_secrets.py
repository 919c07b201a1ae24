"""Secrets of known shapes are masked before they reach a client (security)."""

import pytest

from rookery.core.json.secrets import MASK, masked, masked_json, restored

SECRETS = [
    "sk-ant-api03-abcdefghijklmnopqrstuvwxyz012345",
    "sk-proj-abcdefghijklmnopqrstuvwxyz",
    "sk_live_abcdefghijklmnop1234",
    "rk_" + "a" * 43,
    "ghp_" + "A1" * 18,
    "github_pat_" + "x" * 50,
    "glpat-" + "y" * 20,
    "xoxb-123456789012-abcdefghijkl",
    "AKIAABCDEFGHIJKLMNOP",
    "AIza" + "b" * 35,
    "hf_" + "c" * 34,
    "npm_" + "d" * 36,
    "pypi-" + "e" * 60,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.abcdefghijklmnop",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_of_a_known_shape_is_masked(secret: str) -> None:
    shown = masked(f"before {secret}, after")
    assert secret not in shown
    assert MASK in shown
    assert shown.startswith("before ")
    assert shown.endswith(", after")


def test_a_private_key_is_masked_also_where_its_end_is_missing() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n"
    assert "MIIEow" not in masked(key)
    whole = masked(f"{key}-----END RSA PRIVATE KEY-----\nmore")
    assert "MIIEow" not in whole
    assert whole.endswith("\nmore")


def test_a_password_in_an_address_is_masked_and_the_rest_stays() -> None:
    shown = masked("git clone https://ann:hunter22@example.org/x.git")
    assert shown == f"git clone https://{MASK}@example.org/x.git"


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn and sk_learn",
        "a task-force, disk-usage",
        "https://example.org/a:b@c",
        "AKIA",
        "eyJ is how one begins",
        "the file skeleton-configuration-for-tests.py",
    ],
)
def test_words_that_only_look_like_it_stay(text: str) -> None:
    assert masked(text) == text


def test_a_text_that_was_masked_and_edited_gets_its_secrets_back() -> None:
    key, other = "sk-" + "a" * 30, "ghp_" + "b" * 36
    whole = f"use {key}, then {other} •••"
    assert restored(masked(whole), whole) == whole
    assert restored(f"first {masked(whole)} last", whole) == f"first {whole} last"
    assert restored("none of them", whole) == "none of them"
    assert restored(f"only ghp_{MASK}", whole) is None
    assert restored(f"sk-{MASK} ghp_{MASK} sk-{MASK} {MASK}", whole) is None
    assert restored(f"typed {MASK}", f"was {MASK}") == f"typed {MASK}"


def test_in_json_every_text_is_masked_and_what_is_clean_is_the_same_object() -> None:
    clean = {"a": ["b", {"c": 1}]}
    assert masked_json(clean) is clean
    shown = masked_json({"a": ["x", {"key": SECRETS[0]}], "n": 1})
    assert SECRETS[0] not in str(shown)
    assert shown["n"] == 1
