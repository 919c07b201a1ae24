"""The status line moves, and says what is done now and what it runs with."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from rookery.core.agent.failures import worker_parked
from rookery.core.json.events import Json
from rookery.tui.look.palette import DARK, look_of
from rookery.tui.system.git_branch import branch_of
from rookery.tui.transcript.window import Window
from rookery.tui.widgets import status_line
from rookery.tui.widgets.status_line import About, Doing, Place, Sides, doing
from tests.cli.driving import play
from tests.tui import gallery, scenes
from tests.tui.gallery import NOW, chunk, prompt, running, tool
from tests.tui.pictures import DARK as SMALL
from tests.tui.pictures import compare
from tests.tui.still import Still
from tests.tui.tmux import Tmux

LARGE = (200, 60, "dark")
ABOUT = {"rookery": {"retry": {"attempt": 3, "of": 5, "in": 50.0, "kind": "network"}}}
USAGE: Json = {
    "sessionUpdate": "usage_update",
    "used": 76_000,
    "size": 200_000,
    "cost": {"amount": 0.42},
}
BEGUN = [prompt("Fix it."), running(), *scenes.CHOICES[2:3], USAGE]
THOUGHT = "The client asks first.\nSo the backend must be ready before the first request is sent."
UNREACHABLE: Json = {
    **chunk("thought", "The model cannot be reached.\nTrying again in 50 s (attempt 3 of 5).\n"),
    "_meta": ABOUT,
}
SCENES: dict[str, tuple[list[Json], str]] = {
    "thinking": ([*BEGUN, chunk("thought", THOUGHT)], "first request is sent."),
    "running": (
        [*BEGUN, tool("x", "", "execute", "in_progress", rawInput={"command": "pytest -q"})],
        "run pytest -q",
    ),
    "writing": ([*BEGUN, chunk("message", "It was")], "writing"),
    "unreachable": ([*BEGUN, UNREACHABLE], "▲ running: model unreachable, retrying 3 of 5 in 9 s"),
}


def words(updates: list[Json], width: int, at: int = NOW) -> str:
    opened = gallery.opened(updates)
    window = Window(opened.header)
    window.add_older(opened.pages)
    about = About(doing(window), Place("~/shop", "fix-login"))
    line = status_line.line(window.header, about, look_of(DARK.name), at, width)
    return "".join(text for text, _ in line)


def test_a_session_whose_worker_keeps_dying_does_not_start() -> None:
    ended = {"sessionUpdate": "_turn", "state": "idle", "turn": 1, "reason": "interrupted"}
    parked = worker_parked("3f2a", 5, 60.0, ["killed"])
    assert "does not start" in words([*BEGUN, ended, parked], 80)
    assert "does not start" not in words([*BEGUN, ended], 80)


@pytest.mark.parametrize("scene", SCENES)
async def test_the_current_activity(
    snapshot: SnapshotAssertion, tmp_path: Path, scene: str
) -> None:
    updates, said = SCENES[scene]
    assert said in words(updates, 200)
    await compare(Still(gallery.opened(updates)), snapshot, tmp_path, looks=[SMALL, LARGE])


def test_a_quota_is_told_only_where_it_is_nearly_used_up() -> None:
    def quota(share: float) -> Json:
        told = {"status": "allowed", "rateLimitType": "five_hour", "utilization": share}
        return {**USAGE, "_meta": {"_claude/rateLimit": told}}

    assert "5 h" not in words([*BEGUN, quota(0.7)], 110)
    for width in (80, 110):
        assert "5 h 76 %" in words([*BEGUN, quota(0.76)], width)


def test_a_wide_status_line_shows_everything() -> None:
    shown = words(SCENES["running"][0], 160)
    for each in ("◐ running · 4", "claude · big · ask always · ⎇ fix-login"):
        assert each in shown
    assert shown.rstrip().endswith("76k/200k · $0.42")


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100])
def test_a_narrow_status_line_keeps_state_and_activity(width: int) -> None:
    for updates, _ in SCENES.values():
        shown = words(updates, width)
        assert len(shown) <= width
    assert "running" in words(SCENES["running"][0], width)
    assert ("run pytest" in words(SCENES["running"][0], width)) == (width >= 60)


def test_the_status_line_moves_while_working_and_counts_down() -> None:
    updates = SCENES["running"][0]
    signs = {words(updates, 80, NOW + 250 * step)[1] for step in range(4)}
    assert signs == set("◐◓◑◒")
    assert "in 8 s" in words(SCENES["unreachable"][0], 80, NOW + 1000)
    asked = words(gallery.ASKS, 80)
    assert " needs you · " in asked


def test_an_unreachable_model_is_shown_with_its_remedy() -> None:
    document = gallery.document_of([*BEGUN, UNREACHABLE])
    (block,) = [each for each in document.blocks.values() if each["role"] == "notice"]
    assert block["title"] == "claude cannot reach its model"
    assert "Check the network and the model's base URL" in block["text"]
    assert not [each for each in document.blocks.values() if each["role"] == "thought"]
    own = {"sessionUpdate": "_session", "agent": "rookery", "argv": ["rookery", "agent"]}
    document = gallery.document_of([own, *BEGUN, UNREACHABLE])
    (block,) = [each for each in document.blocks.values() if each["role"] == "notice"]
    change, stop = block["actions"]
    assert change == {"label": "Change the model", "window": "model"}
    assert stop == {"label": "Stop the turn", "command": {"do": "cancel"}}
    gone = scenes.idle("failed", error={"message": "no", "data": {"errorKind": "network"}})
    assert "✗ failed: model unreachable" in words([*BEGUN, UNREACHABLE, gone], 80)


def test_a_long_thought_is_cut_at_its_beginning() -> None:
    thought = Doing("a thought with a long beginning and an end", grows=True)
    line = status_line.laid_out(
        [(" ◐ running", look_of("").soft)], thought, Sides([], [], []), look_of(""), 36
    )
    shown = "".join(text for text, _ in line)
    assert shown.rstrip().endswith("and an end")
    assert "…" in shown


@pytest.fixture
def project(tmp_path: Path) -> Path:
    git = tmp_path / "project" / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/fix/login\n")
    return git.parent


def test_the_directorys_branch_is_shown(project: Path, tmp_path: Path) -> None:
    inner = project / "src"
    inner.mkdir()
    assert branch_of(str(inner)) == "fix/login"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".git").write_text(f"gitdir: {project / '.git'}\n")
    assert branch_of(str(tmp_path / "other")) == "fix/login"
    (project / ".git" / "HEAD").write_text("0123456789abcdef0123456789abcdef01234567\n")
    assert branch_of(str(project)) == "01234567"
    (project / ".git" / "HEAD").write_text("")
    assert branch_of(str(project)) == ""


@pytest.mark.long
def test_the_status_line_in_a_real_terminal(home: Path, project: Path) -> None:
    with Tmux(home, size=(200, 60), cwd=project) as screen:
        screen.ready()
        screen.wait_for("⎇ fix/login")
        screen.say(play({"command": "echo begun; sleep 600"}))
        screen.wait_for("begun", "running", "· run sh -c echo begun", "ask always")
        signs = {screen.wait_for(sign) and sign for sign in "◐◓◑◒"}
        assert len(signs) == 4, "the sign turns"
        screen.press("Escape")
        screen.wait_for("● idle")
