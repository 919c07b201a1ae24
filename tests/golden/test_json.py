"""What `--json` prints, by its keys and types: scripts depend on them. A line `$ …` in a file is
called with `--json`, and what follows it is the exit code and the shape of what it prints."""

import json
import shlex
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.driving import rookery
from tests.golden.files import FOLDER, Golden, answered
from tests.golden.test_lines import begin_deeds

FILES = sorted((FOLDER / "json").iterdir())
KINDS = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
CLOSED = {
    *("update", "header", "blocks", "toolCall"),
    *("worker", "worktree", "unattended", "critic", "limits", "usage", "cost"),
}
"""Not looked into: events and blocks are of many kinds; the others differ from run to run."""


def shape(found: list[Any]) -> Iterator[str]:
    """A line per key, with the types that it has; a `?` where not every object has it."""
    types, objects = defaultdict[str, set[str]](set), defaultdict[str, int](int)
    present = defaultdict[str, int](int)
    for each in found:
        look("", each, types, objects, present)
    for path in sorted(types):
        above = path.rpartition(".")[0]
        rare = "?" if path and not path.endswith("[]") and present[path] < objects[above] else ""
        yield f"{path}{rare} {' | '.join(sorted(types[path]))}".strip()


def look(path: str, value: Any, types: dict[str, set[str]], objects: Any, present: Any) -> None:
    types[path].add(KINDS.get(type(value), "number"))
    present[path] += 1
    if path.rpartition(".")[2] in CLOSED:
        return
    if isinstance(value, dict):
        objects[path] += 1
        for key, each in value.items():
            look(f"{path}.{key}", each, types, objects, present)
    elif isinstance(value, list):
        for each in value:
            look(f"{path}[]", each, types, objects, present)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_json_has_the_keys_and_types_it_had(home: Path, path: Path, golden: Golden) -> None:
    def call(words: str) -> str:
        line = shlex.split(words)
        done = rookery(*line, *([] if "--json" in line else ["--json"]))
        found = [json.loads(line) for line in done.out.splitlines()]
        return "\n".join([str(done.code), *(f"  {line}" for line in shape(found))])

    rookery("new", "--agent", "demo", "--title", "New")
    begin_deeds()
    golden.hold({f"json/{path.name}": answered(path.read_text(encoding="utf-8"), call)})
