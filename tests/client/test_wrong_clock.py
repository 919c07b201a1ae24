"""A clock that was a year ahead for a moment: no list, rule or sum is misled by it afterwards."""

import json
import time
from datetime import UTC, datetime
from pathlib import Path

from rookery.client.create import create_session, write_head
from rookery.client.fleet import heads
from rookery.core.clock_slip import is_snoozed
from rookery.core.header import EMPTY, Shown
from rookery.core.json.events import Draft, Event
from rookery.core.limits import Policy
from rookery.core.turn import rate_limit, worker_idle
from rookery.core.view.fleet import is_hidden
from rookery.home import paths, resting
from rookery.log.store import Writer
from rookery.usage.groups import grouped
from rookery.usage.meter import Row
from tests.cli.driving import rookery

YEAR = 365 * 24 * 3600 * 1000


def now() -> int:
    return time.time_ns() // 1_000_000


def made(home: Path, title: str) -> str:
    return create_session(str(home), agent="demo", argv=[], cwd="/", title=title)


def append(home: Path, session: str, ahead: int, **fields: object) -> Event:
    """An event of a worker whose clock is ahead, and the head that it leaves."""
    directory = paths.session_dir(str(home), session)
    with Writer.open(directory, clock=lambda: now() + ahead) as log:
        [event] = log.append([Draft({"sessionUpdate": "_session", **fields})])
        write_head(directory, log.header, event.seq, event.at)
    return event


def test_a_session_of_a_clock_that_was_ahead_grows_older_like_any_other(home: Path) -> None:
    glitched = made(home, "Glitched")
    append(home, glitched, YEAR, pinned=False)
    assert heads(str(home))[0]["at"] <= now()
    other = made(home, "Other")
    assert [head["id"] for head in heads(str(home))] == [other, glitched]
    # A month later: what is on the disk is as old as that.
    path = Path(paths.session_dir(str(home), glitched), paths.HEAD)
    head = json.loads(path.read_text())
    assert head["at"] <= now()
    path.write_text(json.dumps(head | {"at": head["at"] - YEAR // 12}))
    listed = rookery("prune", "--older-than", "20d", "--json", "--yes").out
    assert [json.loads(line)["id"] for line in listed.splitlines()] == [glitched]


def test_the_log_goes_on_with_the_right_time(home: Path) -> None:
    session = made(home, "Glitched")
    assert append(home, session, YEAR, pinned=True).at > now() + YEAR // 2
    assert append(home, session, 0, pinned=False).at <= now()
    back = append(home, session, -1000, pinned=True)
    assert back.at >= now() - 1000, "a small step back keeps the order"


def test_a_snooze_of_that_clock_does_not_last_a_year(home: Path) -> None:
    glitched, wanted = made(home, "Glitched"), made(home, "Wanted")
    append(home, glitched, YEAR, snoozed=now() + YEAR + 3_600_000)
    append(home, wanted, 0, snoozed=now() + YEAR)
    found = {head["id"]: head for head in heads(str(home))}
    assert not is_hidden(found[glitched], now())
    assert is_snoozed(Shown(found[wanted]), now()), "a long one that the user wants"
    entry = resting.entry_of(str(home), found[glitched], "stamp")
    assert entry.until == 0, "nor is it hidden as one at rest"
    directory = paths.session_dir(str(home), glitched)
    with Writer.open(directory) as log:
        assert not worker_idle.is_put_away(log.header, now())


def test_a_prompt_that_met_a_limit_then_is_sent_again() -> None:
    policy = Policy(rate_limit_auto_resume=True)
    limit = {"prompt": [{"type": "text", "text": "go"}], "retryAfter": 60}
    header = EMPTY.with_(rateLimit=limit, reason="rate_limited", since=now() + YEAR)
    at = rate_limit.resume_at(header, policy, now())
    assert at is not None
    assert at < now()


def test_what_was_used_then_counts_today() -> None:
    today = datetime.now(UTC).astimezone().date().isoformat()
    rows = [Row(now() + YEAR, "s", "demo", "m", "")]
    assert [group.name for group in grouped(rows)] == [today]
