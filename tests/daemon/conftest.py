"""A daemon for a test; it ends with the test."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rookery.client.daemon import local
from rookery.daemon.process import lifecycle
from tests.conftest import temporary_home
from tests.daemon.served import Served, serve


@pytest.fixture
def serving(home: Path) -> Iterator[Callable[..., Served]]:
    """Starts a daemon of the test's home, with any options."""

    def start(**options: Any) -> Served:
        return serve(home, **options)

    yield start
    if local.record(str(home)) is not None:
        lifecycle.stop(str(home))


@pytest.fixture(scope="module")
def module_home() -> Iterator[Path]:
    """A home that the tests of a file share."""
    with pytest.MonkeyPatch.context() as patch:
        yield from temporary_home(patch)


@pytest.fixture
def daemon(serving: Callable[..., Served]) -> Served:
    return serving()


@pytest.fixture(scope="module")
def served(module_home: Path) -> Iterator[Served]:
    """One for all tests of a file that leave it as it was."""
    daemon = serve(module_home)
    yield daemon
    daemon.stop()
