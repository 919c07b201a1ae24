"""`rookery search`, and `rookery show --at`, which opens a hit."""

import json
import shutil

import pytest

from rookery.cli.app import run
from rookery.home import paths
from rookery.search import index
from tests.search.conftest import Write, call, chunk, idle, prompt


@pytest.fixture(autouse=True)
def _here(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOKERY_HOME", home)


def test_hits_have_their_words_marked_and_a_command_to_open_them(
    home: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("aaaa", prompt("Where is the robin?"), chunk("The robin is here."), idle(), title="Birds")
    assert run(["search", "Robin"]) == 0
    out = capsys.readouterr().out
    assert "Where is the *robin*?" in out
    assert "The *robin* is here." in out
    assert "rookery show aaaa --at 2" in out
    assert out.count("Birds  ") == 2
    assert "· Jan 1970\n" in out, "an age, not a clock"
    assert run(["search", "is here", "--json"]) == 0
    [hit] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert hit["text"][slice(*hit["marks"][0])] == "is here"
    assert (hit["session"], hit["seq"], hit["role"]) == ("aaaa", 2, "answer")
    assert hit["command"] == "rookery show aaaa --at 2"
    assert (
        run(["search", "robin", "--role", "prompt", "--limit", "1", "--since", "2030-01-01"]) == 1
    )
    assert "Nothing found." in capsys.readouterr().err
    assert run(["search", "robin", "--since", "yesterday"]) == 2


def test_the_index_is_made_again_when_it_was_deleted(
    home: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("aaaa", prompt("a robin"), idle())
    assert run(["search", "robin"]) == 0
    before = capsys.readouterr().out
    shutil.rmtree(index.folder(home))
    assert run(["search", "robin"]) == 0
    assert capsys.readouterr().out == before != ""


def test_a_hit_is_shown_with_what_is_beside_it(
    home: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    content = [{"type": "content", "content": {"type": "text", "text": "a hoopoe"}}]
    updates = [prompt("Go")]
    for number in range(40):
        updates.append(chunk(f"answer {number}.", name=f"m{number}"))
        updates.append(call(f"c{number}", title=f"call {number}", kind="read"))
    updates.append(call("c20", status="completed", content=content))
    write("aaaa", *updates, idle())
    assert run(["show", "aaaa", "--at", "22"]) == 0
    out = capsys.readouterr().out
    assert "answer 10." in out
    assert "answer 11." in out
    assert "answer 20." not in out
    assert run(["show", "aaaa", "--at", "82", "--json"]) == 0
    blocks = json.loads(capsys.readouterr().out)["blocks"]
    assert "call 20" in [block["title"] for block in blocks]
    assert run(["show", "aaaa", "--at", "999"]) == 2
    assert run(["show", "aaaa", "--at", "3", "--all"]) == 2
    assert paths.session_ids(home) == ["aaaa"]
