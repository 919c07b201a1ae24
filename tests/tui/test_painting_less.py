"""What a stream and a key do not have to make again: tokens, strips, the lines of other widgets."""

import asyncio

import pytest
from pygments.lexer import ExtendedRegexLexer
from textual._compositor import ChopsUpdate
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widgets import Label

from rookery.core.blocks.document import Op, make_block
from rookery.render import code
from rookery.render.lines.view import View
from rookery.tui.look.palette import look_of
from rookery.tui.pace import Pace
from rookery.tui.private import KeptLines
from rookery.tui.transcript.painting import painted
from rookery.tui.transcript.scroll import Scroll
from rookery.tui.transcript.window import Window
from tests.tui import gallery
from tests.tui.still import Still

SAMPLES = {
    "python": '@cache\ndef f(a):\n    """Say\n\n    what.\n    """\n    return f"{a}"  # b\n',
    "javascript": "/**\n * What it does.\n */\nconst a = `one ${two}\nthree`;\nlet b = /x+/g;\n",
    "bash": 'cat <<EOF\nif it is $HOME\nEOF\nfor a in 1 2; do echo "$a"; done\n',
    "rust": '/* a /* b */\n c */\nfn main() -> Result<()> {\n    let s = r#"a\nb"#;\n}\n',
    "c": "/* one\n two */\n#include <stdio.h>\nint main(void) { return 0; }\n",
    "markdown": "Title\n=====\n\n~~~~python\nx = 1\n~~~~\n- one\n",
    "html": "<!-- one\n two -->\n<p class='a'>x</p>\n<script>\nlet a = 1;\n</script>\n",
    "sql": "select a, b -- c\nfrom t /* d\n e */ where x = 'y\nz';\n",
    "yaml": "a:\n  - b: |\n      c\n      d\n  - 'e'\n",
    "go": "package main\n\n/* a\nb */\nfunc main() {\n\tx := `a\nb`\n}\n",
    "ruby": "a = <<~X\n  one\nX\n=begin\ntwo\n=end\nputs :b\n",
    "java": "/**\n * One.\n */\n@A\nclass B { int c = 1; }\n",
}


@pytest.fixture(autouse=True)
def _unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "_whole", {})
    monkeypatch.setattr(code, "_grown", {})


@pytest.mark.parametrize("language", SAMPLES)
@pytest.mark.parametrize("step", [1, 7, 31])
def test_code_that_came_in_pieces_looks_as_if_it_came_at_once(language: str, step: int) -> None:
    text = SAMPLES[language] * 3
    for end in range(step, len(text), step):
        lines = code.tokens(text[:end], language)
        assert "\n".join("".join(t for t, _ in line) for line in lines) == text[:end].expandtabs(4)
    code.tokens(text, language)
    grown = code.tokens(text, language)  # it stays the same
    code._whole.clear()
    code._grown.clear()
    assert grown == code.tokens(text, language)


def test_of_code_that_grows_only_the_last_lines_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read = [0]
    before = ExtendedRegexLexer.get_tokens_unprocessed

    def counted(self: object, **given: object) -> object:
        for found in before(self, **given):
            read[-1] += len(found[2])
            yield found

    monkeypatch.setattr(ExtendedRegexLexer, "get_tokens_unprocessed", counted)
    line = 'value = call(1, "two")  # three\n'
    text = line * (code.STRETCH - 2)
    code.tokens(text, "python")
    for _ in range(5):
        text += "more = 4\n"[:4]
        read.append(0)
        code.tokens(text, "python")
    assert max(read[1:]) < 5 * len(line)


def test_a_string_that_is_not_closed_yet_is_one_in_every_line() -> None:
    text = 'x = """one\n'
    for word in ("two\n", "three\n", "four\n", "five"):
        text += word
        lines = code.tokens(text, "python")
    assert [[kind for _, kind in line] for line in lines[1:]] == [["Literal.String"]] * 4


def test_lines_that_a_growing_text_keeps_are_the_same_strips() -> None:
    window = Window()
    window.apply([["put", make_block("1.1", "answer", text="```python\n" + "x = 1\n" * 20)]])
    view, look = View(80), look_of("rookery-dark")

    def lines() -> list[Strip]:
        (item,) = window.items()
        item.paint(painted(item, window.pages[-1].outline.starts("1.1"), view, look))
        assert item.lines is not None
        return item.lines

    first = lines()
    window.apply([["append", "1.1", "y = 2\n"]])
    second = lines()
    assert len(second) == len(first) + 1
    assert all(one is other for one, other in zip(first, second, strict=False))


class Stage(App[None]):
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Counted()
            yield Label("a", id="other")


class Counted(Scroll):
    made = 0

    def made_lines(self, crop: Region) -> list[Strip]:
        self.made += 1
        return super().made_lines(crop)


async def test_a_change_elsewhere_makes_no_line_of_the_transcript_again() -> None:
    app = Stage()
    async with app.run_test(size=(80, 24)) as pilot:
        scroll = app.query_one(Counted)
        scroll.styles.height = 20
        window = Window()
        window.apply([["put", make_block("1.1", "answer", text="One.")]])
        scroll.show(window)
        await pilot.pause()
        made = scroll.made
        for word in ("b", "c", "d"):
            app.query_one("#other", Label).update(word)
            await pilot.pause()
        assert scroll.made == made
        window.apply([["append", "1.1", " Two."]])
        scroll.changed()
        await pilot.pause()
        assert scroll.made == made + 1
        assert "One. Two." in scroll.render_lines(scroll.size.region)[1].text


async def test_a_letter_makes_the_lines_of_the_composer_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []
    before = KeptLines.render_lines

    def counted(self: KeptLines, crop: Region) -> list[Strip]:
        kept = self._kept
        lines = before(self, crop)
        if self._kept is not kept:
            made.append(type(self).__name__)
        return lines

    monkeypatch.setattr(KeptLines, "render_lines", counted)
    app = Still(gallery.opened(gallery.TALK))
    async with app.run_test(size=(160, 40)) as pilot:
        await pilot.press("a", "b")
        await pilot.pause()
        assert {"Transcript", "Fleet", "Status", "Composer"} <= set(made)
        made.clear()
        for letter in "cde":
            await pilot.press(letter)
            await pilot.pause()
        assert app.composer.text == "abcde"
        assert set(made) - {"Status"} == {"Composer"}, "its sign may turn meanwhile"


async def test_the_composer_has_a_scrollbar_once_it_needs_one_and_none_for_a_moment() -> None:
    app = Still(gallery.opened(gallery.TALK))
    async with app.run_test(size=(80, 40)) as pilot:
        shown: list[bool] = []
        await pilot.pause()  # all of the screen is there

        def changed(now: bool) -> None:
            shown.append(now)

        app.watch(app.composer, "show_vertical_scrollbar", changed, init=False)
        app.composer.insert("word " * 20)  # two lines
        for _ in range(6):
            app.composer.insert("\n")
            await pilot.pause()
        assert app.composer.wrapped_document.height == app.composer.size.height == 8
        assert not shown
        app.composer.insert("\none more")
        await pilot.pause()
        assert shown == [True]
        assert app.composer.size.height == 8
        app.composer.put("short")
        await pilot.pause()
        assert shown == [True, False]
        assert app.composer.size.height == 1


async def test_news_that_come_with_a_key_are_told_after_it() -> None:
    told, done = list[list[Op]](), asyncio.Event()
    busy = [0.001, 0.001]

    def tell(ops: list[Op]) -> None:
        told.append(ops)
        done.set()

    pace = Pace(tell, lambda _: 0.0, lambda: busy.pop() if busy else 0.0)
    pace.add([["append", "1.1", "one "]])
    pace.add([["append", "1.1", "two"]])
    await done.wait()
    assert not busy
    assert told == [[["append", "1.1", "one two"]]]


async def test_a_key_is_seen_before_the_next_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else waits to be painted."""
    seen: list[str] = []
    display = App._display

    def displayed(self: App[str], screen: Screen[object], update: object) -> None:
        if isinstance(update, ChopsUpdate):
            seen.append(update.render_segments(self.console))
        display(self, screen, update)  # type: ignore[arg-type]

    app = Still(gallery.opened(gallery.TALK))
    async with app.run_test(size=(80, 24)) as pilot:
        async with asyncio.timeout(60):
            await pilot.pause()
            while app.screen._layout_required or app.composer._layout_required:
                await pilot.pause()  # on a busy machine it is not laid out yet
            monkeypatch.setattr(App, "_display", displayed)
            app.screen._update_timer.stop()  # no frame comes any more
            app.transcript.refresh()
            await pilot.press("ü")
            while not seen:
                await pilot.pause()  # nor has it taken the key
        assert ["ü" in each for each in seen] == [True]
        assert "Markdown" not in seen[0]
