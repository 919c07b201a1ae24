"""Bytecode, before anything is measured: an environment may forbid Python to keep it, and a start
that compiles its sources is five times as long as the one that people have."""

import compileall
import importlib.util
import os
from collections.abc import Iterator

import rookery

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.dirname(os.path.abspath(rookery.__file__))


class NotCompiled(Exception):
    """What would be measured is the compiler."""


def compile_all() -> None:
    """Compile what is out of date, and check. Raises NotCompiled."""
    for folder in (PACKAGE, HERE):
        compileall.compile_dir(folder, quiet=2)
        stale = [source for source in _sources(folder) if not _fresh(source)]
        if stale:
            raise NotCompiled(f"no bytecode for {len(stale)} files, such as {stale[0]}")


def _sources(folder: str) -> Iterator[str]:
    for directory, _, names in os.walk(folder):
        yield from (os.path.join(directory, name) for name in names if name.endswith(".py"))


def _fresh(source: str) -> bool:
    """Whether the import system would take the bytecode: its head has the source's time and
    size."""
    try:
        with open(importlib.util.cache_from_source(source), "rb") as file:
            head = file.read(16)
    except FileNotFoundError:
        return False
    found = os.stat(source)
    flags, time, size = (int.from_bytes(head[at : at + 4], "little") for at in (4, 8, 12))
    return (
        head[:4] == importlib.util.MAGIC_NUMBER
        and flags == 0
        and time == int(found.st_mtime) & 0xFFFFFFFF
        and size == found.st_size & 0xFFFFFFFF
    )
