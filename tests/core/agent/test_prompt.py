"""A prompt as an agent can take it."""

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from rookery.core.agent.prompt import Untaken, for_agent, words_of
from rookery.core.vendors.profiles import OURS, Profile, known_modes, offers_of, profile_of

type Json = dict[str, Any]

ALL: Json = {"promptCapabilities": {"image": True, "audio": True, "embeddedContext": True}}
BLOBS = {"p": b"\x89PNG", "t": "Grüße\n".encode(), "z": b"a\0b"}


def load(name: str) -> str | None:
    return b64encode(BLOBS[name]).decode() if name in BLOBS else None


def sent(block: Json, capabilities: Json = ALL) -> Json:
    [block] = for_agent([block], capabilities, load)
    return block


def resource(kept: str) -> Json:
    return {"type": "resource", "resource": {"uri": "file:///a/b.txt", "kept": kept, "bytes": 3}}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text", "text": "x"},
        {"type": "resource_link", "uri": "u", "name": "n"},
        {"type": "image", "data": "eA==", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "u", "text": "x"}},
        {"type": "of the future", "x": 1},
    ],
)
def test_what_needs_no_change_stays(block: Json) -> None:
    assert sent(block) == block


def test_an_image_gets_its_data_back() -> None:
    block = {"type": "image", "mimeType": "image/png", "blob": "p", "bytes": 4, "name": "shot"}
    data = b64encode(BLOBS["p"]).decode()
    assert sent(block) == {"type": "image", "mimeType": "image/png", "data": data}


def test_a_file_is_text_where_it_is_text() -> None:
    assert sent(resource("t"))["resource"] == {"uri": "file:///a/b.txt", "text": "Grüße\n"}
    for name in ("p", "z"):
        whole = {"uri": "file:///a/b.txt", "blob": load(name)}
        assert sent(resource(name))["resource"] == whole


@pytest.mark.parametrize("kind", ["image", "audio"])
@pytest.mark.parametrize(
    "capabilities", [{}, {"promptCapabilities": {}}, {"promptCapabilities": 7}]
)
def test_what_an_agent_does_not_take_is_said(kind: str, capabilities: Json) -> None:
    with pytest.raises(Untaken, match=f"does not accept {kind}"):
        sent({"type": kind, "data": "x", "mimeType": "x"}, capabilities)


def test_a_file_goes_as_a_link_where_it_cannot_be_embedded() -> None:
    link = {"type": "resource_link", "uri": "file:///a/b.txt", "name": "b.txt"}
    assert sent(resource("t"), {}) == link


@pytest.mark.parametrize("block", [{"type": "image", "blob": "gone"}, resource("gone")])
def test_bytes_that_are_gone_are_said(block: Json) -> None:
    with pytest.raises(Untaken, match="no longer in the log"):
        sent(block)


def test_the_words_of_a_prompt() -> None:
    def text(words: str) -> Json:
        return {"type": "text", "text": words}

    image = {"type": "image", "text": "not mine"}
    assert words_of([text("a"), image, text("b")]) == "a\nb"
    assert words_of([text("a"), text("\n\n"), text("b")]) == "a\n\nb"
    assert words_of([text("a\n"), text("b")]) == "a\nb"
    assert words_of([]) == ""


@given(some.lists(some.none() | some.integers() | some.dictionaries(some.text(), some.text())))
def test_any_prompt_has_words(prompt: list[Any]) -> None:
    assert isinstance(words_of(prompt), str)


# --- profiles ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "argv", "ours"),
    [
        ("demo", [], True),
        ("rookery", ["anything"], False),  # it has files and a terminal of its own
        ("bird", ["python3", "-P", "-m", "rookery.acp.player", "x.json"], True),
        ("bird", ["/bin/rookery", "play", "x.json"], True),
        ("bird", ["python3", "-m", "rookery", "play", "demo"], True),
        ("claude", ["claude-agent-acp"], False),
        ("codex", ["codex-acp"], False),
        ("gemini", ["gemini", "--acp"], False),
        ("stranger", ["play"], False),
        ("stranger", [], False),
    ],
)
def test_files_and_terminals_are_for_our_own(name: str, argv: list[str], ours: bool) -> None:
    profile = profile_of(name, argv)
    assert (profile.files, profile.terminals) == (ours, ours)
    offers = offers_of(profile)
    assert offers["terminal"] is ours
    assert offers["fs"] == {"readTextFile": ours, "writeTextFile": ours}


def test_forms_and_links_are_for_everybody() -> None:
    assert offers_of(Profile())["elicitation"] == {"form": {}, "url": {}}


def test_the_modes_of_a_family_are_known() -> None:
    """Default, Plan, Accept edits, Yolo"""
    modes = known_modes(profile_of("claude", []))
    assert modes is not None
    assert modes["currentModeId"] == "default"
    names = [mode["name"] for mode in modes["availableModes"]]
    assert names == ["Default", "Plan", "Accept edits", "Yolo"]
    assert known_modes(OURS) is None
