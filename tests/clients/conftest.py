"""A place for a client to stand, shared by the cells of its row."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.programs import Perch
from tests.conftest import end_all


@pytest.fixture(scope="module")
def perch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Perch]:
    """Its home is short enough for sockets, and nothing of it is left behind."""
    home = Path(tempfile.mkdtemp(prefix="rk-", dir="/tmp"))
    cwd = tmp_path_factory.mktemp("client") / "project"
    cwd.mkdir()
    yield Perch(home, cwd)
    try:
        end_all(home)
    finally:
        shutil.rmtree(home, ignore_errors=True)
