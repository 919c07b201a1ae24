"""Whatever an agent writes, the page is ours: escaped, bounded, nothing loaded or run."""

import html
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import override

import pytest

from rookery import export
from rookery.core.json.events import Json
from rookery.export.html import markdown
from rookery.export.html.code import highlighted, printed
from rookery.export.html.images import Images
from tests.export.sessions import chunk, home_of, png, prompt, said, session, tool, turn

TAGS = """
html head meta title style body header main footer section svg path div p span h1 h2 a
h3 h4 h5 h6 ul ol li details summary progress strong em s code pre blockquote hr br
table tr td th mark figure figcaption img sup
"""
ATTRIBUTES = """
lang charset http-equiv content name class id href rel dir role aria-label open tabindex
viewbox width height aria-hidden d value max src alt start colspan
target title
"""
WORDS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</pre></details></main><h1>forged</h1>",
    "<svg onload=alert(1)>",
    "<!-- --><style>*{display:none}</style>",
    "&lt;script&gt;",
    "[click](javascript:alert(1))",
    "[click](JaVaScRiPt:alert(1))",
    "[click](vbscript:x)",
    "[click](data:text/html,<script>alert(1)</script>)",
    "[click](file:///etc/passwd)",
    "![x](https://example.org/track.png)",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    '[a](https://example.org/"onclick="alert(1))',
    "[a](<https://example.org/ onclick=x>)",
    "<javascript:alert(1)>",
    '[^"><script>] x[^1]\n\n[^"><script>]: <b onclick=x>\n[^1]: a',
    "[https://example.org/<b>](https://example.org@example.org/<script>)",
    '```"><script>\nx\n```',
    "| <b> | `</td>` |\n|---|---|\n| <script> | x |",
    "\u202egnp.exe\u202c \u2066x\u2069 \u200b\ufeff",
    "\x1b[2J\x1b]0;title\x07\x1b[31mred\x1b[0m\x9b31m",
    "\x1b]8;;javascript:alert(1)\x07here\x1b]8;;\x07",
    "\x00\x08\r\x7f\ud800",
]


class Seen(HTMLParser):
    """Every tag and attribute of a page; each that is opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.sources: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS.split(), tag
        for name, value in attrs:
            assert name in ATTRIBUTES.split(), (tag, name)
            self.links += [value or ""] if name == "href" else []
            self.sources += [value or ""] if name == "src" else []
        if tag not in ("meta", "br", "hr", "img", "path"):
            self.open.append(tag)

    @override
    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag == "path"

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    @override
    def handle_data(self, data: str) -> None:
        self.text += data


def page(place: Path, *updates: Json, **given: object) -> str:
    home = home_of(place, *updates, **given)  # type: ignore[arg-type]
    return b"".join(export.pieces(home, "a1b2c3", "html")).decode()


def everywhere(words: str) -> list[Json]:
    """The words in every place that an agent can fill."""
    diff = {"type": "diff", "path": words, "oldText": f"{words}\nb\n", "newText": f"{words}c\nb\n"}
    step = {"content": words, "priority": words, "status": words}
    option = {"optionId": words, "name": words, "kind": "allow_once"}
    call = {"toolCallId": f"q{words}", "title": words, "kind": "execute"}
    call |= {"rawInput": {"command": words}, "content": said(words)}
    return [
        session(title=words, agent=words, cwd=f"/work/{words}"),
        prompt(words, {"type": "resource_link", "uri": words, "name": words}),
        prompt(words, {"type": "image", "blob": words, "mimeType": words, "name": words}),
        turn("running"),
        chunk(words),
        chunk(words, "thought"),
        {"sessionUpdate": "plan", "entries": [step]},
        tool(words, words, "execute", rawInput={"command": words}, content=said(words)),
        tool(f"1{words}", words, "edit", content=[diff]),
        tool(f"2{words}", words, words, words, rawInput={words: [words]}, rawOutput=words),
        tool(f"3{words}", words, "read", locations=[{"path": words}], content=said(words)),
        {"sessionUpdate": "_terminal", "id": words, "state": "started", "command": words}
        | {"text": f"{words}\n{words}"},
        {"sessionUpdate": "_notice", "level": words, "title": words, "text": words},
        {"sessionUpdate": "_context", "state": words, "reason": words},
        {"sessionUpdate": words, words: words},
        {"sessionUpdate": "_ask", "id": words, "state": "asked", "toolCall": call, "danger": words}
        | {"options": [option]},
        {"sessionUpdate": "usage_update", "cost": {"amount": 1.5, "currency": words}},
    ]


@pytest.mark.parametrize("words", WORDS)
def test_hostile_words_stay_words(words: str, tmp_path: Path) -> None:
    seen = Seen(page(tmp_path, *everywhere(words)))
    for address in seen.links:
        assert address.startswith(("#turn-", "#n", "https://example.org")), address
    assert not seen.sources
    for letter in "\u202e\u202c\u2066\u2069\u200b\ufeff\x1b\x9b\x07\x08\x00\x7f":
        assert letter not in seen.text


def test_the_pages_policy_allows_one_style_and_embedded_images(tmp_path: Path) -> None:
    text = page(tmp_path, session(), prompt("hello"))
    policy = text.split('Content-Security-Policy" content="')[1].split('"')[0]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "img-src data:;" in policy
    assert "unsafe" not in policy
    assert "<script" not in text
    assert " style=" not in text
    assert "url(" not in text
    assert "@import" not in text


@pytest.mark.parametrize(
    "address",
    ["http://a.b/c?d=e&f", "https://a.b/(c)", "mailto:x@y.z", "https://a.b/X"],
)
def test_safe_links_can_be_followed(address: str) -> None:
    seen = Seen(markdown.rendered(f"[see](<{address}>)"))
    assert seen.links == [address]
    assert 'rel="noopener noreferrer"' in markdown.rendered(f"[see](<{address}>)")


@pytest.mark.parametrize(
    "address",
    ["ftp://a.b", "//a.b/c", "/etc/passwd", "src/a.py", "tel:1", "blob:x", "about:blank", "x:y"],
)
def test_unsafe_addresses_stay_text(address: str) -> None:
    seen = Seen(markdown.rendered(f"[see](<{address}>)"))
    assert not seen.links
    assert address in seen.text


def test_an_image_is_checked_by_its_bytes() -> None:
    blobs = {
        "png": png(),
        "svg": b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        "html": b"<script>alert(1)</script>",
        "large": png() + b"\0" * 6_000_000,
    }
    images = Images(blobs.get)
    assert images.address({"blob": "png"}).startswith("data:image/png;base64,iVBOR")
    for name in ("svg", "html", "large", "gone", ""):
        assert images.address({"blob": name, "mime": "image/png"}) == ""
    bounded = Images(blobs.get, room=len(blobs["png"]))
    assert bounded.address({"blob": "png"})
    assert not bounded.address({"blob": "png"}), "all images of a file have a bound together"


LONG = 10_000_000


@pytest.mark.parametrize("letter", ["a", "<", "&", "[", "*", "`", "> ", "\t", "é", "\x1b[1m"])
def test_very_long_lines_are_bounded(letter: str) -> None:
    text = letter * (LONG // 100 // len(letter))
    assert len(markdown.rendered(text)) < 40 * len(text) + 1000
    assert len(printed(text * 100)) < 60_000
    assert len(highlighted(text, "python")) < 40 * len(text) + 1000


def test_a_line_of_ten_megabytes_is_exported(tmp_path: Path) -> None:
    shell = {
        "sessionUpdate": "_terminal",
        "id": "t",
        "state": "started",
        "text": "<x>" * (LONG // 3),
    }
    text = page(
        tmp_path, session(), prompt("<y>" * (LONG // 3)), chunk("<z> " * (LONG // 4)), shell
    )
    assert len(text) < 20_000_000
    assert "more characters" in text
    assert "<x>" not in text


def test_deep_nesting_is_bounded() -> None:
    deep: object = "end"
    for _ in range(5_000):
        deep = [deep]
    from rookery.export.html.code import as_json

    assert "nested too deeply" in as_json(deep)
    Seen(markdown.rendered("> " * 2_000 + "x"))
    Seen(markdown.rendered("\n".join("  " * n + "- x" for n in range(300))))
    Seen(markdown.rendered("[" * 20_000 + "](" * 5_000))
    Seen(markdown.rendered("**a " * 10_000))


def test_calls_nested_in_calls_are_bounded(tmp_path: Path) -> None:
    calls = [
        tool(f"t{n}", f"step {n}", "think", "in_progress")
        | {"_meta": {"claudeCode": {"parentToolUseId": f"t{n - 1}"}}}
        for n in range(60)
    ]
    seen = Seen(page(tmp_path, session(), prompt("go"), turn("running"), *calls))
    assert all(f"step {n}" in seen.text for n in range(60))


def test_terminal_colours_become_our_classes() -> None:
    text = '\x1b[38;5;196mred\x1b[48;2;0;0;255mground\x1b[0m \x1b[1;4;7mall\x1b[999;"><b>m'
    shown = printed(text)
    assert 'class="f-red"' in shown
    assert 'class="f-red g-blue"' in shown
    assert 'class="s-bold s-reverse s-underline"' in shown
    Seen(shown)


PROSE = "It **rests** in `the shade` of [a tree](/tree), as foxes do when the day is long.\n\n"
CODE = "```c\n" + "a[i][j] = *p_x & y_z;\n" * 4000 + "```\n"
TABLE = "| name | size | what |\n|---|---|---|\n" + "| `a.py` | 12 | new file |\n" * 2000


@pytest.mark.parametrize("text", [PROSE * 700, CODE, TABLE], ids=["prose", "code", "table"])
def test_a_long_text_is_rendered(text: str) -> None:
    assert "literal" not in markdown.rendered(text)


@pytest.mark.parametrize(
    "piece",
    ["![", "[", "[a](", "**a", "*a_", "`a``b", "- a\n", "> a\n", "|a|b|\n", "[a]: /b\n", "# a\n"],
)
def test_a_long_text_that_is_little_but_markup_is_left_as_it_is(piece: str) -> None:
    """To parse it would take many times as long as prose of that length."""
    text = piece * (300_000 // len(piece))
    found = markdown.rendered(text)
    assert re.sub("</?p[^>]*>", "", html.unescape(found)).count(piece.strip()) == text.count(piece)
    assert "<li>" not in found
    assert found.count("<p") < 30
