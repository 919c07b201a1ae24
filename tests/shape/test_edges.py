"""Foreign JSON is picked apart at its edges alone: in the files that read it into a type. The list
has what has a type so far (docs/decisions/0112-foreign-json-at-named-edges.md)."""

import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "src" / "rookery"

EDGES = {"ask": {"core/ask.py"}}
"""By the name of a variable that holds one: the files that may look into its JSON."""


@pytest.mark.parametrize("name", EDGES)
def test_only_edges_pick_it_apart(name: str) -> None:
    read = rf"lenient\.\w+\((?:\w+\.)?{name}\b[,)]|\b{name}(?:\.raw)?(?:\.get\(|\[\")"
    stored = rf"\[\"{name}s\"\](?:\.get\(|\.values\(|\.items\(|\[)"
    files = {str(path.relative_to(SOURCES)): path for path in SOURCES.rglob("*.py")}
    picked = [
        f"{path}:{number}: {line.strip()}"
        for path, file in files.items()
        if path not in EDGES[name]
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(rf"{read}|{stored}", line)
    ]
    assert not picked, f"read it with the type instead: {'; '.join(picked)}"
    assert EDGES[name] <= files.keys()
