"""The home of an end-to-end test, which is empty of processes again when the test is over."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.worker.aviary import Aviary


@pytest.fixture
def aviary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Aviary]:
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    aviary = Aviary(tmp_path)
    yield aviary
    aviary.end()
