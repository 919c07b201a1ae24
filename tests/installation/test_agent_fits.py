"""`doctor` and `setup` say what Rookery's own agent lacks, and the line that mends it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.installation.commands import install_line, repair_line
from rookery.installation.distribution import running
from rookery.installation.requirements import misfits


def rookery(*words: str, packages: Path) -> subprocess.CompletedProcess[str]:
    """With packages that stand before those that are installed."""
    return subprocess.run(
        [sys.executable, "-m", "rookery", *words],
        env=os.environ | {"PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        check=False,
    )


def installed(packages: Path, name: str, version: str) -> None:
    place = packages / f"{name}-{version}.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """As in an environment whose resolver was given no bounds."""
    installed(tmp_path / "packages", "mcp", "2.3.0")
    installed(tmp_path / "packages", "openhands_sdk", "1.49.1")
    return tmp_path / "packages"


def test_here_everything_fits() -> None:
    assert misfits("agent") == []
    assert misfits("tui") == []


def test_doctor_names_the_versions_that_do_not_fit(home: Path, packages: Path) -> None:
    done = rookery("doctor", "--json", packages=packages)
    assert done.returncode == 1, done.stderr
    (words,) = [row["words"] for row in json.loads(done.stdout)["rows"] if row["row"] == "agent"]
    assert "mcp 2.3.0 does not fit, it must be >=1.30,<2" in words
    assert "openhands-sdk 1.49.1 does not fit, it must be >=1.58,<1.59" in words
    assert words.endswith(f"To fix it: {install_line(running(), ['agent'])}")


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_setup_does_not_say_that_all_is_well(
    home: Path, packages: Path, flags: tuple[str, ...]
) -> None:
    model = ("--model", "openai/x", "--base-url", "http://127.0.0.1:9/v1", "--no-test")
    done = rookery("setup", "--name", "x", *model, *flags, packages=packages)
    assert done.returncode == 1
    assert "openhands-sdk 1.49.1 does not fit" in done.stdout + done.stderr
    assert "New sessions use it" not in done.stderr


def test_doctor_imports_what_the_agent_imports(home: Path, tmp_path: Path) -> None:
    """Versions say nothing of a damaged file."""
    (tmp_path / "litellm.py").write_text("import a_library_that_is_gone\n")
    done = rookery("doctor", "--json", packages=tmp_path)
    (words,) = [row["words"] for row in json.loads(done.stdout)["rows"] if row["row"] == "agent"]
    assert "it cannot start: ModuleNotFoundError: No module named 'a_library_that_is_gone'" in words
    assert words.endswith(f"To fix it: {repair_line(running(), 'agent')}")
    assert done.returncode == 1
