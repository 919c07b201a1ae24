"""What of a project's hooks is trusted: their content, and that of the files which they name."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from rookery.client.project_hooks import trust
from rookery.client.project_hooks.hook_file import HookFile, find
from rookery.core.json.files import Unusable
from rookery.home import confirmed


@pytest.fixture
def home(tmp_path: Path) -> str:
    (tmp_path / "home").mkdir(mode=0o700)
    return str(tmp_path / "home")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def put(work: Path, *commands: str, folder: str = ".rookery") -> None:
    (work / folder).mkdir(exist_ok=True)
    table = {"stop": [{"hooks": [{"command": each} for each in commands]}]}
    (work / folder / "hooks.json").write_text(json.dumps(table))


def look(home: str, work: Path) -> HookFile:
    found = find(home, str(work))
    assert found
    return found


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("./x.sh", "x.sh"),
        ("bash -c './x.sh; true'", "x.sh"),
        ("python tools/x.py --fast", "tools/x.py"),
        ("python -m tools.x", "tools/x.py"),
        ("python tools", "tools/__main__.py"),
        ('"$OPENHANDS_PROJECT_DIR"/tools/x.sh', "tools/x.sh"),
        ("$(git rev-parse --show-toplevel)/tools/x.sh", "tools/x.sh"),
        ("./to''ols/x.sh", "tools/x.sh"),
        ("for f in tools/*; do . $f; done", "tools/x.sh"),
        ("make lint", "Makefile"),
        ("make -C tools lint", "tools/Makefile"),
        ("npm run lint", "package.json"),
        ("echo ./x.sh | sh", "x.sh"),
        ("FOO=1 exec ./x.sh", "x.sh"),
        ("cat x.sh|sh", "x.sh"),
    ],
)
def test_a_file_that_a_command_names_is_part_of_what_is_trusted(
    home: str, work: Path, command: str, path: str
) -> None:
    """One that comes later, too."""
    (work / "tools").mkdir()
    put(work, command)
    before = look(home, work)
    (work / path).write_text("one")
    made = look(home, work)
    assert before.fingerprint != made.fingerprint
    assert before.changed()
    assert not made.changed()
    (work / path).write_text("two")
    assert made.changed()
    assert look(home, work).fingerprint != made.fingerprint


def test_what_hooks_write_themselves_does_not_ask_again(home: str, work: Path) -> None:
    put(work, "echo done >> log", "if [ -e once ]; then exit 0; fi; touch once", "date 2>err.txt")
    before = look(home, work)
    for name in ("log", "once", "err.txt"):
        (work / name).write_text("x")
    assert not before.changed()


def test_trust_is_of_a_project_and_its_content(home: str, work: Path, tmp_path: Path) -> None:
    put(work, "true")
    found = look(home, work)
    assert trust.state(home, found) == "unknown"
    trust.remember(home, found, trusts=True)
    assert trust.state(home, found) == "trusted"
    put(work, "true", folder=".openhands")
    assert trust.state(home, look(home, work)) == "unknown", "a second file"
    other = tmp_path / "other"
    other.mkdir()
    put(other, "true")
    assert trust.state(home, look(home, other)) == "unknown", "the same in another project"
    trust.remember(home, found, trusts=False)
    assert trust.state(home, found) == "refused"
    assert trust.forget(home, found.project)
    assert trust.state(home, found) == "unknown"


def test_a_worktree_with_the_same_content_counts(home: str, work: Path, tmp_path: Path) -> None:
    put(work, "sh x.sh")
    (work / "x.sh").write_text("true")
    as_git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(work)]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*as_git, *words], check=True)
    trust.remember(home, look(home, work), trusts=True)
    there = tmp_path / "there"
    subprocess.run([*as_git, "worktree", "add", "-q", str(there)], check=True)
    assert trust.state(home, look(home, there)) == "trusted"
    (there / "x.sh").write_text("false")
    assert trust.state(home, look(home, there)) == "unknown"


def test_what_an_agent_writes_there_is_not_trust(home: str, work: Path) -> None:
    """Without the user's record the file says nothing; with one, what is new in it waits."""
    put(work, "true")
    found = look(home, work)
    forged = {"v": 1, "trusted": {found.project: [found.fingerprint]}}
    Path(home, confirmed.TRUSTED).write_text(json.dumps(forged))
    assert trust.state(home, found) == "unknown"
    put(work, "false")
    trust.remember(home, look(home, work), trusts=True)
    assert trust.state(home, found) == "unknown"


@pytest.mark.parametrize("what", ["pipe", "directory", "large", "not JSON"])
def test_what_is_no_file_of_hooks_is_refused_at_once(home: str, work: Path, what: str) -> None:
    (work / ".rookery").mkdir()
    place = work / ".rookery" / "hooks.json"
    if what == "pipe":
        os.mkfifo(place)
    elif what == "directory":
        place.mkdir()
    else:
        place.write_text("{" if what == "not JSON" else "x" * 1_000_001)
    with pytest.raises(Unusable, match=r"hooks\.json"):
        find(home, str(work))


def test_a_named_file_that_cannot_be_looked_at_is_never_trusted(home: str, work: Path) -> None:
    put(work, "./x.sh")
    os.truncate(os.open(work / "x.sh", os.O_CREAT | os.O_WRONLY), 20_000_001)
    assert "20 MB" in look(home, work).fault
    assert trust.state(home, look(home, work)) == "refused"
    (work / "x.sh").unlink()
    os.mkfifo(work / "x.sh")
    assert look(home, work).files == {"x.sh": "not a file"}
