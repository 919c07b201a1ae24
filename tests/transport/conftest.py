"""A Rookery reached in either way: by its files and sockets, or through its daemon."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rookery.client.daemon.logins import Login
from rookery.client.daemon.remote import Door
from rookery.operations.calling.interface import Rookery
from rookery.operations.calling.local import LocalRookery
from rookery.operations.calling.remote import RemoteRookery
from tests.daemon.conftest import daemon, module_home, serving
from tests.daemon.served import Served, serve

__all__ = ["daemon", "module_home", "serving"]


def distant(served: Served, **more: Any) -> RemoteRookery:
    return RemoteRookery(Door(Login(served.address, served.token, **more)))


class Way(NamedTuple):
    """A way to the Rookery of a home, and how to break it."""

    rookery: Rookery
    interrupt: Callable[[], object]
    """What stands between is killed and comes back; of this machine's there is nothing."""
    work: str
    """An empty directory."""


@pytest.fixture(scope="module", params=["local", "remote"])
def way(
    request: pytest.FixtureRequest, module_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Way]:
    """One for all tests of a file."""
    home, work = module_home, str(tmp_path_factory.mktemp("work"))
    if request.param == "local":
        yield Way(LocalRookery(str(home)), lambda: None, work)
        return
    served = serve(home)
    rookery = distant(served)

    def interrupt() -> None:
        port = int(served.netloc.rpartition(":")[2])
        served.kill()
        served.record = serve(home, port=port).record

    yield Way(rookery, interrupt, work)
    rookery.close()
    served.stop()
