"""What search finds, in which order, and what it shows of it."""

import os
import shutil
import sqlite3

import pytest

from rookery.home import paths
from rookery.log.store import Writer
from rookery.search import index
from rookery.search.query import Filters, Hit, query
from rookery.search.texts import SIZE
from rookery.search.update import update
from tests.search.conftest import Write, call, chunk, idle, prompt


def found(home: str, text: str, **filters: object) -> list[Hit]:
    assert update(home).done
    answer = query(home, text, Filters(**filters))  # type: ignore[arg-type]
    assert not answer.problem
    return answer.hits


def marked(hit: Hit) -> list[str]:
    return [hit.snippet.text[begins:ends] for begins, ends in hit.snippet.marks]


def test_everything_said_is_found(home: str, write: Write) -> None:
    content = [{"type": "content", "content": {"type": "text", "text": "42 walruses sleeping"}}]
    diff = {"type": "diff", "path": "/src/otter.py", "oldText": "a\n", "newText": "badger\n"}
    write(
        "aaaa",
        prompt("Find the heron, please"),
        chunk("I think of a pelican", "agent_thought_chunk"),
        chunk("The stork is here"),
        call("c1", title="Run ls", rawInput={"command": ["ls", "--flamingo"]}),
        call("c1", status="completed", content=content),
        call("c2", content=[diff], locations=[{"path": "/src/otter.py"}]),
        {"sessionUpdate": "_terminal", "id": "t1", "state": "started", "command": "make gull"},
        {"sessionUpdate": "_terminal", "id": "t1", "state": "output", "text": "built the tern\n"},
        {"sessionUpdate": "plan", "entries": [{"content": "Feed the puffin", "status": "pending"}]},
        {"sessionUpdate": "_notice", "level": "warn", "text": "The kiwi is gone"},
        idle(),
    )
    places = {
        "heron": (1, "prompt"),
        "pelican": (2, "thought"),
        "stork": (3, "answer"),
        "flamingo": (4, "tool"),
        "walruses": (5, "tool"),
        "otter.py": (6, "tool"),
        "badger": (6, "tool"),
        "gull": (7, "tool"),
        "tern": (8, "tool"),
        "puffin": (9, "other"),
        "kiwi": (10, "other"),
    }
    for word, place in places.items():
        hits = found(home, word)
        assert [(hit.seq, hit.role) for hit in hits] == [place], word
        assert "".join(marked(hits[0])).lower().replace(".", "").startswith(word[:4])


def test_a_word_in_two_chunks_is_found_and_is_at_its_event(home: str, write: Write) -> None:
    write("aaaa", prompt("x"), chunk("Some words, then a hippo"), chunk("potamus came"), idle())
    [hit] = found(home, "hippopotamus")
    assert (hit.seq, marked(hit)) == (2, ["hippopotamus"])
    [hit] = found(home, "came")
    assert hit.seq == 3
    assert not found(home, "hippo")


def test_every_word_of_a_long_message_is_found(home: str, write: Write) -> None:
    """Wherever the message was cut into chunks, and the chunks into rows."""
    words = [f"word{number}x" for number in range(5000)]
    text = " ".join(words)
    pieces = [text[place : place + 37] for place in range(0, len(text), 37)]
    write("aaaa", prompt("x"), *map(chunk, pieces), idle())
    assert update(home).done
    for word in words[::41]:
        assert len(query(home, word).hits) == 1, word


def test_one_event_with_a_long_text(home: str, write: Write) -> None:
    words = [f"word{number}x" for number in range(20_000)]
    write("aaaa", call("c1", rawOutput={"stdout": "\n".join(words)}), idle())
    for word in (words[0], words[777], words[-1]):
        [hit] = found(home, word)
        assert (hit.seq, marked(hit)) == (1, [word])


def test_the_newest_come_first_and_again_in_the_same_order(home: str, write: Write) -> None:
    for number in range(60):
        session = f"s{number % 7}"
        write(session, prompt(f"common n{number}"), chunk("common too"), idle(), at=1000 + number)
        if number % 9 == 0:
            update(home)
    hits = query(home, "common", limit=200).hits if update(home).done else []
    assert len(hits) == 120
    order = [(-hit.at, hit.session, -hit.seq) for hit in hits]
    assert order == sorted(order)
    shutil.rmtree(index.folder(home))
    assert update(home).done
    assert query(home, "common", limit=200).hits == hits
    some = query(home, "common", limit=50)
    assert (some.hits, some.more) == (hits[:50], True)


def test_a_common_word_is_read_extent_by_extent_in_the_same_order(
    home: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "ROWS", 40)
    for number in range(100):
        write(f"s{number % 5}", prompt(f"common n{number}"), idle(), at=1000 + number // 3)
        if number % 11 == 0:
            update(home)
    assert update(home).done
    whole = query(home, "common", limit=500).hits
    assert len(whole) == 100
    monkeypatch.setattr("rookery.search.query.PROBE", 3)
    monkeypatch.setattr("rookery.search.query.PAGE", 2)
    assert query(home, "common", limit=500).hits == whole
    assert query(home, "common", Filters(session="s3"), 500).hits == [
        hit for hit in whole if hit.session == "s3"
    ]


def test_filters(home: str, write: Write) -> None:
    write("aaaa", prompt("the robin"), idle(), at=1000, agent="crow", cwd="/work/shop")
    write("bbbb", prompt("the robin"), chunk("a robin"), idle(), at=2000, agent="jay", cwd="/work")
    write("cccc", prompt("the robin"), idle(), at=3000, agent="jay", cwd="/workshop")
    assert [hit.session for hit in found(home, "robin")] == ["cccc", "bbbb", "bbbb", "aaaa"]
    assert [hit.session for hit in found(home, "robin", agent="crow")] == ["aaaa"]
    assert [h.session for h in found(home, "robin", directory="/work")] == ["bbbb", "bbbb", "aaaa"]
    assert [hit.session for hit in found(home, "robin", directory="/work/shop")] == ["aaaa"]
    assert [hit.session for hit in found(home, "robin", since=2500)] == ["cccc"]
    assert [hit.role for hit in found(home, "robin", role="answer")] == ["answer"]
    assert not found(home, "robin", role="thought")


def test_phrases_prefixes_accents_identifiers_and_scripts_without_blanks(
    home: str, write: Write
) -> None:
    write(
        "aaaa",
        prompt("Der Bär frißt Crème brûlée, e\u0301tude"),
        chunk("call readFileSync(snake_case_name) in src/rookery/main.py", name="m1"),
        chunk("全文検索はとても便利です", name="m2"),
        chunk("disk full, no space left on device", name="m3"),
        chunk("left no space for it", name="m4"),
        idle(),
    )
    expected = {
        "bar creme": 1,
        "BRULEE": 1,
        "étude": 1,
        "readfilesync": 2,
        "file sync": 2,
        "readFile": 2,
        "case_name": 2,
        "rookery/main.py": 2,
        "検索": 3,
        "便利です": 3,
        '"no space left"': 4,
        "devi*": 4,
        '"no space le"*': 4,
    }
    for words, seq in expected.items():
        assert [hit.seq for hit in found(home, words)] == [seq], words
    assert not found(home, "索検")
    assert not found(home, '"space no"')
    [hit] = found(home, "検索")
    assert (hit.snippet.text, marked(hit)) == ("全文検索はとても便利です", ["検索"])


@pytest.mark.parametrize(
    "words",
    [
        *('"', '""', "'", "*", "robin OR", "NOT robin", "robin NEAR/2", "(robin", "a:b", "^robin"),
        *("robin\0", "\ud800 robin", "-robin", "+", "{x}: robin", "robin" * 300_000, "\u200b", ""),
        *('"robin', 'robin"', "x " * 200_000, "words : robin", "--", "\ue000answer", "🐦"),
    ],
)
def test_no_query_is_an_error(home: str, write: Write, words: str) -> None:
    write("aaaa", prompt("a robin, words x b"), idle())
    assert update(home).done
    assert query(home, words).problem == ""


def test_hostile_text_is_shown_safely_and_colours_hide_no_word(home: str, write: Write) -> None:
    text = "\x1b[31mfailed\x1b[0m \x1b]0;title\x07wren\x08 <b>bold</b> \u202egnirts"
    write("aaaa", call("c1", rawOutput={"out": text}), prompt("\ud800 lone wren \ue001"), idle())
    hits = found(home, "wren")
    assert len(hits) == 2
    for hit in hits:
        assert marked(hit) == ["wren"]
        assert hit.snippet.text.isprintable()
    assert len(found(home, "failed")) == 1


def test_secrets_are_masked_in_the_index_and_in_what_is_shown(home: str, write: Write) -> None:
    key = "sk-proj" + "A1b2C3d4" * 5
    write("aaaa", prompt(f"use {key} now"), idle())
    pieces = [f"key {key[:12]}", f"{key[12:]} ends"]
    write("bbbb", *map(chunk, pieces), idle())
    assert not found(home, key)
    assert all(key not in hit.snippet.text for hit in found(home, "use OR now"))
    [hit] = found(home, "ends")
    assert key[12:] not in hit.snippet.text
    with open(index.path(home), "rb") as file:
        assert key[12:].lower().encode() not in file.read()


def test_the_output_of_a_call_that_comes_again_and_again_is_one_hit(
    home: str, write: Write
) -> None:
    updates = []
    for number in range(5):
        text = "".join(f"line {each} wagtail\n" for each in range(number + 1))
        content = [{"type": "content", "content": {"type": "text", "text": text}}]
        updates += [call("c1", content=content), chunk(f"say {number}", name=f"m{number}")]
    write("aaaa", *updates, idle())
    assert [hit.seq for hit in found(home, "wagtail")] == [9]


def test_an_answer_that_was_taken_back_is_not_found(home: str, write: Write) -> None:
    back = chunk("") | {"_meta": {"rookery": {"takenBack": True}}}
    write("aaaa", chunk("a dodo"), back, chunk("a crane"), idle())
    assert not found(home, "dodo")
    assert [hit.seq for hit in found(home, "crane")] == [3]


def test_a_message_that_is_being_written_is_found_when_it_is_complete(home: str) -> None:
    directory = paths.session_dir(home, "aaaa")
    with Writer.open(directory, create=True) as log:
        from rookery.core.json import Draft

        log.append([Draft(prompt("a lark")), Draft(chunk("a night"))])
        assert [hit.seq for hit in found(home, "lark")] == [1]
        assert not found(home, "night")
        log.append([Draft(chunk("ingale")), Draft(idle())])
        assert [hit.seq for hit in found(home, "nightingale")] == [2]


def test_the_index_is_for_this_user_alone(home: str, write: Write) -> None:
    write("aaaa", prompt("x"), idle())
    assert update(home).done
    assert os.stat(index.folder(home)).st_mode & 0o777 == 0o700
    assert os.stat(index.path(home)).st_mode & 0o777 == 0o600


def test_a_row_is_not_larger_than_it_need_be() -> None:
    assert SIZE <= 16_384
    assert sqlite3.sqlite_version_info >= (3, 34)


def test_an_agents_system_prompt_is_not_found(home: str, write: Write) -> None:
    told = "System Prompt:\nYou are an albatross."
    write("aaaa", prompt("Hi"), chunk(told, "agent_thought_chunk"), chunk("A tern"), idle())
    assert not found(home, "albatross")
    assert found(home, "tern")
