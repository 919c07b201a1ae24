"""Which warm process fits: one that has loaded the same (issue 11, line 18)."""

import os
import sys
from pathlib import Path

import pytest

from rookery.client import warmth


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which libraries are installed, and that is looked at for them."""
    place = tmp_path / "site-packages"
    for name in ("litellm-1.0.0", "openhands_sdk-1.0.0", "another-1.0.0"):
        (place / f"{name}.dist-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(place), str(tmp_path / "not-there")])
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    return place


@pytest.mark.parametrize("name", ["litellm", "openhands_sdk"])
def test_I11_18_another_version_has_another_warm_process(
    installed: Path, tmp_path: Path, name: str
) -> None:
    home = str(tmp_path / "home")
    before = warmth.socket_path(home)
    assert warmth.socket_path(home) == before
    (installed / "another-1.0.0.dist-info").rename(installed / "another-2.0.0.dist-info")
    assert warmth.socket_path(home) == before
    (installed / f"{name}-1.0.0.dist-info").rename(installed / f"{name}-1.0.1.dist-info")
    assert warmth.socket_path(home) != before


def test_I11_18_the_same_version_installed_anew_counts_as_another(
    installed: Path, tmp_path: Path
) -> None:
    home = str(tmp_path / "home")
    before = warmth.socket_path(home)
    os.utime(installed / "litellm-1.0.0.dist-info", ns=(1, 1))
    assert warmth.socket_path(home) != before


def test_I11_18_a_warm_process_is_of_what_it_found(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is installed later is not what it has loaded: who has that is not let in."""
    monkeypatch.setattr(warmth, "_loaded", None)
    key = warmth.items()
    warmth.keep_libraries()
    assert not warmth.are_replaced()
    (installed / "litellm-1.0.0.dist-info").rename(installed / "litellm-1.0.1.dist-info")
    assert warmth.items() == key
    assert warmth.are_replaced()
