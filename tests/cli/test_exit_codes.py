"""Exit code 6: the session waits for its user."""

from pathlib import Path

from tests.cli.driving import Running, play, rookery

LONG = {"text": "x" * 400}


def test_a_budget_that_is_used_up(home: Path) -> None:
    work = play({"usage": 100, "size": 1000}, LONG, {"until": "cancel"})
    done = rookery("run", "--agent", "demo", "--title", "Dear", "--budget", "10 tokens", work)
    assert done.code == 6, done.err
    assert "rookery answer" in done.err
    for flags in ([], ["--wait"]):
        held = rookery("prompt", "Dear", *flags, "And now?")
        assert held.code == 6, held.err
        assert "An open question comes first: rookery answer" in held.err
        assert "Queued" not in held.err or flags


def test_a_question_that_is_open(home: Path) -> None:
    work = play({"ask": "Go on?", "kind": "edit"}, {"text": "went"})
    flags = ("--agent", "demo", "--approve", "ask", "--title", "House")
    with Running("run", *flags, work) as running:
        running.read_err_until("Waiting for your answer")
        behind = rookery("prompt", "House", play({"text": "after it"}))
        assert behind.code == 6, behind.err
        assert "An open question comes first: rookery answer" in behind.err
        assert rookery("answer", "House", "1").code == 0
        assert running.end().code == 0


def test_a_prompt_after_a_turn_that_did_not_end_well(home: Path) -> None:
    failed = rookery("run", "--agent", "demo", "--title", "Ill", play({"error": "No"}))
    assert failed.code == 1
    assert rookery("prompt", "Ill", "--wait", play({"text": "fine"})).code == 0
