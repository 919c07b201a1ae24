"""Which file or command a few letters mean."""

import subprocess
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from rookery.client.work_tree import files
from rookery.core.header import EMPTY
from rookery.core.view.fuzzy import ranked, score
from rookery.tui.writing import commands, history
from rookery.tui.writing.pasted import image_paths

NAMES = st.text(st.characters(codec="utf-8"), max_size=40)


@given(NAMES, NAMES)
def test_a_match_has_all_letters_in_their_order(query: str, name: str) -> None:
    low = name if any(letter.isupper() for letter in query) else name.lower()
    at, fits = 0, True
    for letter in query:
        at = low.find(letter, at) + 1
        fits = fits and at > 0
        if not fits:
            break
    assert (score(query, name) is not None) == fits


@given(NAMES, st.lists(NAMES, max_size=30))
def test_the_best_matches_are_few_and_in_order(query: str, names: list[str]) -> None:
    found = ranked(query, names, 5)
    scores = [score(query, name) for name in found]
    assert len(found) <= 5
    assert set(found) <= set(names)
    assert scores == sorted(scores, key=lambda value: (value is None, value))


def test_the_name_counts_more_than_the_folders() -> None:
    names = ["app/settings/models.py", "src/app.py", "src/apply.py", "docs/a/p/p.md"]
    assert ranked("app", names)[:2] == ["src/app.py", "src/apply.py"]
    assert ranked("sapp", names)[0] == "src/app.py"
    assert ranked("zz", names) == []


def test_ignored_files_are_left_out_with_and_without_git(tmp_path: Path) -> None:
    for name in ("src/app.py", "node_modules/x.js", "secret.log", "wide ü.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / ".gitignore").write_text("*.log\nnode_modules\n")
    without = {".gitignore", "secret.log", "src/app.py", "wide ü.txt"}
    assert set(files.listed(str(tmp_path))) == without
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert set(files.listed(str(tmp_path))) == without - {"secret.log"}


def test_thousands_of_files_are_ranked() -> None:
    names = [f"src/part{n}/module_{n}.py" for n in range(20_000)]
    assert ranked("module_19999", names)[0] == "src/part19999/module_19999.py"


def test_prompts_of_this_directory_come_first_and_broken_lines_are_skipped(
    tmp_path: Path,
) -> None:
    home = str(tmp_path)
    history.keep(home, "/elsewhere", "other")
    history.keep(home, "/here", "one\ntwo")
    with (tmp_path / history.FILE).open("a") as file:
        file.write('{"cwd": "/here", "te\n[]\nnull\n')
    history.keep(home, "/here", "three")
    history.keep(home, "/here", "one\ntwo")
    assert history.read(home, "/here") == ["other", "three", "one\ntwo"]
    assert history.read(home, "/elsewhere")[-1] == "other"
    assert (tmp_path / history.FILE).stat().st_mode & 0o777 == 0o600


def test_browsing_the_history_gives_the_draft_back() -> None:
    past = history.Past()
    past.load(["a", "b"])
    assert [past.older("draft"), past.older("b"), past.older("a")] == ["b", "a", None]
    assert [past.newer(), past.newer(), past.newer()] == ["b", "draft", None]
    assert past.matches("B") == ["b"]


@given(st.text(max_size=200) | st.text("file:/[]'\\ .png\n~a", max_size=40))
def test_any_text_can_be_pasted(text: str) -> None:
    for path in image_paths(text):
        assert path.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".webp"))


def test_dropped_paths_are_recognised_in_every_spelling() -> None:
    one = "/tmp/a b.png"
    ways = (one, "'/tmp/a b.png'", r"/tmp/a\ b.png", "file:///tmp/a%20b.png", f"{one} ")
    for text in ways:
        assert image_paths(text) == [one]
    for text in ("see /tmp/x.png", "/tmp/x.py", "x.png", "file://[.png", "'/tmp/a.png"):
        assert image_paths(text) == []


def test_several_paths_are_dropped_at_once() -> None:
    two = ["/tmp/a b.png", "/tmp/c.JPG"]
    for text in (
        "'/tmp/a b.png' '/tmp/c.JPG'",
        r"/tmp/a\ b.png /tmp/c.JPG ",
        "file:///tmp/a%20b.png\nfile:///tmp/c.JPG\n",
        "file:///tmp/a%20b.png file:///tmp/c.JPG",
        "/tmp/a b.png\r\n/tmp/c.JPG",
    ):
        assert image_paths(text) == two
    assert image_paths("/tmp/a.png\nand a word on it") == []
    assert image_paths("/tmp/a.png /tmp/notes.txt") == []


def test_the_agents_commands_are_listed_beside_ours() -> None:
    listed = [{"name": "review", "description": "Review"}, {"name": "clear"}]
    found = commands.known(EMPTY.with_(commands=listed))
    assert found["review"].about == "Review"
    assert not found["review"].ours
    assert found["clear"].ours
    assert commands.parsed("/review it") is None
    assert commands.parsed("/rename  A title ") == (
        commands.ours()["rename"],
        "A title",
    )
    assert commands.parsed("/exit") == (commands.NAMES["quit"], "")
    assert commands.parsed("/etc/hosts is a file") is None
