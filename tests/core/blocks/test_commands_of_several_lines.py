"""A command of several lines keeps them in every face: a here-document on one line reads as another
command."""

from rookery.core.blocks import Block, captions
from rookery.core.json.events import Json
from rookery.export.html import card as html
from rookery.export.html.view import View as HtmlView
from rookery.render.lines import block as looks
from rookery.render.lines.view import View
from tests.core.making import call, only, play, prompt, running

SCRIPT = "cat > x.py <<'EOF'\nimport os\n\nprint('hi')\nEOF\npython3 x.py"


def ran(command: object = SCRIPT, **fields: object) -> Block:
    given = {"rawInput": {"command": command}, "title": "Write it", **fields}
    made: Json = call("c", kind="execute", status="completed", **given)
    return only(play(prompt(), running(), made), "tool")


def in_terminal(block: Block, **view: bool) -> list[str]:
    lines = looks.rendered(block, [], View(60, **view))
    return ["".join(text for text, _ in line) for line in lines]


def test_the_headline_has_the_first_line() -> None:
    assert captions.call_words(ran(), "") == ("run", "cat > x.py <<'EOF' …")
    assert captions.call_words(ran("make"), "") == ("run", "make")
    assert captions.command_of(ran(["bash", "-lc", SCRIPT])) == SCRIPT
    assert captions.command_of(ran(["/bin/zsh", "-lc", "make 'a b'"])) == "make 'a b'"
    assert captions.command_of(ran("bash -lc 'make all'")) == "make all"
    assert captions.command_of(ran('sh -c "echo $HOME"')) == 'sh -c "echo $HOME"'
    assert captions.command_of(ran("bash -c 'a' 'b'")) == "bash -c 'a' 'b'"
    titled = ran(rawInput=None, title=f"Run {SCRIPT}")
    assert captions.command_of(titled) == SCRIPT


def test_a_card_in_the_terminal_has_its_lines() -> None:
    head, *rest = in_terminal(ran())
    assert head == "✓ run cat > x.py <<'EOF' …"
    assert rest == [f"  │ {line}" for line in SCRIPT.split("\n")]
    assert len(in_terminal(ran("make"))) == 1
    long = ran("\n".join(f"echo {number}" for number in range(200)))
    assert in_terminal(long)[-1] == "  … 190 more lines"
    assert len(in_terminal(long)) == 12
    assert "  │ echo 199" in in_terminal(long, opened=True)


def test_show_and_the_page_have_its_lines() -> None:
    lines = in_terminal(ran(), opened=True, printed=True)
    assert lines[1:] == [f"  │ {line}" for line in SCRIPT.split("\n")]
    page = html.rendered(ran(), [], HtmlView())
    assert "import os\n\nprint(&#x27;hi&#x27;)\nEOF\n" in page
