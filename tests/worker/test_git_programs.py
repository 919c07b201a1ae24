"""Plan mode: git, too, runs nothing of a repository's unasked."""

from pathlib import Path

import pytest

from rookery.core.policy.auto_answer import judge
from rookery.core.policy.rules import call_of
from rookery.core.vendors.profiles import profile_of
from rookery.worker.policy.auto_answer import with_programs
from tests.client.work_tree.trees import Tree
from tests.client.worktrees.traps import Enemy, escaped

OURS = profile_of("rookery", [])
LOOKS = ("git diff", "git status", "git log --show-signature -1", "cd . && git show", "git blame a")


def outcome(tree: Tree, line: str) -> str:
    call = {"toolCallId": "1", "kind": "execute", "rawInput": {"command": line}}
    seen = with_programs(call_of("rookery", call, [tree.cwd], "/home/nobody"))
    return judge([], seen, "plan", guard=True, looks=True, profile=OURS).outcome


@pytest.mark.parametrize("line", LOOKS)
def test_a_look_by_git_is_asked_about_where_the_repository_names_programs(
    tmp_path: Path, line: str
) -> None:
    assert outcome(Tree(tmp_path / "plain", a="a\n"), line) == "allow"
    enemy = Enemy(tmp_path / "enemy", tmp_path / "notes")
    assert outcome(enemy, line) == "ask"
    assert enemy.ran == []


@pytest.mark.parametrize("line", ["git -C sub diff", "cd sub && git diff", "cd sub", "git diff"])
@pytest.mark.parametrize("kind", ["bare", "submodule"])
def test_a_repository_in_the_repository_counts(tmp_path: Path, line: str, kind: str) -> None:
    tree = Tree(tmp_path / "tree", a="a\n")
    if kind == "bare":
        tree.git("init", "-q", "--bare", "sub")
        tree.put({"sub/refs/x": "", "sub/objects/x": ""})
        config = tree.place / "sub" / "config"
    else:
        Tree(tree.place / "sub", s="s\n")
        config = tree.place / "sub" / ".git" / "config"
    tree.git("-c", "advice.addEmbeddedRepo=false", "add", "-f", "sub")
    assert outcome(tree, line) == "allow"
    program = escaped(str(tmp_path / "program"))
    config.write_text(f'[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "{program}"\n')
    assert outcome(tree, line) == "ask"


def test_a_hook_that_a_look_runs_counts(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "tree", a="a\n")
    hook = tree.place / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)
    assert outcome(tree, "git status") == "ask"
    assert outcome(tree, "ls") == "allow"
