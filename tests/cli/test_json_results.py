"""`--json` in what the shape of its objects does not show: nothing is asked, nothing else is on
stdout, secrets stay hidden, and what is written for people stays on stderr."""

from pathlib import Path

import pytest

from rookery.home import paths
from tests.cli.driving import Terminal, play, rookery
from tests.client.work_tree.trees import WHO, Tree


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)


def created(*words: str, cwd: Path | None = None) -> str:
    done = rookery("new", "--agent", "demo", *words, "--json", cwd=cwd)
    return str(done.events[0]["id"])


@pytest.mark.parametrize(
    "words", [("remove", "New"), ("config", "trust-git"), ("agents", "install", "claude")]
)
def test_a_terminal_asks_nothing(home: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    tree = Tree(tmp_path / "there")
    tree.git("config", "filter.x.clean", "true")
    created("--title", "New")
    given = [*words, str(tree.place)] if words[0] == "config" else words
    with Terminal(*given, "--json") as terminal:
        done = terminal.end()
    assert (done.code, "--yes" in done.out) == (2, True)
    assert '{"' not in done.out


def test_hints_stay_on_stderr_and_words_are_not_printed(home: Path) -> None:
    session = created()
    found = rookery("config", "explain", "--json")
    assert found.err == ""
    assert {each["key"] for each in found.events} >= {"default_agent", "session.confirm"}
    done = rookery("queue", session, "clear", "--json")
    assert (done.code, done.out) == (0, "")
    assert "Nothing is queued" in done.err


def test_a_line_of_a_log_is_an_object(home: Path) -> None:
    session = created()
    folder = Path(paths.session_dir(str(home), session))
    (folder / paths.AGENT_LOG).write_text("one\ntwo\n")
    (folder / paths.WORKER_LOG).write_text("three\n")
    found = rookery("logs", session, "--json").events
    assert [(each["session"], each["log"], each["text"]) for each in found] == [
        (session, "agent", "one"),
        (session, "agent", "two"),
        (session, "worker", "three"),
    ]


def test_it_may_stand_before_a_verb(home: Path) -> None:
    rookery("setup", "--model", "ollama_chat/a", "--name", "a", "--no-test")
    for words in (("setup", "--json", "list"), ("setup", "list", "--json")):
        assert [each["name"] for each in rookery(*words).events] == ["a"]


def test_a_secret_that_is_set_is_not_printed(home: Path) -> None:
    done = rookery("config", "set", "web.search_key", "sk-secret", "--json")
    assert done.events[0]["value"] == "(hidden)"
    added = rookery("mcp", "add", "--json", "docs", "https://example.com", "--header", "A=secret")
    assert added.events[0]["server"]["headers"] == {"A": "•••"}


def test_a_file_on_stdout_leaves_no_room_for_it(home: Path) -> None:
    done = rookery("export", created(), "-o", "-", "--json")
    assert (done.code, done.out) == (2, "")


def test_work_trees_answer_as_the_api_does(home: Path, tmp_path: Path) -> None:
    tree = Tree(tmp_path / "there", a__txt="one\n")
    session = created(cwd=tree.place)
    moved = rookery("move", session, "--name", "apart", "--json").events[0]
    assert moved.keys() == {"session", "branch", "directory", "files", "from", "summary"}
    rookery("prompt", session, "--wait", play({"command": "echo two >> a.txt"}))
    merged = rookery("merge", session, "-m", "mine", "--json")
    assert (merged.code, len(merged.events)) == (0, 1)
    assert merged.events[0].keys() >= {"commit", "files", "into", "kept"}
    other = created("--worktree", "away", cwd=tree.place)
    dropped = rookery("drop", other, "--json")
    said = f"Dropped the worktree of {other}."
    assert dropped.events == [{"summary": said, "session": other, "dropped": True}]


def test_each_of_several_sessions_has_a_line_that_names_it_even_if_nothing_was_to_be_done(
    home: Path,
) -> None:
    first, second = created(), created()
    rookery("archive", first)
    done = rookery("archive", first, second, "--json")
    assert (done.code, [each["session"] for each in done.events]) == (0, [first, second])
    assert done.events[0]["needless"] == "is already archived"
    assert done.events[1]["update"]["archived"] is True
