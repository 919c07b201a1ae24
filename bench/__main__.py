"""All benchmarks, or those that are named: `python -m bench [NAME…]`, by file or by figure. Each
runs in a process of its own: none is measured with what another has loaded or left behind.

Exit codes: 0 measured, 1 a benchmark broke, 2 there is none of that name.
"""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator

from bench.bytecode import HERE
from bench.figures import Benchmark, Figure, prepare, progress

FILES = (
    *("version", "worker_start", "stream", "stream_delay"),
    *("log_scale", "idle_worker", "idle_session", "idle_cpu", "fifty_sessions", "scale"),
    "many_sessions",
    *("bridge_initialize", "bridge_delay"),
    *("agent_start", "agent_cancel", "agent_memory", "agent_long", "first_token", "judgement"),
    "prompt_tokens",
    "step_overhead",
    *("sandbox_start", "sandbox_first_turn", "snapshot", "rewind"),
    *("search", "import_sessions"),
    *("daemon_load", "api_open", "daemon_memory", "daemon_idle", "adoption", "daemon_requests"),
    *("web_open", "web_stream", "web_markdown"),
    *("tui_transcript", "tui_paint", "tui_keys", "tui_open", "open_large"),
)
RESULTS = os.path.join(HERE, "results.json")


def main(names: list[str]) -> int:
    prepare()
    known: dict[str, Benchmark] = {
        file: importlib.import_module(f"bench.{file}").BENCHMARK for file in FILES
    }
    chosen = [file for file in FILES if not names or _is_meant(file, known[file], names)]
    figures = {aim.name for benchmark in known.values() for aim in benchmark.aims}
    unknown = [name for name in names if name not in known and name not in figures]
    if unknown:
        progress(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(FILES)}")
        return 2
    broken = False
    results = _results() if names else {}
    for file in chosen:
        progress(f"measuring {file}")
        for figure in run_apart(file, known[file]):
            broken = broken or figure.value is None
            results[figure.aim.name] = figure.json()
        _write(results)
    return int(broken)


def run_apart(file: str, benchmark: Benchmark) -> Iterator[Figure]:
    """Run a benchmark in a process of its own; yield its figures, also of one that died."""
    values: dict[str, float | None] = {}
    process = subprocess.Popen(
        [sys.executable, "-m", f"bench.{file}"], stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    try:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            name, value, *_ = line.split()
            values[name] = None if value == "null" else float(value)
        process.wait()
    finally:
        process.terminate()
        process.wait()
    for aim in benchmark.aims:
        yield Figure(aim, values.get(aim.name))


def _is_meant(file: str, benchmark: Benchmark, names: list[str]) -> bool:
    return file in names or any(aim.name in names for aim in benchmark.aims)


def _results() -> dict[str, dict[str, object]]:
    """What an earlier run found: a part that is measured again replaces its own figures only."""
    try:
        with open(RESULTS, encoding="utf-8") as file:
            found = json.load(file)
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(results: dict[str, dict[str, object]]) -> None:
    with open(RESULTS, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
