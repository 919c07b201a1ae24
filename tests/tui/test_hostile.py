"""Whatever an agent says, it is shown: any text, at any width, without an error and without a
control that reaches the terminal."""

import re
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from rookery.core.blocks.document import make_block
from rookery.render import terminal
from rookery.render.lines import block as looks
from rookery.render.lines import markdown
from rookery.render.lines.view import View
from rookery.render.runs import fold, wrap
from rookery.render.stretches import MAX_LENGTH, starts_of, stretch
from rookery.tui.look.keyboard import Keyboard, Pressed
from rookery.tui.look.palette import look_of
from rookery.tui.look.runs import painted as in_colour
from rookery.tui.look.runs import strip_of
from rookery.tui.transcript.item import Item
from rookery.tui.transcript.painting import painted

LOOK = look_of("rookery-dark")
ROLES = ("prompt", "answer", "thought", "tool", "terminal", "plan", "ask", "divider", "raw")
ROLES = (*ROLES, "notice", "error", "made-up")
KINDS = ("read", "edit", "execute", "think", "other", "")
STATES = ("", "pending", "running", "done", "failed", "asked", "answered", "interrupted", "x")
PIECES = ("\x1b[31m", "\x1b]0;t\x07", "\x1b[2J", "\r", "\b", "\x1b[5A", "\x9b31m", "# ", "```py\n")
PIECES = (
    *PIECES,
    "| a | b |\n|--|--|\n",
    "- ",
    "1. ",
    "> ",
    "[x](y)",
    "漢字",
    "e\u0301",
    "👩‍👩‍👧",
    "\n\n",
)
PIECES = (*PIECES, "\ud800", "\u202e", "\x00", "[bold]", "*", "`", "\t", "  ")

texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=30)), max_size=20).map("".join)
widths = st.integers(1, 200)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
parts = st.one_of(
    st.builds(lambda text: {"type": "markdown", "text": text}, texts),
    st.builds(
        lambda a, b: {"type": "diff", "path": a[:9], "old": a, "new": b, "line": 3}, texts, texts
    ),
    st.builds(lambda text: {"type": "terminal", "text": text}, texts),
    st.builds(lambda t: {"type": "checklist", "items": [{"text": t, "status": t[:3]}]}, texts),
    st.builds(lambda t: {"type": "image", "mime": t, "bytes": 3, "name": t}, texts),
    st.builds(lambda t, u: {"type": "link", "name": t, "uri": u}, texts, texts),
    st.builds(lambda t: {"type": "form", "schema": {"properties": {t: {"title": t}}}}, texts),
    st.builds(lambda value: {"type": "json", "value": value}, values),
    st.builds(lambda t: {"type": t}, texts),
)
actions = st.builds(
    lambda t, d, o: {"label": t, "command": {}} | ({"disabled": t} if d else {}) | o,
    texts,
    st.booleans(),
    st.sampled_from([{}, {"danger": True}]),
)


@st.composite
def blocks(draw: st.DrawFn) -> dict[str, Any]:
    made = make_block("1.1", draw(st.sampled_from(ROLES)))
    made |= {"title": draw(texts), "text": draw(texts), "status": draw(st.sampled_from(STATES))}
    made |= {"kind": draw(st.sampled_from(KINDS)), "parts": draw(st.lists(parts, max_size=3))}
    made["actions"] = draw(st.lists(actions, max_size=3))
    made |= draw(st.sampled_from([{}, {"danger": "is \x1b[31m"}, {"input": {"value": {"a": 1}}}]))
    made |= draw(
        st.sampled_from([{}, {"seconds": 0.2}, {"since": 4}, {"exit": 1}, {"seconds": "x"}])
    )
    return made


CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u202e]")


LINES = make_block("1.1", "prompt") | {"parts": [{"type": "json", "value": "one\ntwo\n"}]}


@settings(max_examples=120)
@example(LINES, 40, False, False)
@given(blocks(), widths, st.booleans(), st.booleans())
def test_any_block_renders_at_any_width(
    block: dict[str, Any], width: int, opened: bool, split: bool
) -> None:
    view = View(width, "an\x1bagent", "/w", opened, split, now=99_000)._replace(
        controls=Keyboard(pressed=Pressed(doubtful=0))
    )
    item = Item(block)
    strips = painted(item, starts_of(block["text"]), view, LOOK)
    for strip in strips:
        assert not CONTROLS.search(strip.text), repr(strip.text)
    assert looks.text_of(block, []) is not None
    assert looks.can_open(block, []) in (True, False)


@settings(max_examples=100)
@given(texts, st.integers(2, 120))
def test_lines_are_no_wider_than_the_view(text: str, width: int) -> None:
    for lines in (
        markdown.rendered(text, width),
        wrap([(text.replace("\x1b", ""), "ink")], width),
    ):
        for line in lines:
            wide = sum(cell_len(words) for words, _ in line)
            assert wide <= max(width, 12), (wide, strip_of(in_colour(line, LOOK)).text)
    for line in fold([("".join(text.split("\n")), "ink")], width):
        assert sum(cell_len(words) for words, _ in line) <= width


@settings(max_examples=100)
@given(texts)
def test_output_keeps_its_colours_and_no_escape_codes(text: str) -> None:
    for line in terminal.lines_of(text):
        assert not CONTROLS.search("".join(words for words, _ in line))


def test_output_is_what_a_terminal_would_show() -> None:
    lines = terminal.lines_of(
        "\x1b[1;31mred\x1b[0m on\n10%\r100%\nab\bX\n\x1b[1A\x1b[2Knew\x1b]52;c;x\x07"
    )
    assert ["".join(text for text, _ in line) for line in lines][:3] == ["red on", "100%", "new"]
    assert lines[0][0][1].colour is not None
    assert "bold" in lines[0][0][1].flags


@settings(max_examples=80)
@given(st.lists(st.one_of(texts, st.just("word " * 400), st.just("\n\n")), max_size=12))
def test_a_streamed_text_is_the_same_in_any_pieces(pieces: list[str]) -> None:
    grown, known = "", ()
    for piece in pieces:
        grown += piece
        known = starts_of(grown, known)
        assert known[0].at == 0
        assert list(known) == sorted(known, key=lambda start: start.at)
        whole = "".join(
            stretch(grown, known, number).removeprefix(f"{start.fence}\n" if start.fence else "")
            for number, start in enumerate(known)
        )
        assert whole == grown
        longest = max(len(stretch(grown, known, number)) for number in range(len(known)))
        assert longest <= 3 * MAX_LENGTH + 100


def test_a_line_of_a_megabyte_is_split() -> None:
    text = "x" * 1_000_000
    starts = starts_of(text)
    assert len(starts) > 100
    item = Item(make_block("1.1", "answer", text=text), 5)
    strips = painted(item, starts, View(80), LOOK)
    assert 10 < len(strips) < 100
    card = make_block("1.2", "tool", text="", kind="execute", status="failed")
    card["parts"] = [{"type": "markdown", "text": text}]
    assert len(painted(Item(card), (), View(80), LOOK)) < 60
