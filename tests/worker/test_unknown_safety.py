"""A worker starts no agent without what was meant to protect the user."""

from typing import Any

import pytest

from rookery.client.start import StartError
from rookery.core.json import Draft
from rookery.home import paths
from rookery.log.store import Writer
from tests.worker.aviary import Aviary, kinds


@pytest.mark.parametrize(
    "fields", [{"sandbox": {"kind": "vm"}}, {"budget": {"week": "5 USD"}}], ids=str
)
async def test_a_field_that_is_not_understood_is_refused_in_words(
    aviary: Aviary, fields: dict[str, Any]
) -> None:
    bird = aviary.hatch()
    with Writer.open(str(bird.directory)) as log:
        log.append([Draft({"sessionUpdate": "_session", **fields})])
    [name] = fields
    with pytest.raises(StartError, match=f"This session's {name} is .*rookery update"):
        await bird.prompt("hello")
    assert kinds(bird.events()) == ["_session", "_session"], "it can still be read"
    assert not aviary.wait_empty()


async def test_no_worker_starts_in_a_home_of_a_newer_rookery(aviary: Aviary) -> None:
    bird = aviary.hatch()
    (bird.directory.parents[1] / paths.FORMAT).write_text("2\n")
    with pytest.raises(StartError, match="of a newer Rookery"):
        await bird.prompt("hello")
    assert kinds(bird.events()) == ["_session"]
    assert not aviary.wait_empty()
