"""A session's directory, and writers that are closed whatever a test does."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from rookery.log.reader import Reader
from rookery.log.store import Writer


@pytest.fixture
def directory(tmp_path: Path) -> str:
    return str(tmp_path / "session")


@pytest.fixture
def closing() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def write(directory: str, closing: ExitStack) -> Callable[..., Writer]:
    """Open the session for writing; it is made where it is not there yet."""

    def opened(**options: Any) -> Writer:
        return closing.enter_context(Writer.open(directory, create=True, **options))

    return opened


@pytest.fixture
def read(directory: str, closing: ExitStack) -> Callable[..., Reader]:
    def opened(**options: Any) -> Reader:
        return closing.enter_context(Reader.open(directory, **options))

    return opened
