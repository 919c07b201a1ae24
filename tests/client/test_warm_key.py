"""Which warm process fits: one that has loaded the same."""

import os
import sys
from pathlib import Path

import pytest

from rookery.client import warm_agent


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
def test_another_version_has_another_warm_process(
    installed: Path, tmp_path: Path, name: str
) -> None:
    home = str(tmp_path / "home")
    before = warm_agent.socket_path(home)
    assert warm_agent.socket_path(home) == before
    (installed / "another-1.0.0.dist-info").rename(installed / "another-2.0.0.dist-info")
    assert warm_agent.socket_path(home) == before
    (installed / f"{name}-1.0.0.dist-info").rename(installed / f"{name}-1.0.1.dist-info")
    assert warm_agent.socket_path(home) != before


def test_a_reinstalled_version_has_another_warm_process(installed: Path, tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    before = warm_agent.socket_path(home)
    os.utime(installed / "litellm-1.0.0.dist-info", ns=(1, 1))
    assert warm_agent.socket_path(home) != before


def test_a_warm_process_is_keyed_by_what_it_loaded(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is installed later is not what it has loaded: who has that is not let in."""
    monkeypatch.setattr(warm_agent, "_loaded", None)
    key = warm_agent.items()
    warm_agent.keep_to_this()
    assert not warm_agent.are_replaced()
    (installed / "litellm-1.0.0.dist-info").rename(installed / "litellm-1.0.1.dist-info")
    assert warm_agent.items() == key
    assert warm_agent.are_replaced()
