"""Writes tests/lengthy.txt, the tests that `make test` leaves to CI: `python -m tools.lengthy LOG`.

LOG is what a whole run printed: `make test ARGS="-m 'not long' --durations=0 --durations-min=0.1"`.
Tests are listed from the slowest on until the others take a fifth of the time. A few of each
kind stay: whoever runs `make test` should see each part of the product work once.
"""

import re
import sys
from collections import Counter
from pathlib import Path

LIST = Path(__file__).resolve().parents[1] / "tests" / "lengthy.txt"
ROW = re.compile(r"^ *([\d.]+)s (?:call|setup|teardown) +(tests/\S+?\.py::.*)$", re.MULTILINE)
STAY = (
    "tests/daemon/test_bot.py",
    "tests/e2e/test_self_approval.py",
    "tests/log/test_killed.py",
    "tests/page/test_live.py",
    "tests/sandbox/test_bwrap.py",
    "tests/tui/test_first_ten_minutes.py",
    "tests/agent/test_under_worker.py",
)
"""Files whose tests are never listed: the bot of the docs, a kill, a page, a sandbox, a terminal,
the own agent."""


def lengthy(log: str, share: float) -> list[str]:
    """Return the slowest tests, so many that the others take that share of the time."""
    seconds: Counter[str] = Counter()
    for spent, name in ROW.findall(log):
        seconds[name.rstrip()] += float(spent)
    left, total = sum(seconds.values()), sum(seconds.values())
    chosen = []
    for name, spent in seconds.most_common():
        if left <= share * total:
            break
        if not name.startswith(STAY):
            chosen.append(name)
            left -= spent
    return sorted(chosen)


if __name__ == "__main__":
    log, *share = sys.argv[1:]
    rows = lengthy(Path(log).read_text(encoding="utf-8"), float(share[0]) if share else 0.2)
    LIST.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    print(f"{len(rows)} tests are in {LIST.name}")
