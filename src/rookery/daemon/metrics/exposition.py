"""Metrics in Prometheus' text format, version 0.0.4."""

import os
import resource
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from rookery.build import build
from rookery.core.json import Json, lenient
from rookery.core.view.fleet import STATUSES, is_hidden, state_of
from rookery.daemon.metrics.measures import BOUNDS, COUNTERS, HISTOGRAMS, Counter, Histogram
from rookery.processes import tree
from rookery.processes.lineage import LINUX

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"


def family(
    name: str, kind: str, description: str, samples: Mapping[str, float], label: str = ""
) -> Iterator[str]:
    """Yield the samples of one metric, one for each value of a label."""
    yield f"# HELP {name} {description}"
    yield f"# TYPE {name} {kind}"
    for value, number in samples.items():
        labels = f'{{{label}="{_escaped(value)}"}}' if label else ""
        yield f"{name}{labels} {number!r}"


def gauge(name: str, description: str, number: float) -> Iterator[str]:
    return family(name, GAUGE, description, {"": number})


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _counter(counter: Counter) -> Iterator[str]:
    values = dict(counter.values)  # another thread may count
    return family(counter.name, COUNTER, counter.description, values, counter.label)


def _histogram(histogram: Histogram) -> Iterator[str]:
    name, counts = histogram.name, histogram.cumulative()
    yield f"# HELP {name} {histogram.description}"
    yield f"# TYPE {name} {HISTOGRAM}"
    for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
        yield f'{name}_bucket{{le="{bound}"}} {count}'
    yield f"{name}_sum {histogram.sum!r}"
    yield f"{name}_count {counts[-1]}"


def measured() -> Iterator[str]:
    for counter in COUNTERS:
        yield from _counter(counter)
    for histogram in HISTOGRAMS:
        yield from _histogram(histogram)


def sessions(heads: Iterable[Json]) -> Iterator[str]:
    """Yield metrics of the sessions, from the heads in memory: no session's file is read."""
    now = time.time() * 1000
    states, hidden, awake, queued = dict.fromkeys(STATUSES, 0), 0, 0, 0
    asks, asked = 0, now
    for head in heads:
        awake += bool(head["awake"])
        if is_hidden(head, now):
            hidden += 1
            continue
        states[state_of(head, awake=head["awake"])] += 1
        queued += head["queue"]
        if head["asks"]:
            asks += head["asks"]
            asked = min(asked, lenient.integer(head, "asked") or head["at"])
    yield from family("rookery_sessions", GAUGE, "Sessions, by state.", states, "state")
    yield from gauge("rookery_sessions_hidden", "Sessions archived or snoozed.", hidden)
    yield from gauge("rookery_sessions_awake", "Sessions whose worker runs.", awake)
    yield from gauge("rookery_prompts_queued", "Prompts that wait for their turn.", queued)
    yield from gauge("rookery_asks_open", "Asks that wait for an answer.", asks)
    age = max(0.0, now - asked) / 1000
    yield from gauge("rookery_asks_oldest_age_seconds", "Since the oldest open ask.", age)


def process(began: int) -> Iterator[str]:
    """Yield metrics of the daemon's own process, under the names that Prometheus' clients use;
    `began` is in milliseconds since the epoch."""
    yield from family("rookery_build_info", GAUGE, "The daemon's build.", {build(): 1}, "build")
    yield from gauge("process_start_time_seconds", "When the daemon began.", began / 1000)
    used = os.times()
    cpu = {"": used.user + used.system}
    yield from family("process_cpu_seconds_total", COUNTER, "Processor time used.", cpu)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    with suppress(OSError):
        virtual, resident = _memory(os.getpid())
        yield from gauge("process_virtual_memory_bytes", "Virtual memory.", virtual)
        yield from gauge("process_resident_memory_bytes", "Resident memory.", resident)
        files = len(os.listdir("/proc/self/fd"))
        yield from gauge("process_open_fds", "Open files.", files)
        yield from gauge("process_max_fds", "Files that may be open.", limit)


def sessions_memory(heads: Iterable[Json]) -> Iterator[str]:
    """Yield the memory use of all workers and the processes below them. Blocks for some
    milliseconds to look those up."""
    if not LINUX:
        return
    total = 0
    for head in heads:
        pid = lenient.integer(head["worker"], "pid") if head["awake"] else None
        for each in (pid, *(row.pid for row in tree.descendants(pid))) if pid else ():
            with suppress(OSError):
                total += _memory(each)[1]
    yield from gauge(
        "rookery_sessions_resident_memory_bytes",
        "Resident memory of workers, agents and their commands; shared pages count for each.",
        total,
    )


def _memory(pid: int) -> tuple[int, int]:
    """Return virtual and resident size in bytes. Raises OSError."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        virtual, resident, *_ = file.read().split()
    size = resource.getpagesize()
    return int(virtual) * size, int(resident) * size
