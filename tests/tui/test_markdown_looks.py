"""Markdown in the terminal: links, patches, diagrams, formulas; and the prompt above them."""

import asyncio
import os
import re
from pathlib import Path

import pytest
from rich.color import ColorSystem

from rookery.export.html.markdown import rendered as as_html
from rookery.render import links
from rookery.render.lines import markdown
from rookery.render.notation import diagrams, formulas
from rookery.tui.look.palette import look_of
from rookery.tui.look.runs import Line, painted, strip_of
from tests.export.sessions import png
from tests.tui import gallery
from tests.tui.test_clipboard import tool
from tests.tui.test_keys import lines, showing

LOOK = look_of("rookery-dark")


def shown(text: str, width: int = 76) -> list[Line]:
    return [painted(line, LOOK) for line in markdown.rendered(text, width, width)]


def words(text: str) -> str:
    return "\n".join("".join(piece for piece, _ in line).rstrip() for line in shown(text))


def followed(text: str) -> set[str]:
    return {style.link for line in shown(text) for _, style in line if style.link}


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("see https://a.org/x?y=1#z.", {"https://a.org/x?y=1#z"}),
        ("(https://a.org/b_(c)) and www.b.org!", {"https://a.org/b_(c)", "https://www.b.org"}),
        ("[notes](https://a.org/n) **https://b.org**", {"https://a.org/n", "https://b.org"}),
        ("`https://a.org` ftp://b javascript:alert(1) [x](javascript:alert(1))", set()),
        ("[x](file:///etc/passwd) user@www.a.org a/https://b.org", set()),
    ],
)
def test_links_that_may_be_followed_are_links(text: str, addresses: set[str]) -> None:
    assert followed(text) == addresses
    page = as_html(text)
    assert {each.split('"')[0] for each in page.split('<a href="')[1:]} == addresses


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("[notes](https://a.org/n)", "(a.org)"),
        ("[a.org/n](https://a.org/n/) https://a.org www.b.org", ""),
        ("[https://a.org/good](https://a.org/evil)", "(a.org/evil)"),
        ("[a.org](https://evil.org)", "(evil.org)"),
        ("![logo](https://a.org/x.png)", "(a.org)"),
        ("[write](mailto:me@a.org?bcc=x) mailto:me@a.org", "(me@a.org)"),
    ],
)
def test_where_a_link_leads_is_in_sight_where_its_words_do_not_say_it(
    text: str, target: str
) -> None:
    page = as_html(text)
    assert page.count('class="target"') == bool(target)
    assert target in page
    assert ("(" in words(text)) == bool(target)


@pytest.mark.parametrize(
    ("text", "target", "warning"),
    [
        ("[https://a.org](https://evil.org)", "(evil.org)", "does not lead to a.org"),
        ("https://a.org@evil.org/x", "(evil.org)", "before the @ is not the site"),
        ("[bank](https://b\u0430nk.org)", "(xn--bnk-6cd.org)", "letters of other scripts"),
    ],
)
def test_a_link_that_may_mislead_says_so(text: str, target: str, warning: str) -> None:
    page = as_html(text)
    assert f'<span class="target needs">{target}</span>' in page
    assert warning in page
    assert warning in " ".join(words(text).split())


def test_a_footnote_is_found_from_its_number_and_no_class_of_letters_is_one() -> None:
    text = "Yes[^1], `[^1]` and [^0-9].\n\n[^1]: Said *so*\non two lines.\n\n    And below.\n\nEnd"
    page = as_html(text)
    (name,) = re.findall(r'<sup><a href="#(\w+-\d+)">1</a></sup>', page)
    note = page.partition(f'id="{name}"')[2].partition("</div></div>")[0]
    assert "Said <em>so</em> on two lines." in note
    assert "And below." in note
    assert "<code>[^1]</code> and [^0-9]." in page
    assert "End</p>" in page.rpartition("</div></div>")[2]
    assert words(text).startswith("Yes[1], [^1] and [^0-9].\n\n[1] Said so on two lines.")
    assert name not in as_html(f"{text}!")  # of two answers, each has its own
    assert "<sup>" in as_html("[^1]: " * 600 + "x")  # none is in another


@pytest.mark.parametrize("sign", ["\x1b", "\x07", "\x9c", "\u202e", "\u200b", "\n", " "])
def test_no_address_ends_the_terminals_sequence(sign: str) -> None:
    evil = f"https://a.org/{sign}]8;;https://evil.org{sign}\\"
    assert not links.can_follow(evil)
    for text in (evil, f"[x]({evil})", f"<{evil}>"):
        for line in shown(text):
            assert all(sign not in (style.link or "") for _, style in line)
            assert sign not in strip_of(line).text or sign in " \n"


def test_a_link_is_sent_to_the_terminal() -> None:
    (line,) = shown("https://a.org/x")
    (segment,) = strip_of(line)
    assert segment.style is not None
    sent = segment.style.render(segment.text, color_system=ColorSystem.EIGHT_BIT)
    assert ";https://a.org/x\x1b\\" in sent
    assert segment.style.meta == {"link": "https://a.org/x"}


def test_a_fenced_patch_has_the_grounds_of_a_change() -> None:
    text = "```diff\n--- a\n+++ b\n@@ -1 +1 @@\n same\n-old\n+new\n```"
    found = {"".join(piece for piece, _ in line).strip(): line for line in shown(text)}
    grounds = {said: line[1][1].bgcolor for said, line in found.items()}
    added, removed = LOOK.grounds.added.bgcolor, LOOK.grounds.removed.bgcolor
    assert grounds["+new"] == added
    assert grounds["-old"] == removed
    others = [ground for said, ground in grounds.items() if said not in ("+new", "-old")]
    assert added not in others
    assert removed not in others


def test_a_diagram_is_read_by_its_arrows() -> None:
    chart = "graph TD\n A[Start] --> B{Is it?}\n B -->|yes| C & D\n B -- no --> E((End));\n"
    said = ["Start → Is it?", "Is it? ─ yes → C", "Is it? ─ yes → D", "Is it? ─ no → End"]
    assert diagrams.readable(chart) == "\n".join(said)
    assert all(line in words(f"```mermaid\n{chart}```") for line in said)
    talk = "sequenceDiagram\n participant A as Ann\n A->>Bob: Hi\n Bob-->>A: Yes"
    assert diagrams.readable(talk) == "Ann → Bob: Hi\nBob ⇢ Ann: Yes"
    states = 'stateDiagram-v2\n [*] --> A\n state "Long name" as B\n A --> B : go\n B --> [*]'
    assert diagrams.readable(states) == "(start) → A\nA ─ go → Long name\nLong name → (end)"
    assert diagrams.readable("pie\n 'a': 1") is None
    assert "pie" in words("```mermaid\npie\n 'a': 1\n```")
    assert "Start → Is it?" in as_html(f"```mermaid\n{chart}```")


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"E = mc^2", "E = mc²"),
        (r"\int_0^1 x^2\,dx = \frac{1}{3}", "∫₀¹ x² dx = 1/3"),
        (r"\sum_{i=1}^{n} x_i \leq \sqrt{a+b}", "∑ᵢ₌₁ⁿ xᵢ ≤ √(a+b)"),
        (r"\frac{a+b}{2} \in \mathbb{R}^{k+q}", "(a+b)/2 ∈ R^(k+q)"),
        (r"\text{if } x \neq \hat{y}", "if x ≠ hat(y)"),
        (r"M = \begin{pmatrix} a & b \\ c & d \end{pmatrix}", "M = (a b; c d)"),
        (r"f = \begin{cases} 1 & x > 0 \\ 0 & \text{else} \end{cases}", "f = { 1 x > 0; 0 else"),
        (r"\begin{align*} a &= b \\ c &= d \end{align*}", "a = b\nc = d"),
        (r"\begin{array}{cc} a & b \end{array} \quad \binom{n}{k}", "a b (n choose k)"),
        (r"\sqrt[3]{x} + \sqrt[n]{y} \end{", "³√x + ⁿ√y"),
        ("{" * 400, "{" * 400),
    ],
)
def test_a_formula_is_readable(tex: str, text: str) -> None:
    assert formulas.readable(tex) == text


def test_formulas_are_found_and_prices_are_not() -> None:
    assert words(r"The energy is $E = mc^2$, or \(x_i\).") == "The energy is E = mc², or xᵢ."
    assert words("$$\n\\frac{1}{2}\n$$") == "1/2"
    assert words("So:\n$$\nx\n=\n\n- y^2\n$$\nYes") == "So:\n\nx\n=\n\n- y²\n\nYes"
    assert "<h3" not in as_html("\\[\nx\n=\ny\n\\]")
    for plain in ("It costs $5 and then $10.", "Set $HOME and $PATH.", "`$x^2$`", "a$b$c"):
        assert words(plain) == plain.replace("`", "")


async def test_the_prompt_stays_at_the_top_while_its_answer_scrolls() -> None:
    long = gallery.chunk("message", "\n\n".join(f"paragraph {n}" for n in range(60)))
    talk = [gallery.prompt("Why is it so?"), gallery.running(), long]
    async with showing(talk, (100, 30)) as (app, pilot):
        first = lines(app).split("\n")[0]
        assert "▎ Why is it so?" in first
        await pilot.click("#transcript", offset=(8, 0))
        assert app.transcript.scroll_y <= 1
        assert lines(app).count("Why is it so?") == 1


async def test_a_key_opens_an_answer_in_the_browser_and_a_click_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fifo = tmp_path / "opened"
    os.mkfifo(fifo)
    place = tool(tmp_path, "xdg-open", f'echo "$1" > {fifo}')
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async def opened() -> str:
        return (await asyncio.to_thread(fifo.read_text)).strip()

    answer = gallery.chunk("message", "See https://a.org/x\n\n```mermaid\ngraph TD\nA-->B\n```")
    talk = [gallery.prompt("Why?"), gallery.running(), answer]
    async with showing(talk, (100, 30)) as (app, pilot):
        app.transcript.focus()
        app.transcript.go_to(app.window.items()[-1].name)
        await pilot.press("o")
        page = Path(await opened()).read_text()
        assert "A → B" in page
        assert '<a href="https://a.org/x"' in page
        rows = lines(app).split("\n")
        row = next(at for at, line in enumerate(rows) if "https://a.org/x" in line)
        await pilot.click("#transcript", offset=(rows[row].index("https"), row))
        assert await opened() == "https://a.org/x"


async def test_what_an_agent_calls_a_picture_is_opened_only_as_the_picture_that_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = tmp_path / "opened"
    place = tool(tmp_path, "xdg-open", f'echo "$1" > {opened}')
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    folder = tmp_path / "made"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    async with showing([gallery.prompt("Why?"), gallery.running()], (100, 30)) as (app, pilot):
        for data in (b"[Desktop Entry]\nExec=evil", b"<svg onload='evil()'/>", b""):
            app.show_bytes(data)
        await pilot.pause()
        assert list(folder.iterdir()) == []
        app.show_bytes(png())
        (made,) = folder.iterdir()
        assert made.suffix == ".png"
