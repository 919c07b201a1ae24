"""Writing in a real terminal, with real files, shells and workers."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from rookery.client.fleet import heads
from rookery.home import paths
from rookery.log.reader import Reader
from tests.cli.driving import ROOKERY, made, play
from tests.tui.test_clipboard import tool
from tests.tui.tmux import Tmux

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 64


def prompts(home: Path) -> list[list[dict[str, object]]]:
    (head,) = heads(str(home))
    with Reader.open(paths.session_dir(str(home), str(head["id"]))) as log:
        events = log.read(0, 1000)
    found = [event.update for event in events]
    return [each["prompt"] for each in found if each["sessionUpdate"] == "_prompt"]


@pytest.mark.long
def test_a_file_is_found_named_and_sent_as_a_link(home: Path) -> None:
    subprocess.run(["git", "init", "-q", str(home)], check=True)
    (home / "notes-of-mine.md").write_text("x")
    (home / "notes-ignored.md").write_text("x")
    (home / ".gitignore").write_text("notes-ignored.md\n")
    with Tmux(home) as screen:
        screen.ready()
        screen.type("see @notes")
        shown = screen.wait_for("▌notes-of-mine.md")
        assert "ignored" not in shown
        screen.press("Tab")
        screen.wait_for("see @notes-of-mine.md")
        screen.press("Enter")
        screen.wait_for("y  allow once", "needs you")
    ((text, link),) = prompts(home)
    assert text["text"] == "see @notes-of-mine.md "
    assert link["type"] == "resource_link"
    assert link["uri"] == f"file://{home}/notes-of-mine.md"


@pytest.mark.long
def test_a_shell_line_runs_here_and_ends_with_escape(home: Path) -> None:
    with Tmux(home) as screen:
        screen.ready()
        screen.say("!echo it-is-$((6*7)); sleep 600")
        screen.wait_for("it-is-42", "not sent", "running")
        screen.press("Escape")
        screen.wait_for("stopped · not sent")
        screen.press("Escape")
        screen.wait_without("it-is-42")
        screen.press("Up")
        screen.wait_for("!echo it-is")
    assert heads(str(home)) == []
    (line,) = (home / "prompts.jsonl").read_text().splitlines()
    assert json.loads(line)["text"].startswith("!echo")


@pytest.mark.long
def test_dropped_and_pasted_images_are_attached_and_sent(home: Path) -> None:
    (home / "shot one.png").write_bytes(PNG)
    (home / "two.png").write_bytes(PNG + b"2")
    (home / "copied").write_bytes(PNG + b"3")
    place = tool(home, "wl-paste", 'case "$1" in --list*) echo image/png;; *) cat copied;; esac')
    with Tmux(home, "env", f"PATH={place}:{os.environ['PATH']}", *ROOKERY) as screen:
        screen.ready()
        screen.paste(f"'{home}/shot one.png' file://{home}/two.png")
        screen.wait_for("▣ shot one.png", "▣ two.png")
        screen.press("C-v")
        screen.wait_for("▣ clipboard.png 73 B")
        screen.paste("what is this\nand that")
        screen.wait_for("and that")
        screen.press("Enter")
        screen.wait_for("y  allow once", "needs you")
        screen.wait_without("▣ shot one.png 72")
    ((text, *images),) = prompts(home)
    assert text["text"] == "what is this\nand that"
    assert {(image["type"], image["mimeType"]) for image in images} == {("image", "image/png")}
    assert [image["name"] for image in images] == ["shot one.png", "two.png", "clipboard.png"]
    assert [image["bytes"] for image in images] == [72, 73, 73]


@pytest.mark.long
def test_a_terminal_pastes_300_lines_as_lines(home: Path) -> None:
    text = "\n".join(f"line {number} of it" for number in range(300))
    with Tmux(home) as screen:
        screen.ready()
        screen.paste("first\nsecond\nthird")
        screen.wait_for("first", "second", "third")
        screen.paste(text)
        screen.wait_for("pasted text, 300 lines")
        screen.press("Enter")
        screen.wait_for("y  allow once", "needs you")
    ((sent,),) = prompts(home)
    assert sent["text"] == f"first\nsecond\nthird\n\n{text}"


@pytest.mark.long
def test_the_editor_writes_the_prompt(home: Path) -> None:
    editor = home / "editor.sh"
    editor.write_text("#!/bin/sh\nprintf ' and more' >> \"$1\"\n")
    editor.chmod(0o755)
    with Tmux(home, "env", f"EDITOR={editor}", "VISUAL=", *ROOKERY) as screen:
        screen.ready()
        screen.type("begun")
        screen.press("C-g")
        screen.wait_for("begun and more")


@pytest.mark.long
def test_history_outlives_the_program(home: Path) -> None:
    with Tmux(home) as screen:
        screen.ready()
        screen.say("remember me well")
        screen.wait_for("y  allow once", "needs you")
    with Tmux(home) as screen:
        screen.ready()
        screen.press("C-r")
        screen.wait_for("Earlier prompts", "remember me well")
        screen.say("well")
        screen.wait_for("│ remember me well")


@pytest.mark.long
def test_approving_all_from_now_on_changes_the_mode(home: Path, tmp_path: Path) -> None:
    with Tmux(home, cwd=tmp_path) as screen:
        screen.ready()
        screen.say("go")
        screen.wait_for("y  allow once", "needs you")
        screen.wait_for("▌ ┃")
        screen.press_until("?", "p  allow, approve all")
        screen.press("p")
        screen.wait_for("From now on: approve all", "● idle")
    (head,) = heads(str(home))
    assert head["confirm"] == "all"


@pytest.mark.long
def test_flags_start_a_session_and_leaving_says_what_runs(home: Path) -> None:
    task = home / "task.txt"
    task.write_text(play({"text": "begun"}, {"until": "cancel"}))
    command = (*ROOKERY, "--agent", "demo", "--yolo", "-f", str(task))
    with Tmux(home, *command) as screen:
        screen.wait_for("begun", "running")
        assert heads(str(home))[0]["confirm"] == "all"
        screen.press("C-q")
        screen.wait_for("Leave?", "1 session still running")
        screen.press("Escape")
        screen.wait_without("Leave?")
        screen.press("C-q")
        screen.wait_for("Leave?")
        screen.press("Enter")
        screen.wait_for("To stop one: rookery stop")
    with Tmux(home, *ROOKERY, "--last", "--exit-without-confirmation") as screen:
        screen.wait_for("begun", "running")
        screen.press("C-q")
        screen.wait_for("still running. To stop one: rookery stop")


@pytest.mark.long
def test_the_title_says_who_needs_you_and_custom_keys_work(home: Path) -> None:
    (home / "config.toml").write_text('[keys]\nquit = "f12"\n"composer.send" = "f11"\n')
    made({"text": "here"}, title="other")
    with Tmux(home) as screen:
        screen.wait_for("F1 lists", "F12 leave")
        screen.type("go")
        screen.press("F11")
        screen.wait_for("y  allow once")
        screen.wait_for_title("◆ needs you · rookery")
        screen.press("F1")
        screen.wait_for("Everywhere")
        screen.type("send")
        screen.wait_for("F11")
        screen.press("Escape")
        screen.press("F12")
        screen.wait_for("Leave?")


@pytest.mark.long
def test_the_inbox_key_goes_to_an_ask_in_any_session(home: Path) -> None:
    ask = {"ask": "Edit b.py", "kind": "edit", "allowed": [{"text": "thank you"}]}
    with Tmux(home) as screen:
        screen.ready()
        screen.say(play(ask))
        screen.wait_for("needs you", "edit b.py")
        screen.press("C-n")
        screen.wait_for("new session")
        screen.press("F2")
        screen.wait_for("wants to edit b.py", "▌ ┃")
        screen.press_until("y", "● idle")


@pytest.mark.long
def test_always_allow_makes_a_rule_from_an_ask(home: Path, tmp_path: Path) -> None:
    with Tmux(home, cwd=tmp_path) as screen:
        screen.ready()
        screen.say("go")
        screen.wait_for("a  always allow editing exactly this file in this project", "▌ ┃")
        screen.press_until("a", "to always allow this")
        screen.press_until("y", "That was a turn")
        screen.wait_for("That was a turn", "● idle")
    assert 'do = "allow"' in (home / "config.toml").read_text()


@pytest.mark.long
def test_a_mode_chosen_at_an_ask_is_no_default(home: Path) -> None:
    """The second session asks again; what an earlier build kept is shown in the first."""
    (home / "choices.json").write_text('{"confirm": "all"}')
    with Tmux(home) as screen:
        screen.ready()
        screen.wait_for("approvals: ask always")
        screen.say(play({"ask": "Go?"}))
        screen.wait_for("y  allow once", "needs you")
        screen.wait_for("New sessions no longer start with")
        screen.wait_for("▌ ┃")
        screen.press_until("?", "p  allow, approve all")
        screen.press("p")
        screen.wait_for("From now on: approve all, in this session", "approve all", "● idle")
        screen.press("C-n")
        screen.wait_for("approvals: ask always", "new session")
        screen.say(play({"ask": "Go?"}))
        screen.wait_for("y  allow once", "needs you")
        assert "approve all" not in screen.screen().splitlines()[-1]
    second, first = heads(str(home))
    assert (second["confirm"], first["confirm"]) == ("every", "all")
    assert not (home / "choices.json").exists()
