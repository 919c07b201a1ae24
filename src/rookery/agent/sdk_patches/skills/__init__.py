"""Skills and instructions, which any repository may bring: text that is read within bounds; nothing
in it is run.

Made for openhands-sdk 1.58, which runs each !`command` of a skill that the model asks for, and the
program that a repository's own configuration names (`core.fsmonitor`); waits for ever for a pipe;
leaves out all skills of a project because of one file that is not UTF-8; reads ten thousand of
them; and walks through all that is below a directory without git, even the user's home. Unnecessary
once commands can be turned off, and files are read within bounds."""

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from openhands.sdk.skills import Skill, skill, utils
from openhands.sdk.tool.builtins import invoke_skill

from rookery.agent.sdk_patches import Around, wrap
from rookery.agent.sdk_patches.skills import texts
from rookery.client.work_tree import git

MAX_SKILLS = 200
"""Skills of one folder: each is announced to the model."""
WALKED = 20_000
"""Files and directories that are looked at, the nearest first, where git does not list them."""
LISTED = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")


def _as_it_is(content: str, working_dir: Any = None) -> str:  # noqa: ARG001 (the SDK's)
    return content


def _load(
    cls: type[Skill],
    path: str | Path,
    skill_base_dir: Path | None = None,
    strict: bool = True,
    skip_mcp: bool = False,  # noqa: ARG001 (the SDK's)
) -> Skill:
    """Load a skill. Its MCP servers are never started, so they are not read either."""
    path = Path(path)
    text = texts.beginning(path)
    if path.name.lower() == "skill.md":
        return cls._load_agentskills_skill(path, text, strict=strict, skip_mcp=True)
    return cls._load_legacy_openhands_skill(path, text, skill_base_dir)


def _first[**P](find: Callable[P, list[Any]], *given: P.args, **named: P.kwargs) -> list[Any]:
    return find(*given, **named)[:MAX_SKILLS]


def _regular(
    find: Around, skill_dir: Path, exclude_dirs: set[Path], *given: Any, **named: Any
) -> list[Path]:
    """Return the files that are no part of a skill. The SDK checks for each file whether it is in
    one of the skills' folders, which took minutes."""
    if not (given[0] if given else named.get("recursive", True)):
        return _first(find, skill_dir, exclude_dirs, *given, **named)
    root = named.get("root") or (given[1] if len(given) > 1 else None)
    spared = {str(each) for each in exclude_dirs}
    files: list[Path] = []
    for folder, below, names in os.walk(skill_dir):
        below[:] = [each for each in sorted(below) if os.path.join(folder, each) not in spared]
        if any(each.lower() == "skill.md" for each in names):
            below.clear()
            continue
        ours = [each for each in sorted(names) if each.endswith(".md") and each != "README.md"]
        files += [Path(folder, each) for each in ours]
        if len(files) >= MAX_SKILLS:
            break
    return [
        path for path in files[:MAX_SKILLS] if root is None or texts.is_within(path, [str(root)])
    ]


def _tracked(_theirs: Around, work_dir: Path) -> list[PurePosixPath] | None:
    output = git.run(str(work_dir), LISTED)
    if output is None:
        return None
    names = output.data.decode("utf-8", "surrogateescape").split("\0")
    return [PurePosixPath(name) for name in names if name]


def _walked(_theirs: Around, work_dir: Path) -> list[PurePosixPath]:
    files: list[PurePosixPath] = []
    folders, seen = deque([PurePosixPath()]), 0
    while folders and seen < WALKED:
        folder = folders.popleft()
        with suppress(OSError), os.scandir(work_dir / folder) as entries:
            for entry in islice(entries, WALKED - seen):
                seen += 1
                if not entry.is_dir(follow_symlinks=False):
                    files.append(folder / entry.name)
                elif not entry.name.startswith(".") and entry.name != "node_modules":
                    folders.append(folder / entry.name)
    return files


def install() -> None:
    for module in (invoke_skill, skill):
        module.render_content_with_commands = _as_it_is  # type: ignore[attr-defined]
    Skill.load = classmethod(_load)  # type: ignore[assignment]
    for name in ("find_skill_md_directories", "find_nested_third_party_files"):
        wrap(skill, name, _first)
    wrap(skill, "find_regular_md_files", _regular)
    wrap(utils, "_git_worktree_relpaths", _tracked)
    wrap(utils, "_walk_relpaths", _walked)
