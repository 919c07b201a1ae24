"""scale_ps_ratio, scale_completion_ratio, scale_doctor_ratio: whether a home with many sessions is
as quick as one with few, if the same ones are shown.

10,000 sessions against 1,000; 50 of each are listed, the others are archived, and none has changed
since the command ran before. Medians of runs that take turns. The sessions are copies of two, each
with three turns in its log.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from statistics import median
from time import perf_counter

from bench.figures import Aim, Benchmark, progress, run_alone
from bench.log_scale import turn
from bench.tui_paint import ROOKERY
from rookery.client.create import create_session, write_head
from rookery.core.json import Draft
from rookery.home import paths
from rookery.home.resting import FRESH
from rookery.log.store import Writer

FEW, MANY, SHOWN = 1_000, 10_000, 50
RUNS = 5
TURNS = 3
TAB = {"_ROOKERY_COMPLETE": "bash_complete", "COMP_WORDS": "rookery show ", "COMP_CWORD": "2"}


def build(home: str, sessions: int) -> str:
    began = perf_counter()
    models = [_model(home, archived=archived) for archived in (False, True)]
    for number in range(sessions):
        _copy(models[number >= SHOWN], f"{number:010x}", f"Session {number}")
    for model in models:
        shutil.rmtree(model)
    progress(f"many_sessions: {sessions:,} sessions in {perf_counter() - began:.1f} s")
    return home


def _model(home: str, *, archived: bool) -> str:
    session = create_session(home, agent="demo", argv=[], cwd=home)
    directory = paths.session_dir(home, session)
    with Writer.open(directory) as writer:
        for number in range(1, TURNS + 1):
            writer.append(turn(number))
        event = writer.append([Draft({"sessionUpdate": "_session", "archived": archived})])[-1]
        write_head(directory, writer.header, event.seq, event.at)
    with open(os.path.join(directory, paths.WORKER), "w", encoding="ascii") as file:
        json.dump({"pid": 1, "start": "", "started": 1, "ended": 2}, file)
    return directory


def _copy(model: str, name: str, title: str) -> None:
    place = os.path.join(os.path.dirname(model), name)
    shutil.copytree(model, place)
    path = os.path.join(place, paths.HEAD)
    head = paths.read_json(path)
    if head is None:
        raise LookupError(f"{path} is not there")
    with open(path, "w", encoding="ascii") as file:
        json.dump(head | {"id": name, "title": title}, file)


def seconds(home: str, *words: str, **environment: str) -> tuple[float, str]:
    """How long a command runs, and what it prints; its exit code may say that something is amiss
    with this machine."""
    began = perf_counter()
    done = subprocess.run(
        (*ROOKERY, *words),
        env=os.environ | {"ROOKERY_HOME": home} | environment,
        check=False,
        text=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    return perf_counter() - began, done.stdout


def ps(home: str) -> float:
    taken, said = seconds(home, "ps")
    if said.count("\n") != SHOWN + 1:
        raise ValueError(f"ps printed {said.count('\n')} lines")
    return taken


def completion(home: str) -> float:
    taken, said = seconds(home, **TAB)
    if said.count("\n") != SHOWN:
        raise ValueError(f"{said.count('\n')} sessions were offered")
    return taken


def doctor(home: str) -> float:
    taken, said = seconds(home, "doctor")
    if " logs, " not in said:
        raise ValueError("doctor found no logs, or found them damaged")
    return taken


def measure() -> dict[str, float]:
    found = {}
    with tempfile.TemporaryDirectory(prefix="rkb-") as place:
        few = build(paths.ensure_home(os.path.join(place, "few")), FEW)
        many = build(paths.ensure_home(os.path.join(place, "many")), MANY)
        time.sleep(FRESH / 1e9)
        for command in (doctor, ps, completion):
            command(few), command(many)
            taken = [(command(many), command(few)) for _ in range(RUNS)]
            slow, quick = median(large for large, _ in taken), median(small for _, small in taken)
            progress(f"many_sessions: {command.__name__}: {slow:.2f} s against {quick:.2f} s")
            found[f"scale_{command.__name__}_ratio"] = slow / quick
    return found


AIMS = ("scale_doctor_ratio", "scale_ps_ratio", "scale_completion_ratio")
BENCHMARK = Benchmark(tuple(Aim(name, "x", below=3) for name in AIMS), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
