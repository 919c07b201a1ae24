"""What other vendors' calls bring in the terminal interface, and the choices of a question."""

from typing import Any

from rookery.core.blocks.document import Document
from rookery.render.lines import block as looks
from rookery.render.lines import diff
from rookery.render.lines.view import View
from rookery.render.runs import width_of_line
from tests.core.asks.test_form_words import COLOURS
from tests.core.making import Json, asked, call, idle, news, only, play, prompt, running, update
from tests.core.tools.test_call_output import CODEX, DIFF, WROTE


def shown(document: Document, role: str, *, opened: bool = False) -> str:
    block = only(document, role)
    terminals = [each for each in document.children(block["id"]) if each["role"] == "terminal"]
    lines = looks.rendered(block, terminals, View(80, "codex", "/w", opened))
    return "\n".join("".join(text for text, _ in line) for line in lines)


def test_a_card_shows_output_from_meta_while_it_runs_and_its_exit_code() -> None:
    at_work = play(prompt(), running(), *CODEX[:2])
    assert "one" in shown(at_work, "tool")
    over = play(prompt(), running(), *CODEX, idle())
    assert "exit 0" in shown(over, "tool")
    assert "two" in shown(over, "tool", opened=True)


def test_a_card_keeps_the_diff_of_its_ask() -> None:
    edit: Json = {"toolCallId": "g", "title": "WriteFile", "kind": "edit", "content": [DIFF]}
    ends = news("g", status="completed", content=WROTE)
    document = play(prompt(), running(), asked(toolCall=edit, options=[]), ends, idle())
    assert "edit a.txt +1 −1" in shown(document, "tool")
    assert "new" in shown(document, "tool", opened=True)


def test_a_folded_card_shows_its_change_and_of_a_long_one_the_beginning() -> None:
    def edited(count: int, **fields: Any) -> Document:
        diff = {"type": "diff", "path": "/w/a.py", "oldText": "", "newText": "x = 1\n" * count}
        made = call("e", title="Edit", kind="edit", status="completed", content=[diff], **fields)
        return play(prompt(), running(), made, idle())

    assert shown(edited(22), "tool").count("x = 1") == 22
    long = shown(edited(300), "tool")
    assert long.count("x = 1") == 20
    assert "20 + x = 1" in long
    assert long.rstrip().endswith("… 280 more lines")
    assert shown(edited(300), "tool", opened=True).count("x = 1") == 300
    for width in (12, 40, 200):
        lines = looks.rendered(only(edited(22), "tool"), [], View(width, "codex", "/w"))
        assert len(lines) == 23
        assert max(map(width_of_line, lines)) <= width


def test_a_question_lists_its_choices_and_then_what_was_chosen() -> None:
    schema = {"type": "object", "properties": {"c": COLOURS}}
    question = update("_ask", id="q", state="asked", nonce="n", kind="question", message="Which?")
    steps = [prompt(), running(), {**question, "schema": schema}]
    card = shown(play(*steps), "ask")
    assert "Red" in card
    assert "Blue  like the sky" in card
    outcome = {"action": "accept", "content": {"c": "b"}}
    closed = update("_ask", id="q", state="closed", outcome=outcome, name="accept")
    assert "Blue" in shown(play(*steps, closed), "ask")


def test_a_split_diff_wraps_like_a_unified_one() -> None:
    words = [f"word{n}" for n in range(60)]
    change: Json = {
        "type": "diff",
        "path": "a.txt",
        "old": "short\n",
        "new": " ".join(words) + "\n",
    }
    for split in (True, False):
        lines = diff.rendered(change, View(120, split=split), 100)
        assert max(map(width_of_line, lines)) <= 120
        said = "".join(text for line in lines for text, _ in line).replace("│", "")
        assert all(word in "".join(said.split()) for word in words)
        assert len(lines) > (6 if split else 3)
