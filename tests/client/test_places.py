"""Links are followed before it is said where a call reaches."""

import os
from pathlib import Path
from typing import Any

import pytest

from rookery.core.policy import rules
from rookery.home import call_paths

type Json = dict[str, Any]


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Whose home is not below /tmp in name: temporary places are free."""
    real = tmp_path / "person"
    (real / ".ssh").mkdir(parents=True)
    (real / ".ssh" / "id").write_text("x")
    (real / "work").mkdir()
    monkeypatch.setenv("HOME", str(real))
    return real


def seen(person: Path, kind: str, path: Path, **environment: str) -> rules.Call:
    lay = call_paths.lay(str(person / ".rookery"), environment)
    about: Json = {"kind": kind, "locations": [{"path": str(path)}]}
    return call_paths.look_at("x", about, [str(person / "work")], lay)


def test_a_link_to_the_keys(person: Path) -> None:
    os.symlink(person / ".ssh", person / "work" / "link")
    assert "reads your keys" in seen(person, "read", person / "work" / "link" / "id").danger


def test_a_link_out_of_the_directory(person: Path) -> None:
    os.symlink("/srv", person / "work" / "link")
    assert "writes outside" in seen(person, "edit", person / "work" / "link" / "a").danger
    assert seen(person, "read", person / "work" / "link" / "a").outside


def test_keys_that_are_a_link_themselves(person: Path, tmp_path: Path) -> None:
    """Also where the home is reached by another name."""
    (person / ".ssh").rename(tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", person / ".ssh")
    other = tmp_path / "other"
    os.symlink(person, other)
    os.environ["HOME"] = str(other)
    assert "reads your keys" in seen(person, "read", other / ".ssh" / "id").danger


def test_the_place_for_temporary_files_is_the_sessions(person: Path) -> None:
    assert seen(person, "edit", Path("/var/tmp/x/a")).danger
    assert not seen(person, "edit", Path("/var/tmp/x/a"), TMPDIR="/var/tmp/x").danger
    assert seen(person, "edit", Path("/srv/a"), TMPDIR="/").danger, "that is no temporary place"
