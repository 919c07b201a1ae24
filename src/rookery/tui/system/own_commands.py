"""Rookery's own commands, run for a window: whatever needs more than the screen may load."""

import json
import os
import subprocess
import sys
from typing import NamedTuple

from rookery.core.json import lenient
from rookery.core.json.events import Json

WITHIN = 150.0
"""Seconds; a model's library may take half a minute to load."""


class Outcome(NamedTuple):
    ok: bool
    words: str
    """What is to be told."""
    rows: tuple[Json, ...] = ()


def run(home: str, *words: str) -> Outcome:
    """A command to its end. Blocks: for the engine room."""
    line = [sys.executable, "-P", "-m", "rookery", *words]
    environment = {**os.environ, "ROOKERY_HOME": home, "NO_COLOR": "1", "COLUMNS": "1000"}
    try:
        done = subprocess.run(
            line,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=WITHIN,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return Outcome(False, "It did not answer in time.")
    except OSError as error:
        return Outcome(False, f"rookery {words[0]} could not be run: {error.strerror}.")
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    rows = tuple(_rows(out))
    if rows and "ok" in rows[0]:
        told = rows[0]
        said = lenient.text(told, "words") or lenient.text(told, "error")
        return Outcome(told["ok"] is True, said, rows)
    return Outcome(done.returncode == 0, _sentence(out if done.returncode == 0 else err), rows)


def _rows(out: str) -> list[Json]:
    found = []
    for line in out.splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found


def _sentence(text: str) -> str:
    """The last thing that was said, without the word that begins it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("Error: ") if lines else ""
