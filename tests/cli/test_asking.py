"""`asks` and `answer`: permissions, forms, destructive calls, reasons; and what a policy says."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.driving import Running, Terminal, play, rookery

RM: dict[str, Any] = {
    "ask": "rm -rf build",
    "kind": "execute",
    "rawInput": {"command": "rm -rf build"},
    "allowed": [{"text": "deleted"}],
    "rejected": [{"text": "kept"}],
}
CALM = {"ask": "Go on?", "allowed": [{"text": "went"}], "rejected": [{"text": "stayed"}]}


@contextmanager
def asking(*steps: dict[str, Any], title: str = "House") -> Iterator[Running]:
    """A session whose agent asks."""
    with Running("run", "--approve", "ask", "--title", title, play(*steps)) as running:
        assert running.process.stderr is not None
        for line in running.process.stderr:
            if b"Waiting for your answer" in line:
                break
        yield running


# --- by policy ---------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [[], ["--approve", "all"]])
def test_approve_all_never_allows_what_cannot_be_undone(home: Path, flags: list[str]) -> None:
    """It is rejected, said on stderr, and the exit code is 3."""
    done = rookery("run", *flags, play(CALM, RM, {"text": " and on"}))
    assert done.code == 3
    assert "went" in done.out
    assert "kept" in done.out
    assert "deleted" not in done.out
    assert "cannot be undone" in done.err
    assert "--confirm-destructive" in done.err


def test_unless_it_is_wanted_in_so_many_words(home: Path) -> None:
    done = rookery("run", "--confirm-destructive", play(RM))
    assert done.code == 0
    assert "deleted" in done.out
    first = rookery("run", "--json", play({"text": "x"})).events[0]["update"]["id"]
    again = rookery(
        "prompt", first, "--wait", "--approve", "all", "--confirm-destructive", play(RM)
    )
    assert (again.code, "deleted" in again.out) == (0, True)


def test_where_there_is_no_reject_it_is_cancelled(home: Path) -> None:
    only_yes = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
    step = {**RM, "options": only_yes, "cancelled": [{"text": "gave up"}]}
    done = rookery("run", play(step))
    assert done.code == 3
    assert "gave up" in done.out


# --- by a person -------------------------------------------------------------------------------


def test_asks_lists_what_all_sessions_want(home: Path) -> None:
    assert rookery("asks").err == "No open questions.\n"
    with asking(RM, title="House"), asking(CALM, title="Garden"):
        listed = rookery("asks")
        assert listed.code == 0
        house, garden = listed.out.split("\n\n")
        assert "House" in house
        assert "Demo wants to run:\n┃   │ rm -rf build" in house
        assert "This cannot be undone: it deletes files" in house
        assert "Can't be always-allowed: destructive" in house
        assert "--confirm" in house
        assert "Demo asks: Go on?" in garden
        assert "undone" not in garden
        assert "waiting for" in garden
        asks = [json.loads(line) for line in rookery("asks", "--json").out.splitlines()]
        assert [each["title"] for each in asks] == ["House", "Garden"]
        assert [bool(each["danger"]) for each in asks] == [True, False]
        disabled = [bool(option.get("disabled")) for option in asks[0]["options"]]
        assert disabled == [False, True, False]
        assert "nonce" not in asks[0]
        for title in ("House", "Garden"):
            assert rookery("answer", title, "reject").code == 0
    assert rookery("asks", "--json").out == ""


def test_what_cannot_be_undone_wants_a_second_yes(home: Path) -> None:
    with asking(RM) as running:
        refused = rookery("answer", "House", "1")
        assert refused.code == 3
        assert "cannot be undone" in refused.err
        assert "--confirm" in refused.err
        always = rookery("answer", "House", "allow_always", "--confirm")
        assert always.code == 3
        assert "Can't be always-allowed" in always.err
        assert "rookery answer" in rookery("answer", "House").err  # still open
        assert rookery("answer", "House", "1", "--confirm").code == 0
        assert "deleted" in running.end().out


@pytest.mark.parametrize(("typed", "code"), [("confirm", 0), ("yes", 3), ("", 3)])
def test_on_a_terminal_a_word_is_typed(home: Path, typed: str, code: int) -> None:
    """By keyboard, too."""
    with asking(RM):
        with Terminal("answer", "House", "1") as terminal:
            terminal.read_until('Type "confirm"')
            terminal.type(typed + "\n")
            assert terminal.end().code == code
        if code:
            assert rookery("answer", "House", "reject").code == 0


@pytest.mark.long
def test_a_reason_and_a_deferral(home: Path) -> None:
    with asking(CALM) as running:
        assert rookery("answer", "House", "1", "--defer").code == 2
        later = rookery("answer", "House", "--defer")
        assert (later.code, "Left open" in later.err) == (0, True)
        done = running.end()
        assert done.code == 6
        assert "waiting for your answer: rookery answer" in done.err
    said = rookery("answer", "House", "reject", "--reason", play({"text": "because"}))
    assert said.code == 0
    with Running("tail", "House", "--since", "0") as tail:
        tail.read_until("stayed")
        tail.read_until("because")


@pytest.mark.long
@pytest.mark.parametrize("how", ["stop", "kill", "--defer"])
def test_an_ask_stays_listed_while_the_session_sleeps_and_an_answer_wakes_it(
    home: Path, how: str
) -> None:
    """`asks`, `ps` and `answer` while the session sleeps."""
    with asking(CALM):
        if how == "--defer":
            assert rookery("answer", "House", how).code == 0
            assert rookery("stop", "House").code == 0
        else:
            assert rookery(how, "House").code == 0
    [listed] = rookery("asks", "--json").events
    assert (listed["what"], listed["awake"], listed["answered"]) == ("Go on?", False, False)
    assert "Go on?" in rookery("asks").out
    assert "needs you (asleep)" in rookery("ps").out
    assert "Go on?" in rookery("answer", "House").out
    said = rookery("answer", "House", "1")
    assert (said.code, said.err.startswith("Answered: Allow")) == (0, True)
    with Running("tail", "House", "--since", "0") as tail:
        tail.read_until("went")
    assert rookery("asks").err == "No open questions.\n"


@pytest.mark.long
def test_a_prompt_that_would_repeat_steps_is_resent_only_by_the_user(home: Path) -> None:
    """Numbered like every other option."""
    step = {"tool": {"toolCallId": "t", "title": "Dig"}, "status": "completed"}
    with asking(step, CALM):
        assert rookery("kill", "House").code == 0
    assert rookery("answer", "House", "allow").code == 0
    with Running("tail", "House", "--since", "0") as tail:
        tail.read_until("Send the prompt again")
    listed = rookery("asks").out
    assert "Steps of this turn have already run" in listed
    assert "is saved and sent" in listed
    said = rookery("answer", "House", "1")
    assert (said.code, said.err) == (0, "The prompt is sent again.\n")
    with Running("tail", "House", "--since", "0") as tail:
        tail.read_until("went")


@pytest.mark.long
def test_a_kept_ask_can_be_dropped(home: Path) -> None:
    with asking(CALM):
        assert rookery("kill", "House").code == 0
    said = rookery("answer", "House", "cancel")
    assert (said.code, said.err) == (0, "Dropped.\n")
    assert rookery("asks").err == "No open questions.\n"
    done = rookery("prompt", "House", "--wait", play({"text": "next"}))
    assert (done.code, "next" in done.out) == (0, True)


@pytest.mark.long
def test_a_form_is_filled_in(home: Path) -> None:
    properties = {
        "branch": {"type": "string", "minLength": 2},
        "times": {"type": "integer", "maximum": 3},
        "sure": {"type": "boolean"},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
    }
    schema = {"type": "object", "properties": properties, "required": ["branch"]}
    step = {"question": "Where to?", "schema": schema, "accepted": [{"text": "$answer"}]}
    with asking(step) as running:
        assert "branch (string, required)" in rookery("asks").out
        for values, words in (
            ([], "Required"),
            (["branch=x"], "at least 2"),
            (["branch=main", "times=many"], "integer"),
            (["branch=main", "times=4"], "at most 3"),
            (["branch=main", "colour=red"], "colour"),
            (["branch=main", "tags=a,c"], "tags has no c"),
        ):
            given = [word for value in values for word in ("--set", value)]
            wrong = rookery("answer", "House", "accept", *given)
            assert wrong.code == 2
            assert words in wrong.err
        right = ("branch=main", "times=3", "sure=yes", "tags=a,b")
        given = [word for value in right for word in ("--set", value)]
        assert rookery("answer", "House", "accept", *given).code == 0
        answer = '{"branch":"main","times":3,"sure":true,"tags":["a","b"]}'
        assert answer in running.end().out


def test_a_link_is_printed_whole_and_answered_by_meaning(home: Path) -> None:
    address = "https://auth.example.com/authorize?" + "&".join(f"p{n}=value{n}" for n in range(60))
    step = {"question": "Log in", "url": address, "accepted": [{"text": "in"}]}
    with asking(step) as running:
        listed = rookery("asks").out
        assert f"│ {address}\n" in listed
        assert "wants to send you to auth.example.com" in listed
        assert json.loads(rookery("asks", "--json").out)["url"] == address
        assert rookery("answer", "House", "a").code == 3
        assert rookery("answer", "House", "maybe").code == 2
        assert "Answered: opened it" in rookery("answer", "House", "y").err
        assert "in" in running.end().out
    shown = rookery("show", "House").out
    assert "You opened it" in shown
    assert "wants to send you to auth.example.com" in shown
    assert "auth.example.com" in rookery("export", "House", "-o", "-").out


def test_the_second_of_two_asks(home: Path) -> None:
    with asking(CALM):
        assert rookery("answer", "House", "1", "--ask", "2").code == 2
        assert rookery("answer", "House", "1", "--set", "a=b").code == 2
        assert rookery("answer", "House", "Always").code == 0


def test_allow_means_once(home: Path) -> None:
    """Also where two options begin with it."""
    kinds = {"Yes, for good": "allow_always", "Yes": "allow_once", "No": "reject_once"}
    options = [
        {"optionId": kind[-4:] + kind[0], "name": name, "kind": kind}
        for name, kind in kinds.items()
    ]
    step = {"ask": "Go on?", "options": options, "allowed": [{"text": "took $option"}]}
    with asking(step) as running:
        assert rookery("answer", "House", "yes, please").code == 2
        assert rookery("answer", "House", "allow").code == 0
        assert "took oncea" in running.end().out
