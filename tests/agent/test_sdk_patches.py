"""Our corrections of the SDK: all in one folder, each still needed, each with its reason."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.agent.unpatched import PATCHES

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "rookery" / "agent" / "sdk_patches"
FOREIGN = ("openhands", "litellm", "openai", "aiohttp", "mcp")
FILES = {
    "_".join(path.relative_to(FOLDER).with_suffix("").parts).removesuffix("___init__"): path
    for path in FOLDER.rglob("*.py")
    if path != FOLDER / "__init__.py"
} | {"private": FOLDER.parent / "private.py"}
NO_PATCHES = {"install", "imports_later", "skills_texts"}
"""What patches are made with."""
NAMES = sorted(patch.__name__ for patch in PATCHES)
MADE_FOR = re.compile(r"Made for .*?\d+\.\d+", re.DOTALL)
LIBRARY = re.compile(
    r"\b(openhands-sdk|openhands-tools|litellm|openai|aiohttp|fastmcp|mcp)\s+(\d+\.\d+)"
)


@pytest.fixture(scope="module")
def needed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bool]:
    run = subprocess.run(
        [sys.executable, "-m", "tests.agent.unpatched"],
        cwd=ROOT,
        env={**os.environ, "HOME": str(tmp_path_factory.mktemp("home"))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, bool] = json.loads(run.stdout.splitlines()[-1])
    return found


@pytest.mark.long  # what is pinned does not change by itself
@pytest.mark.parametrize("name", NAMES)
def test_each_sdk_patch_is_still_needed(needed: dict[str, bool], name: str) -> None:
    assert needed[name], "upstream has corrected the fault: remove the patch"


def test_every_sdk_patch_has_a_test_of_its_need() -> None:
    """In the folders below, too."""
    assert sorted(FILES.keys() - NO_PATCHES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_patch_names_its_sdk_version_and_its_end(name: str) -> None:
    words = ast.get_docstring(ast.parse(FILES[name].read_text())) or ""
    assert MADE_FOR.search(words), "which library and version was it made for?"
    for library, made_for in LIBRARY.findall(words):
        assert version(library).startswith(f"{made_for}."), f"{library} is newer: look at it again"
    assert "unnecessary once" in " ".join(words.lower().split()), (
        "which upstream change would delete it?"
    )


@pytest.mark.long
def test_the_sdk_is_patched_nowhere_else() -> None:
    files = [path for path in (ROOT / "src").rglob("*.py") if FOLDER not in path.parents]
    found = [f"{path.relative_to(ROOT)}:{line}" for path in files for line in changes(path)]
    assert found == []


def changes(path: Path) -> Iterator[int]:
    """The lines that assign to an attribute of something imported from a foreign library."""
    tree = ast.parse(path.read_text())
    foreign = {name for node in ast.walk(tree) for name in imported(node)}
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            root: ast.expr = target
            while isinstance(root, ast.Attribute):
                root = root.value
            if root is not target and isinstance(root, ast.Name) and root.id in foreign:
                yield node.lineno


def imported(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            found = [(each.name, each.asname or each.name.partition(".")[0]) for each in names]
        case ast.ImportFrom(module=str() as module, names=names):
            found = [(module, each.asname or each.name) for each in names]
        case _:
            return
    yield from (name for module, name in found if module.partition(".")[0] in FOREIGN)


def test_patches_of_one_function_are_installed_once_each() -> None:
    """Every session installs them again: a chain that grows ends in a recursion error."""
    from rookery.agent.sdk_patches import wrap

    class Place:
        @staticmethod
        def speak() -> str:
            return "a"

    def louder(known: Callable[[], str]) -> str:
        return known().upper()

    def longer(known: Callable[[], str]) -> str:
        return f"{known()}!"

    for _ in range(3):
        wrap(Place, "speak", louder)
        wrap(Place, "speak", longer)
    assert Place.speak() == "A!"
