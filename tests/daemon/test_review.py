"""Changes, the timeline and hits as HTML: nothing in them is markup of others."""

from pathlib import Path

import pytest

from rookery.client.work_tree.changes import changes
from rookery.client.work_tree.context import Gap, lines_of, on_disk
from rookery.core.json import Draft, Event
from rookery.daemon import tail
from rookery.daemon.page import timeline as page
from rookery.daemon.pieces.review import changed_file, hits, timeline
from rookery.daemon.pieces.review import changes as pieces
from rookery.home import paths
from rookery.log.reader import Reader
from rookery.log.store import Writer
from rookery.render.diff import of_hunk
from rookery.search.query import Hit
from rookery.search.snippets import Snippet
from tests.client.work_tree.trees import Tree
from tests.export.sessions import chunk, home_of, prompt, session, turn

HOSTILE = '<script>alert(1)</script> "><img src=x onerror=alert(1)> \x1b[31m \u202e'
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0B\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize("view", ["unified", "split"])
def test_hostile_names_and_texts_are_shown_as_they_are(tmp_path: Path, view: str) -> None:
    tree = Tree(tmp_path / "t", a="1\n", b="1\n")
    tree.put({"a": f"{HOSTILE}\n", '"><b>': HOSTILE, "key.pem": KEY})
    found = pieces.rendered(changes(tree.cwd), pieces.Shown("s", view=view, branch="<b>"))
    for word in ("<script", "<img", "<b>", "\x1b", "\u202e"):
        assert word not in found
    assert "&lt;script&gt;" in found
    assert "MIIEvQ" not in found
    assert "•" in found


def test_a_read_only_page_has_no_buttons(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "t", a="1\n")
    tree.put({"a": "2\n"})
    found = pieces.rendered(changes(tree.cwd), pieces.Shown("s", read_only=True))
    assert "<button" not in found
    assert "<form" not in found


def test_long_diffs_load_the_rest_on_request(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "t")
    tree.put(dict.fromkeys("abc", "x\n" * 2000))
    found = pieces.rendered(changes(tree.cwd), pieces.Shown("s"))
    assert found.count("<tr ") == 2_000
    assert found.count("Show 2,000 lines") == 2 or found.count("Show 2000 lines") == 2
    file = changes(tree.cwd).file("b")
    assert file is not None
    assert changed_file.section(file, pieces.Shown("s"), full=True).count("<tr ") == 2_000


@pytest.mark.parametrize("view", ["unified", "split"])
def test_lines_around_a_hunk_hide_secrets_and_markup(tmp_path: Path, view: str) -> None:
    lines = [*f"{KEY}{HOSTILE}".split("\n"), *(f"line {n}" for n in range(60))]
    tree = Tree(tmp_path / "t", a="\n".join(lines) + "\n")
    tree.put({"a": "\n".join([*lines[:-1], "last"]) + "\n"})
    file = changes(tree.cwd).file("a")
    assert file is not None
    shown = pieces.Shown("s", view=view, scope="turn=3")
    drawn = changed_file.section(file, shown, full=True)
    assert f'data-first="1" data-last="{len(lines) - 4}" data-shift="0"' in drawn
    assert "whole=1&amp;turn=3" in drawn
    safe = changed_file.readable(file.change, lines_of(on_disk(tree.cwd, file)))
    found = changed_file.lines_between("a", safe, Gap(2, 20, 0), shown)
    assert found.count("<tr ") == 19
    assert '<table data-last="20">' in found
    rest = changed_file.lines_between("a", safe, Gap(2, 10**9, 0), shown)
    assert f'<table data-last="{len(lines)}" data-end="1">' in rest
    for word in ("MIIEvQ", "BgkqhkiG", "<script", "<img", "\x1b", "\u202e"):
        assert word not in found


def test_rows_of_a_hunk_have_numbers_and_changed_words() -> None:
    rows = of_hunk([" a", "-b one", "-c", "+b two", " d", "+e"], 10, 20)
    assert [(row.sign, row.old, row.new) for row in rows] == [
        (" ", 10, 20),
        ("-", 11, None),
        ("-", 12, None),
        ("+", None, 21),
        (" ", 13, 22),
        ("+", None, 23),
    ]
    assert rows[1].marks == ((2, 5),)
    assert rows[3].marks == ((2, 5),)


def test_a_hit_marks_its_words_and_hides_secrets() -> None:
    secret = "sk-" + "a" * 30
    text = f"<b>bird</b> {secret} heron"
    place = text.index("heron")
    snippet = Snippet(text, ((3, 7), (place, place + 5)))
    hit = Hit("s", 7, 0, "answer", snippet, HOSTILE, "<i>", "/tmp/<u>")
    found = hits.results(hits.SearchQuery("bird"), [hit], more=False, whole=False, problem="")
    assert "<mark>bird</mark>" in found
    assert "<mark>heron</mark>" in found
    assert "data-again" in found
    for word in ("<b>", "<i>", "<u>", "<script", secret):
        assert word not in found
    assert 'href="/sessions/s?at=7"' in found


def event(seq: int, kind: str, **fields: object) -> Event:
    return Event(seq, seq * 1000, None, None, {"sessionUpdate": kind, **fields})


def test_timeline_entries_show_words_bursts_asks_and_failures() -> None:
    events = [
        event(1, "_session"),
        event(2, "_prompt", prompt=[{"type": "text", "text": f"fix it {HOSTILE}"}]),
        event(3, "tool_call"),
        event(4, "tool_call_update"),
        event(5, "tool_call"),
        event(6, "agent_message_chunk"),
        event(7, "tool_call"),
        event(8, "_ask", state="asked"),
        event(9, "_ask", state="answered"),
        event(10, "_prompt", prompt=[{"type": "text", "text": "faster"}], steered=True),
        event(11, "_turn", state="idle", reason="rate_limited"),
        event(12, "_prompt", prompt=[]),
    ]
    turns = [0, *[1] * 10, 2]
    rows = [
        (each.seq, each.at, str(each.update["sessionUpdate"]), n)
        for each, n in zip(events, turns, strict=True)
    ]
    first, second = timeline.turns_of(rows, events)
    drawn = [(mark.kind, mark.seq, mark.many) for mark in first.marks if mark.kind]
    assert drawn == [
        ("tools", 3, 2),
        ("tools", 7, 1),
        ("ask", 8, 1),
        ("steered", 10, 1),
        ("limited", 11, 1),
    ]
    assert (first.seq, first.ended, second.ended) == (2, 11_000, 0)
    found = timeline.rendered(timeline.Page("s", [first, second], 12_345), side=True)
    assert "<script" not in found
    assert "Ended: rate limited" in found
    assert "12,345" in found


def test_a_page_of_the_timeline_reads_only_that_page(tmp_path: Path) -> None:
    with Writer.open(str(tmp_path), create=True) as log:
        for n in range(1, 251):
            prompt = [{"type": "text", "text": f"prompt {n}"}]
            log.append([Draft({"sessionUpdate": "_prompt", "prompt": prompt})])
    last = page.page(str(tmp_path), "s", None)
    assert [last.turns[0].n, last.turns[-1].n, last.last] == [151, 250, 250]
    assert last.turns[-1].text == "prompt 250"
    first = page.page(str(tmp_path), "s", 50)
    assert [first.turns[0].n, first.turns[-1].n] == [1, 100]
    assert page.page(str(tmp_path), "s", 10**9).turns == last.turns


def test_the_transcript_after_a_hit_has_no_gap(tmp_path: Path) -> None:
    """Also of one turn that is too long to be read at once."""
    step = {"sessionUpdate": "tool_call", "kind": "edit", "status": "completed"}
    text = [{"type": "content", "content": {"type": "text", "text": "x" * 4000}}]
    with Writer.open(str(tmp_path), create=True) as log:
        log.append([Draft({"sessionUpdate": "_prompt", "prompt": []})])
        log.append([Draft({**step, "toolCallId": str(n), "content": text}) for n in range(600)])
    with Reader.open(str(tmp_path)) as read:
        last, end = read.last_seq(), tail.tail(read, read.last_seq())
        found, upto = tail.around(read, 5, last)
        assert found.first <= 5
        shown = dict.fromkeys(found.document.blocks)
        while end.first > upto + 1:
            more, further = tail.after(read, upto, last)
            assert more.first <= upto + 1 < further + 1
            shown |= dict.fromkeys(more.document.blocks)
            upto = further
    assert len(shown | dict.fromkeys(end.document.blocks)) >= 600


@pytest.mark.parametrize("size", [0, 20_000], ids=["many", "large"])
def test_a_session_opens_with_blocks_however_much_without_any_is_at_its_end(
    tmp_path: Path, size: int
) -> None:
    usage = {"sessionUpdate": "usage_update", "used": 1, "size": 2, "_meta": {"x": "y" * size}}
    begin = [session(), prompt("Begin"), turn("running"), chunk("Done."), turn("idle")]
    home = home_of(tmp_path, *begin, *[usage] * 150)
    with Reader.open(paths.session_dir(home, "a1b2c3")) as log:
        found = tail.tail(log, log.last_seq())
        assert len(found.document.blocks) == 2
        assert found.first <= 3
