"""A session with a sandbox or a budget has a log that earlier builds refuse; no other has."""

import os
import signal
import subprocess
import sys

import pytest

from rookery.core.json import Draft, Json
from rookery.log.errors import Repeated
from rookery.log.reader import Reader
from rookery.log.store import Writer
from tests.log.drafts import chunk, foreign, prompt

SANDBOX: Json = {"sessionUpdate": "_session", "sandbox": "bwrap"}
BUDGET: Json = {"sessionUpdate": "_session", "budget": {"session": "2 USD"}}

DIES_AT_IT = """
import os, signal, sys
from rookery.core.json import Draft
from rookery.log import schema
from rookery.log.store import Writer
writer = Writer.open(sys.argv[1])
if sys.argv[2] == "before":
    schema.write_version = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
writer.append([Draft({"sessionUpdate": "_session", "sandbox": "bwrap"})])
os.kill(os.getpid(), signal.SIGKILL)
"""


def version(directory: str) -> int:
    [(found,)] = foreign(directory, "PRAGMA user_version")
    return int(found)


def as_before(directory: str) -> None:
    """As the build before wrote it."""
    foreign(directory, "PRAGMA user_version=1")


@pytest.mark.parametrize("update", [SANDBOX, BUDGET], ids=["sandbox", "budget"])
def test_the_number_rises_with_the_event_and_stays(directory: str, update: Json) -> None:
    with Writer.open(directory, create=True) as writer:
        writer.append([prompt(1), chunk("a")])
        assert version(directory) == 1
        writer.append([Draft(update)])
        assert version(directory) == 2
    with Writer.open(directory) as writer:
        writer.append([chunk("b")])
    assert version(directory) == 2
    with Reader.open(directory) as reader:
        assert reader.last_seq() == 4


def test_an_append_that_fails_leaves_the_number(directory: str) -> None:
    with Writer.open(directory, create=True) as writer:
        writer.append([chunk("a")._replace(cause="c")])
        with pytest.raises(Repeated):
            writer.append([Draft(SANDBOX), chunk("b")._replace(cause="c")])
        assert version(directory) == 1
        writer.append([Draft(SANDBOX)])
        assert version(directory) == 2


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_writer_killed_at_it_leaves_both_or_neither(directory: str, when: str) -> None:
    Writer.open(directory, create=True).close()
    done = subprocess.run([sys.executable, "-c", DIES_AT_IT, directory, when], check=False)
    assert done.returncode == -signal.SIGKILL
    with Reader.open(directory) as reader:
        confined = reader.header().sandbox == "bwrap"
    assert confined == (when == "after")
    assert version(directory) == (2 if confined else 1)


def test_a_log_of_an_earlier_build_is_raised_by_its_next_writer_only(directory: str) -> None:
    with Writer.open(directory, create=True) as writer:
        writer.append([Draft(SANDBOX)])
    as_before(directory)
    with Reader.open(directory) as reader:
        assert reader.header().sandbox == "bwrap"
    assert version(directory) == 1, "a worker of that build may still write it"
    Writer.open(directory).close()
    assert version(directory) == 2


def test_a_log_without_either_is_never_raised(directory: str) -> None:
    none: Json = {"sessionUpdate": "_session", "sandbox": "none", "budget": {"day": "off"}}
    with Writer.open(directory, create=True) as writer:
        writer.append([Draft(none), prompt(1), chunk("a")])
    Writer.open(directory).close()
    assert version(directory) == 1
    assert sorted(os.listdir(directory)) == ["lock", "log.db"]
