"""Memory, skills and instructions of a project are anybody's files: pipes, links to keys, huge, in
another encoding, without end."""

import os
from pathlib import Path

import pytest
from openhands.sdk.context.memory import MEMORY_CHAR_BUDGET, MEMORY_INDEX_RELPATH, load_memory
from openhands.sdk.skills import Skill

from rookery.agent.conversation import skills
from rookery.agent.sdk_patches import memory as memory_patch
from rookery.agent.sdk_patches import skills as skills_patch
from rookery.agent.sdk_patches.skills import texts

KEY = "-----BEGIN KEY-----"
SKILL = "---\nname: {name}\ndescription: About {name}.\n---\nDo $ARGUMENTS.\n"


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Whose keys are in a home of their own."""
    memory_patch.install()
    skills_patch.install()
    home = tmp_path / "person"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id").write_text(KEY)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "rookery"))
    return home


def write(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def test_a_hostile_project_hides_nothing_and_reads_no_keys(tmp_path: Path, person: Path) -> None:
    project, key = tmp_path / "project", person / ".ssh" / "id"
    folder = project / ".agents" / "skills"
    write(folder / "good" / "SKILL.md", SKILL.format(name="good"))
    write(folder / "good" / "references" / "more.md", "not a skill")
    write(folder / "broken" / "SKILL.md", "---\nname: [\n---\nx")
    write(folder / "long" / "SKILL.md", SKILL.format(name="long") + "x" * 30_000_000)
    write(project / "AGENTS.md", "A caf\xe9.".encode("latin-1"))
    write(project / "sub" / "AGENTS.md", "Of sub.")
    write(project / "large" / "AGENTS.md", "x" * 30_000_000)
    write(project / ".claude" / "commands" / "ok.md", "ok")
    write(project / ".github" / "x", "")
    os.mkfifo(folder / "pipe.md")
    os.mkfifo(project / ".claude" / "commands" / "pipe.md")
    os.mkfifo(project / ".github" / "copilot-instructions.md")
    (project / "CLAUDE.md").symlink_to(key)
    (folder / "key.md").symlink_to(key)
    (folder / "around").symlink_to("..")
    (folder / "itself").symlink_to("itself")
    (project / "linked").mkdir()
    (project / "linked" / "AGENTS.md").symlink_to(key)
    found = skills.found_in(str(project))
    assert sorted(found) == ["agents", "agents:sub", "good", "long", "ok"]
    assert found["agents"].content == "A caf\ufffd."
    assert found["long"].content.endswith(texts.CUT)
    assert len(found["long"].content) <= texts.MAX_TEXT_LENGTH + len(texts.CUT)
    assert KEY not in str(found)


def test_a_directory_without_git_is_searched_within_bounds_and_the_nearest_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be somebody's home."""
    monkeypatch.setattr(skills_patch, "WALKED", 100)
    project = tmp_path / "project"
    write(project / "a" / "AGENTS.md", "Of a.")
    for number in range(60):
        write(project / "a" / f"{number}" / "file", "")
    write(project / "a" / "0" / "far" / "away" / "AGENTS.md", "Of far away.")
    write(project / "z" / "AGENTS.md", "Of z.")
    assert sorted(skills.found_in(str(project))) == ["agents:a", "agents:z"]
    monkeypatch.undo()
    assert "agents:a/0/far/away" in skills.found_in(str(project))


def test_the_number_of_skills_in_a_folder_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skills_patch, "MAX_SKILLS", 3)
    for number in range(5):
        write(tmp_path / "p" / ".agents" / "skills" / f"s{number}" / "SKILL.md", "x")
        write(tmp_path / "p" / ".agents" / "skills" / f"s{number}" / "more.md", "x")
        write(tmp_path / "p" / ".openhands" / "skills" / f"r{number}.md", "x")
    assert sorted(skills.found_in(str(tmp_path / "p"))) == ["r0", "r1", "r2", "s0", "s1", "s2"]


@pytest.mark.parametrize(
    ("said", "filled"),
    [
        ("", "$1 of $2:  $10"),
        ("a 'b c' d", "a of b c: a 'b c' d $10"),
        ("it's $1 $ARGUMENTS", "it's of $1: it's $1 $ARGUMENTS $10"),
        ("one", "one of : one $10"),
    ],
)
def test_arguments_are_filled_in_once(said: str, filled: str) -> None:
    text = "$1 of $2: $ARGUMENTS $10"
    command = Skill(name="x", content=text, source="/p/.claude/commands/x.md")
    assert skills.filled(command, said) == filled
    other = Skill(name="x", content=text, source="/p/.claude/skills/x/SKILL.md")
    assert skills.filled(other, said) == f"$1 of $2: {said} $10"  # somebody's awk


def test_any_kind_of_file_as_memory_breaks_nothing(tmp_path: Path, person: Path) -> None:
    index = tmp_path / "p" / MEMORY_INDEX_RELPATH
    write(index, "Nests are in caf\xe9s.".encode("latin-1"))
    assert "Nests are in caf\ufffds." in (load_memory(tmp_path / "p") or "")
    write(index, "".join(f"{number}\n" for number in range(3_000_000)))
    write(tmp_path / "rookery" / "memory" / "MEMORY.md", "é" * 100 + "\n" + "x\n" * 9_000)
    found = load_memory(tmp_path / "p") or ""
    assert found.endswith("\n2999998\n2999999")
    assert found.count("[earlier memory truncated]") == 2
    assert MEMORY_CHAR_BUDGET - 20 < len(found) <= MEMORY_CHAR_BUDGET
    os.unlink(tmp_path / "rookery" / "memory" / "MEMORY.md")
    write(index, b"\0\1\2")
    assert load_memory(tmp_path / "p") is None
    index.unlink()
    os.mkfifo(index)
    assert load_memory(tmp_path / "p") is None
    index.unlink()
    index.symlink_to(person / ".ssh" / "id")
    assert load_memory(tmp_path / "p") is None
    worktree = tmp_path / "rookery" / "worktrees" / "p"  # in Rookery's home, but not the user's
    (worktree / MEMORY_INDEX_RELPATH).parent.mkdir(parents=True)
    (worktree / MEMORY_INDEX_RELPATH).symlink_to(person / ".ssh" / "id")
    assert load_memory(worktree) is None
    (tmp_path / "rookery" / "memory" / "MEMORY.md").symlink_to(tmp_path / "dotfiles")
    write(tmp_path / "dotfiles", "The user's own link is followed.")
    assert "own link" in (load_memory(worktree) or "")
