"""Rewrites the asserts of every test module once, before a run: else each process of the run does
that for itself, since the environment may forbid Python to keep bytecode."""

import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

# pytest offers no way of its own to do this ahead; `make pins` may have to follow it here.
from _pytest.assertion import rewrite

TESTS = Path(__file__).parent


def keep(module: Path) -> None:
    """Where pytest looks for it. (It is known by the hash of its source, not by its time.)"""
    folder = rewrite.get_cache_dir(module)
    kept = folder / (module.stem + rewrite.PYC_TAIL)
    if rewrite._read_pyc(module, kept) is not None:
        return
    source_hash, code = rewrite._rewrite_test(module, None)
    folder.mkdir(exist_ok=True)
    with open(mine := f"{kept}.{os.getpid()}", "wb") as file:
        rewrite._write_pyc_fp(file, source_hash, code)
    os.replace(mine, kept)


def main() -> None:
    modules = sorted([*TESTS.rglob("test_*.py"), *TESTS.rglob("conftest.py")])
    with ProcessPoolExecutor() as pool:
        for _ in pool.map(keep, modules, chunksize=8):
            pass


if __name__ == "__main__":
    main()
