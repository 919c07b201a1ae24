"""What a benchmark says: figures with their aims, one line each, the same from all of them."""

import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bench.bytecode import compile_all


class Aim(NamedTuple):
    """A figure's name and unit, and where it should lie; neither bound: it only informs."""

    name: str
    unit: str
    below: float | None = None
    least: float | None = None

    def __str__(self) -> str:
        if self.below is not None:
            return f"<{self.below:g}"
        return f">={self.least:g}" if self.least is not None else "-"

    def met(self, value: float) -> bool:
        return (self.below is None or value < self.below) and (
            self.least is None or value >= self.least
        )


class Figure(NamedTuple):
    aim: Aim
    value: float | None
    """None: the benchmark broke."""

    @property
    def ok(self) -> bool:
        return self.value is not None and self.aim.met(self.value)

    def line(self) -> str:
        value = "null" if self.value is None else f"{self.value:g}"
        return f"{self.aim.name} {value} {self.aim.unit} {self.aim} {'ok' if self.ok else 'short'}"

    def json(self) -> dict[str, object]:
        return {
            "value": self.value,
            "unit": self.aim.unit,
            "aim": str(self.aim),
            "ok": self.ok,
        }


class Benchmark(NamedTuple):
    aims: tuple[Aim, ...]
    measure: Callable[[], Mapping[str, float]]
    """The value of each aim, by its name."""


def run(benchmark: Benchmark) -> Iterator[Figure]:
    """Measure; each figure's line goes to stdout. Whatever breaks is told on stderr."""
    values: Mapping[str, float] = {}
    try:
        values = benchmark.measure()
    except Exception:  # noqa: BLE001 - a broken benchmark must not take the others with it
        traceback.print_exc()
    for aim in benchmark.aims:
        value = values.get(aim.name)
        figure = Figure(aim, None if value is None else float(f"{value:.4g}"))
        print(figure.line(), flush=True)
        yield figure


def run_alone(benchmark: Benchmark) -> int:
    """What each file here does when it is run; the exit code is 1 when it broke."""
    prepare()
    return int(any(figure.value is None for figure in run(benchmark)))


def prepare() -> None:
    """Compiled bytecode, and an end that cleans up also when a terminal or a runner ends us."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    compile_all()


class Spread(NamedTuple):
    """Of many times, in milliseconds: the one in the middle, the 99th of 100, the longest."""

    middle: float
    p99: float
    most: float


def spread(seconds: Sequence[float]) -> Spread:
    ordered = sorted(seconds)
    places = (len(ordered) // 2, int(len(ordered) * 0.99), -1)
    return Spread(*(ordered[place] * 1e3 for place in places))


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
