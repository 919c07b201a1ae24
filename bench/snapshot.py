"""snapshot_ms: a snapshot of a session's directory.

A git repository with 50,000 files. After the first snapshot, 100 files change and one more is
taken, as a worker does it: by a process of its own. The median of 20.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.figures import Aim, Benchmark, progress, run_alone
from rookery.snapshots import job

FILES = 50_000
CHANGED = 100
TIMES = 20
FOLDERS = 1_000


def measure() -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="rookery-bench-") as folder:
        place = Path(folder)
        root = place / "work"
        files = _write(root)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        (place / "sessions/bench").mkdir(parents=True)
        progress(f"{FILES:,} files, the first snapshot")
        _take(place, root)
        chance, took = random.Random(16), list[float]()
        for number in range(TIMES):
            for file in chance.sample(files, CHANGED):
                with file.open("a") as text:
                    text.write(f"change {number}\n")
            began = perf_counter()
            changed = _take(place, root)
            took.append((perf_counter() - began) * 1000)
            assert changed == CHANGED, changed
        return {"snapshot_ms": median(took)}


def _write(root: Path) -> list[Path]:
    found = []
    for number in range(FILES):
        folder = root / f"part{number % 40}" / f"piece{number % FOLDERS}"
        folder.mkdir(parents=True, exist_ok=True)
        found.append(folder / f"file{number}.py")
        found[-1].write_text(f"value_{number} = {number}\n" * 40)
    return found


def _take(place: Path, root: Path) -> int:
    session = str(place / "sessions/bench")
    request = job.request(session, str(root), dict(os.environ), 10 * 1024 * 1024, do="take")
    given = json.dumps(request).encode()
    done = subprocess.run(job.argv(), input=given, stdout=subprocess.PIPE, check=True)
    return int(json.loads(done.stdout)["changed"])


BENCHMARK = Benchmark((Aim("snapshot_ms", "ms", below=1000),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
