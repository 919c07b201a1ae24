"""Lists tell what the log says: a head is only a fold, and is never trusted."""

import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rookery.client.create import create_session
from rookery.client.fleet import heads
from rookery.core.json.events import Draft
from rookery.core.policy import unattended
from rookery.core.view.fleet import is_sound
from rookery.home import paths
from rookery.log.store import Writer
from rookery.worker.process.records import Records


@pytest.fixture
def session(home: Path) -> str:
    return create_session(str(home), agent="demo", argv=[], cwd="/", title="One")


@pytest.mark.parametrize(
    "damage",
    [
        {"title": None},
        {"state": 7},
        {"plan": "none"},
        {"v": "1"},
    ],
)
def test_a_head_with_a_wrong_field_is_rebuilt(
    home: Path, session: str, damage: dict[str, object]
) -> None:
    create_session(str(home), agent="demo", argv=[], cwd="/", title="Two")
    path = Path(paths.session_dir(str(home), session), paths.HEAD)
    head = json.loads(path.read_text())
    path.write_text(json.dumps(head | damage))
    assert {head["title"] for head in heads(str(home))} == {"One", "Two"}
    for key in head:
        path.write_text(json.dumps({name: value for name, value in head.items() if name != key}))
        assert {head["title"] for head in heads(str(home))} == {"One", "Two"}


def test_a_head_without_asks_is_valid(home: Path) -> None:
    """Else every list would open its log."""
    order = unattended.Order("all", origin="run")
    made = create_session(str(home), agent="demo", argv=[], cwd="/", order=order)
    head = paths.read_json(os.path.join(paths.session_dir(str(home), made), paths.HEAD))
    assert head is not None
    assert isinstance(head["unattended"], dict)
    assert is_sound(head)


@contextmanager
def no_descriptor_left() -> Iterator[None]:
    free = os.open("/", os.O_RDONLY)
    os.close(free)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_head_that_could_not_be_written_is_not_trusted(home: Path, session: str) -> None:
    """No list shows the state from before, and the next event writes it again."""
    directory = paths.session_dir(str(home), session)
    records = Records(directory, {})
    with Writer.open(directory) as writer:
        records.show(writer.header, writer.last_seq, writer.last_at)
        asked = {"sessionUpdate": "_ask", "id": "a", "state": "asked", "kind": "permission"}
        event = writer.append([Draft(asked)])[-1]
        with no_descriptor_left():
            records.show(writer.header, event.seq, event.at)
        assert [head["asks"] for head in heads(str(home))] == [1]
        Path(directory, paths.HEAD).unlink()
        records.show(writer.header, event.seq + 1, event.at)
        assert json.loads(Path(directory, paths.HEAD).read_text())["asks"] == 1
