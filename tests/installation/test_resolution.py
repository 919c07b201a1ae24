"""The bounds in pyproject.toml: every requirement has both, everything that the code imports is
among them, and all combinations of extras resolve, without pins, to libraries that fit."""

import ast
import itertools
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest

from tests.installation.places import PYTHONS, ROOT, UV
from tools import bounds

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = ("agent", "tui", "web", "push")


def names(lines: list[str]) -> set[str]:
    return {re.split(r"[<>=!~;\[ ]", line)[0].lower().replace("_", "-") for line in lines}


@pytest.mark.parametrize("line", bounds.requirements(ROOT / "pyproject.toml"))
def test_every_requirement_is_bounded_on_both_sides(line: str) -> None:
    assert re.fullmatch(r"[\w.-]+>=[\d.]+,<[\d.]+", line), line


def test_the_sdk_and_its_tools_are_of_one_version() -> None:
    agent = PROJECT["optional-dependencies"]["agent"]
    wanted = {line.removeprefix("openhands-") for line in agent if line.startswith("openhands-")}
    assert wanted == {"sdk>=1.58,<1.59", "tools>=1.58,<1.59"}


def test_what_the_code_imports_is_required() -> None:
    """A library that merely comes with another has no bound. The one that is required by a module's
    name may bring it in a part of its own (fastmcp-slim)."""
    imported: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])
    owners = packages_distributions()
    extras = PROJECT["optional-dependencies"]
    required = names([*PROJECT["dependencies"], *(each for e in EXTRAS for each in extras[e])])
    foreign = imported - set(sys.stdlib_module_names) - {"rookery"}
    unbound = {
        name for name in foreign if not names([name, *owners.get(name, ())]).intersection(required)
    }
    assert not unbound


@pytest.mark.long
@pytest.mark.parametrize("version", PYTHONS)
@pytest.mark.parametrize(
    "extras",
    [list(chosen) for n in range(5) for chosen in itertools.combinations(EXTRAS, n)],
    ids=lambda chosen: "+".join(chosen) or "base",
)
def test_every_combination_of_extras_resolves(extras: list[str], version: str) -> None:
    command = [UV, "pip", "compile", "--quiet", "--no-header", "--no-annotate"]
    command += ["--python-version", version, "pyproject.toml"]
    run = subprocess.run(
        [*command, *(f"--extra={each}" for each in extras)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = dict(re.findall(r"^([\w.-]+)==(\S+)", run.stdout, re.MULTILINE))
    assert {"click", "tomlkit"} <= found.keys()
    if "agent" in extras:
        assert found["openhands-sdk"] == found["openhands-tools"]
        assert found["openhands-sdk"].startswith("1.58.")
        assert found["mcp"].startswith("1.")


def test_releases_beyond_the_bounds_are_told_and_an_index_that_is_away(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert bounds.main(["--offline", "--no-cache"]) == 0
    assert "unknown, no index" in capsys.readouterr().out


@pytest.mark.long
def test_a_release_beyond_a_bound_is_found() -> None:
    (found,) = bounds.beyond(["mcp>=1.27,<1.30"])
    assert found.allowed.startswith("1.29.")
    assert found.newest > found.allowed
