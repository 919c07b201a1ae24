"""keep_events: old turns lose what was said in them, and no header loses anything."""

from pathlib import Path

from rookery.core.json.events import Event, kind_of
from rookery.log import headers
from rookery.log.reader import Reader
from rookery.log.rows import BULK
from rookery.log.store import Writer
from tests.log.drafts import chunk, commands, folded, idle, prompt, renamed, running, tool, usage


def write_turns(writer: Writer, turns: int, said: int) -> list[Event]:
    events = writer.append([renamed("a title"), commands(3)])
    for n in range(1, turns + 1):
        events += writer.append(
            [prompt(n, f"c{n}"), running(n), tool("t", "completed", "tool_call")]
        )
        events += writer.append([*(chunk(f"{n}.{k}") for k in range(said)), usage(n), idle(n)])
    return events


def test_the_last_events_stay_and_of_older_ones_what_a_header_needs(tmp_path: Path) -> None:
    with Writer.open(str(tmp_path), create=True) as writer:
        events = write_turns(writer, 5, 20)
        header = writer.header
        gone = writer.prune(30)
        assert gone > 0
        assert writer.header == header
        assert writer.prune(30) == 0, "once is enough"
    dropped = [e for e in events if e.seq <= len(events) - 30 and kind_of(e.update) in BULK]
    with Reader.open(str(tmp_path)) as log:
        left = log.read(0, 10_000)
        assert left == [event for event in events if event not in dropped]
        assert len(dropped) == gone
        assert log.turns() == 5
        shown = log.page(1)
        assert [kind_of(event.update) for event in shown] == [
            "_prompt",
            "_turn",
            "usage_update",
            "_turn",
        ]
        assert log.find("c1") is not None


def test_a_header_that_has_to_be_folded_anew_is_the_same(tmp_path: Path) -> None:
    with Writer.open(str(tmp_path), create=True) as writer:
        events = write_turns(writer, 5, 20)
        writer.prune(30)
        left = [e for e in events if e.seq > len(events) - 30 or kind_of(e.update) not in BULK]
        anew = folded(left)
        for field in ("commands", "title", "turn", "usage", "options", "state", "reason", "last"):
            assert anew.raw[field] == writer.header.raw[field]
        writer._connection.execute("UPDATE turn SET header = NULL")
        refolded = headers.header_at(writer._connection, writer.last_seq)
        assert refolded.turn == 5
        assert refolded.commands == writer.header.commands


def test_the_turn_that_runs_is_not_touched(tmp_path: Path) -> None:
    with Writer.open(str(tmp_path), create=True) as writer:
        writer.append([prompt(1), running(1), *(chunk(str(k)) for k in range(50))])
        assert writer.prune(10) == 0
        writer.append([idle(1), prompt(2)])
        assert writer.prune(10) > 0


def test_nothing_to_drop_is_no_fault(tmp_path: Path) -> None:
    with Writer.open(str(tmp_path), create=True) as writer:
        assert writer.prune(10) == 0
        write_turns(writer, 1, 1)
        assert writer.prune(1000) == 0
