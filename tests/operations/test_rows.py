"""The rows of the catalogue: what each says is enough for every face, and true."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import rookery
from rookery.core.commands import COMMANDS
from rookery.core.json import Json
from rookery.operations import going_back, options, sessions, turns
from rookery.operations.catalogue import conditions, filling, moments
from rookery.operations.catalogue.finding import every, find
from tools import api_page

SOURCES = Path(rookery.__file__).parent
NOW = datetime(2026, 3, 4, 15, 30, tzinfo=UTC)


def at(*fields: int) -> int:
    return int(datetime(*fields, tzinfo=UTC).timestamp() * 1000)  # type: ignore[arg-type,misc]


def test_each_name_is_there_once_and_each_row_can_be_shown() -> None:
    names = [row.name for row in every()]
    assert len(names) == len(set(names))
    for row in every():
        assert (row.name in COMMANDS) is (row.kind == "command"), row.name
    for row in every():
        assert row.sentence.endswith("."), row.name
        assert row.traits.title
        assert row.traits.examples or not row.traits.typed, row.name
        assert all(each.about.help.strip() for each in row.arguments), row.name


def test_the_sentence_of_an_argument_stands_in_one_file() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py")}
    pages = {path: path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.js")}
    for row in every():
        for argument in row.arguments:
            sentence = argument.about.help
            files = [path for path, text in (sources | pages).items() if sentence in text]
            assert len(files) == 1, f"{row.name} {argument.name}: {sentence} {files}"


def test_what_undoes_an_operation_is_one_that_needs_no_arguments() -> None:
    for row in every():
        if row.traits.undo:
            back = find(row.traits.undo)
            assert back is not None, row.name
            assert not back.schema["required"], row.name


def test_the_page_of_the_api_has_the_table_as_it_is() -> None:
    text = api_page.PAGE.read_text(encoding="utf-8")
    assert text == api_page.written(text), "make docs writes it"
    assert "| `snooze` | `until` |" in text


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2h", at(2026, 3, 4, 17, 30)),
        ("1.5 d", at(2026, 3, 6, 3, 30)),
        ("16:00", at(2026, 3, 4, 16, 0)),
        ("09:00", at(2026, 3, 5, 9, 0)),
        ("15:30", at(2026, 3, 5, 15, 30)),
        ("tomorrow 16:00", at(2026, 3, 5, 16, 0)),
        ("2026-03-05", at(2026, 3, 5)),
        ("2026-03-05T07:00", at(2026, 3, 5, 7)),
        (" 2026-03-05  07:00 ", at(2026, 3, 5, 7)),
    ],
)
def test_a_time_is_read_as_users_write_it(text: str, moment: int) -> None:
    assert moments.read(text, NOW) == moment


@pytest.mark.parametrize(
    "text", ["", "soon", "25:99", "0h", "-2h", "2001-01-01", "9" * 400 + "d", "tomorrow", "2h 3h"]
)
def test_what_is_no_time_to_come_is_refused_in_words(text: str) -> None:
    with pytest.raises(ValueError, match="must be"):
        moments.read(text, NOW)


def test_a_slash_commands_last_argument_takes_what_is_left() -> None:
    assert filling.words_in(sessions.rename, "Notes of  May") == {"title": "Notes of  May"}
    assert filling.words_in(sessions.pin, "x") == {}
    given = filling.filled(sessions.snooze, filling.words_in(sessions.snooze, "2h"), NOW)
    assert given.arguments == {"until": at(2026, 3, 4, 17, 30)}
    assert "in the future" in filling.filled(sessions.snooze, {"until": "0h"}, NOW).wrong["until"]


def test_a_number_that_comes_first_may_be_missing_and_what_users_do_not_type_is_not_asked() -> None:
    for text, given in (
        ("3", {"turn": "3"}),
        ("worktree", {"worktree": "worktree"}),
        (
            "3 worktree The other way",
            {"turn": "3", "worktree": "worktree", "title": "The other way"},
        ),
    ):
        assert filling.words_in(going_back.fork, text) == given
    assert filling.words_in(options.set_, "budget_day 2 USD")["value"] == "2 USD"
    assert [*filling.form_of(options.set_)["properties"]] == ["option", "value"]
    assert options.set_.check({"option": "fast", "value": True}) is None


@pytest.mark.parametrize(("text", "force"), [("force", True), ("yes", True), ("No", False)])
def test_a_switch_is_typed_as_its_own_word(text: str, force: bool) -> None:
    given = filling.filled(turns.cancel, filling.words_in(turns.cancel, text), NOW)
    assert given.arguments == {"force": force}
    assert turns.cancel.command(given.arguments)["do"] == ("force_end" if force else "cancel")
    wrong = filling.filled(turns.cancel, {"force": "perhaps"}, NOW).wrong
    assert wrong == {"force": "must be yes or no"}


def test_what_costs_something_is_said_where_it_does() -> None:
    known = {"awake": True, "running": True}
    assert "turn" in conditions.warning(sessions.stop, known)
    assert conditions.warning(sessions.stop, known | {"running": False}) == ""
    assert conditions.warning(turns.clear, {}) == turns.clear.traits.warns


def test_what_is_wrong_is_said_in_the_rows_own_sentence() -> None:
    refusal = sessions.rename.check({"title": "  "})
    assert refusal is not None
    assert refusal.message == sessions.NO_TITLE
    assert "pattern" not in filling.form_of(sessions.rename)["properties"]["title"]


def test_a_form_asks_for_a_time_in_words() -> None:
    assert filling.form_of(sessions.snooze)["properties"]["until"]["type"] == "string"
    assert sessions.snooze.schema["properties"]["until"]["type"] == "integer"


@pytest.mark.parametrize(
    ("head", "offered"),
    [
        ({}, {"rename", "pin", "archive", "snooze"}),
        ({"pinned": True}, {"rename", "unpin", "archive", "snooze"}),
        ({"archived": True}, {"rename", "pin", "unarchive"}),
        ({"snoozed": at(2026, 3, 5)}, {"rename", "pin", "archive", "unsnooze"}),
        ({"snoozed": at(2026, 3, 4)}, {"rename", "pin", "archive", "snooze"}),
    ],
)
def test_a_session_is_offered_what_fits_it(head: Json, offered: set[str]) -> None:
    known = conditions.facts(head, NOW.timestamp() * 1000)
    rows = [sessions.rename, sessions.pin, sessions.unpin, sessions.archive, sessions.unarchive]
    rows += [sessions.snooze, sessions.unsnooze]
    assert {row.name for row in rows if conditions.holds(row, known)} == offered


def test_what_another_build_adds_to_a_command_is_passed_over() -> None:
    assert sessions.pin.update({"do": "pin", "id": "x", "hue": 3}) == {
        "sessionUpdate": "_session",
        "pinned": True,
    }
    assert sessions.snooze.command({"until": 5}) == {"do": "snooze", "until": 5}
    assert sessions.unsnooze.command({}) == {"do": "snooze", "until": 0}


def test_the_last_time_that_is_taken_can_be_shown() -> None:
    assert sessions.snooze.check({"until": sessions.LAST_TIME}) is None
    assert sessions.snooze.check({"until": sessions.LAST_TIME + 1}) is not None
    words = filling.confirmation(sessions.snooze, {"until": sessions.LAST_TIME}, "x", NOW)
    assert words.startswith("Snoozed x until 9999-12-31")
