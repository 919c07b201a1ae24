"""rewind_files_ratio: 300 small files become what they were, against `git checkout` of the same.

A git repository of these files alone, in two states whose contents and permissions differ. Restored
as a snapshot's process does it once it runs: the store is opened, the two snapshots are compared,
each file is looked at again and written. Both go back and forth in turns; contents and modes are
checked after each; the medians of 15 are compared. rewind_ms: all of a rewind's processes, with
what is looked at and judged before, and the snapshot after it.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from bench.figures import Aim, Benchmark, run_alone
from rookery.snapshots import job, restore
from rookery.snapshots.store import Store

FILES = 300
TIMES = 15
MOST = 10 * 1024 * 1024

type State = dict[str, tuple[int, bytes]]


def measure() -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="rookery-bench-") as folder:
        place = Path(folder)
        root, session = place / "work", place / "sessions/bench"
        session.mkdir(parents=True)
        root.mkdir()
        _git(root, "init", "-q", "-b", "none")
        states, snapshots = list[State](), list[str]()
        for number in (1, 2):
            _write(root, number)
            states.append(_state(root))
            snapshots.append(_asked(session, root, do="take")["id"])
            _git(root, "add", "-A")
            _git(root, "commit", "-qm", f"state {number}")
            _git(root, "branch", f"state{number}")
        _git(root, "checkout", "-q", "state2")
        shutil.copytree(root, place / "checkout", symlinks=True)
        ours, theirs, whole = list[float](), list[float](), list[float]()
        for number in range(TIMES):
            wanted = number % 2
            began = perf_counter()
            _git(place / "checkout", "checkout", "-q", f"state{wanted + 1}")
            theirs.append(perf_counter() - began)
            assert _state(place / "checkout") == states[wanted]
            began = perf_counter()
            _restore(session, root, snapshots[1 - wanted], snapshots[wanted])
            ours.append(perf_counter() - began)
            assert _state(root) == states[wanted]
        for number in range(TIMES):
            wanted = (TIMES + number) % 2
            began = perf_counter()
            _rewind(session, root, snapshots[wanted], snapshots[1 - wanted])
            whole.append((perf_counter() - began) * 1000)
            assert _state(root) == states[wanted]
        ratio = median(ours) / median(theirs)
        return {"rewind_files_ratio": ratio, "rewind_ms": median(whole)}


def _restore(session: Path, root: Path, present: str, target: str) -> None:
    request = job.request(str(session), str(root), dict(os.environ), MOST)
    assert request is not None
    with Store.opened(
        *(request[key] for key in ("store", "git", "root", "home", "environment"))
    ) as store:
        assert len(restore.restore(store, present, target).done) == FILES


def _write(root: Path, number: int) -> None:
    for each in range(FILES):
        file = root / f"part{each % 10}" / f"file{each}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"value = {each * number}\n" * 20)
        file.chmod(0o755 if (each + number) % 2 else 0o644)


def _state(root: Path) -> State:
    found = list(root.glob("part*/*"))
    assert len(found) == FILES
    return {each.name: (stat.S_IMODE(each.stat().st_mode), each.read_bytes()) for each in found}


def _rewind(session: Path, root: Path, target: str, last: str) -> None:
    acts = [[target, last, False]]
    found = _asked(session, root, do="compare", target=target, acts=acts)
    paths = [each["path"] for each in found["changes"] if each["whole"] and each["acts"]]
    assert len(paths) == FILES
    given = {"present": found["id"], "target": target, "paths": paths}
    done = _asked(session, root, do="restore", **given)
    assert done["same"], done


def _asked(session: Path, root: Path, **given: Any) -> dict[str, Any]:
    request = job.request(str(session), str(root), dict(os.environ), MOST, **given)
    asked = json.dumps(request).encode()
    done = subprocess.run(job.argv(), input=asked, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def _git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *words], cwd=root, check=True)


AIMS = (Aim("rewind_files_ratio", "x", below=5), Aim("rewind_ms", "ms"))
BENCHMARK = Benchmark(AIMS, measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
