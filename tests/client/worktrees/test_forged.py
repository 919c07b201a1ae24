"""What an agent forges in its sandbox does not get into the repository. With real bwrap."""

import os
import sys
from pathlib import Path

import pytest

from rookery.client.worktrees.drop import tip_of, work_of
from rookery.client.worktrees.repository import NoWorktree
from tests.client.work_tree.trees import WHO, Tree
from tests.client.worktrees.forged import FORGED
from tests.client.worktrees.sandboxed import WORK, Session

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path, Tree(tmp_path / "our häuser", a__txt="1\n2\n"))


@pytest.mark.parametrize("name", FORGED)
def test_forged_objects_are_refused(session: Session, name: str) -> None:
    session.inside(WORK.format("one"))
    good = tip_of(session.state)
    forged = FORGED[name](session.own)
    (session.own / "refs" / "heads" / session.state["branch"]).write_text(f"{forged}\n")
    with pytest.raises(NoWorktree, match="git refuses"):
        tip_of(session.state)
    assert "cannot be compared" in str(work_of(session.state))  # so it is not deleted unasked
    assert session.tip() == good
    session.check()
    assert not [each for each in os.listdir(f"{session.git}/objects/pack") if "keep" in each]


def test_what_is_too_large_is_refused(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.inside(f"{WORK.format('one')}; head -c 300000 /dev/urandom > b; git add b")
    session.inside("git commit -qm large")
    for name in ("MOST_BYTES", "MOST_FILES"):
        with monkeypatch.context() as less:
            less.setattr(f"rookery.client.worktrees.objects.{name}", 3)
            with pytest.raises(NoWorktree, match="larger than"):
                tip_of(session.state)
    session.check()
    assert tip_of(session.state) == session.tip()
