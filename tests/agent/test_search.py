"""Searches run unasked, so they end, stay where they were judged, and find what they say."""

import os
import threading
from pathlib import Path

import pytest

from rookery.agent import search
from rookery.agent.search import Run, SearchError

HOME = dict(os.environ)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With everything that a search must not wait for, follow or fail at."""
    place = tmp_path_factory.mktemp("searched")
    files = ("src/deep/a.ts", "src/b.tsx", ".env", ".git/c", "node_modules/p/i.js", "-x.py")
    for name in files:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(f"call foo1() of {name}\n")
    os.mkfifo(place / "src" / "pipe")
    for link, target in (("loop", ".."), ("self", "."), ("out", "/etc"), ("lost", "/nowhere")):
        (place / "src" / link).symlink_to(target)
    return place


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.ts", {"src/deep/a.ts"}),
        ("**/*.{ts,tsx}", {"src/deep/a.ts", "src/b.tsx"}),
        ("src/*.[jt]sx", {"src/b.tsx"}),
        ("*.js", set()),
        ("node_modules/**/*.js", {"node_modules/p/i.js"}),
        (".env", {".env"}),
        ("src/out/host*", set()),
        ("**/host*", set()),
        ("-*.py", {"-x.py"}),
    ],
)
def test_files_are_found_by_name(place: Path, pattern: str, found: set[str]) -> None:
    paths = search.by_name(Run(), pattern, str(place)).paths
    assert {os.path.relpath(path, place) for path in paths} == found


@pytest.mark.parametrize(
    ("pattern", "include", "found"),
    [
        (r"foo\d\(\) of (src|lib)", "", {"src/deep/a.ts", "src/b.tsx"}),
        ("FOO1", "*.{ts,js}", {"src/deep/a.ts"}),
        ("foo1", "src/**/*.ts", {"src/deep/a.ts"}),
        ("foo1", ".env*", {".env"}),
        ("--help", "", set()),
        ("root:", "", set()),
    ],
)
def test_files_are_found_by_content(
    place: Path, pattern: str, include: str, found: set[str]
) -> None:
    paths = search.by_content(Run(), pattern, str(place), include, HOME).paths
    assert {os.path.relpath(path, place) for path in paths} == found


def test_invalid_search_patterns_are_refused(place: Path) -> None:
    with pytest.raises(SearchError, match="parenthes"):
        search.by_content(Run(), "(", str(place), "", HOME)
    for pattern in ("*/../x", "{a,b}" * 10):
        with pytest.raises(SearchError, match="pattern"):
            search.by_name(Run(), pattern, str(place))


def test_a_search_is_stopped_from_another_thread(place: Path) -> None:
    run = Run()
    lines = run.lines(["sh", "-c", "printf 'a\\0'; exec sleep 600"], str(place), HOME)
    assert next(lines) == "a"
    threading.Thread(target=run.stop).start()
    assert list(lines) == []
    assert run.cut
    assert search.by_name(run, "*", str(place)) == ([], True)
