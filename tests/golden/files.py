"""Golden files: what people and programs read of Rookery, word by word. Whoever changes it on
purpose takes them again, as CONTRIBUTING.md says, and the difference is reviewed."""

from collections.abc import Callable, Mapping
from difflib import unified_diff
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "fixtures" / "golden"
WHICH = "tests/golden tests/page/test_menus.py"
AGAIN = f'If this is meant: make test ARGS="{WHICH} -n 0 --snapshot-update"'


class Golden:
    def __init__(self, *, retake: bool) -> None:
        self._retake = retake

    def hold(self, found: Mapping[str, str], folder: str = "") -> None:
        """What was found, by the name of its file. `folder`: it has no other files."""
        there = (FOLDER / folder).iterdir() if folder else ()
        texts = {f"{folder}/{path.name}": "" for path in there} | dict(found)
        if self._retake:
            for name, text in texts.items():
                _write(FOLDER / name, text)
        wrong = "\n".join(filter(None, (_difference(*each) for each in texts.items())))
        if wrong:
            pytest.fail(f"{wrong}\n{AGAIN}", pytrace=False)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if not text:
        path.unlink()


def _difference(name: str, text: str) -> str:
    path = FOLDER / name
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = before.splitlines(), text.splitlines()
    return "\n".join(unified_diff(*lines, f"fixtures/golden/{name}", "now", lineterm=""))


def answered(text: str, call: Callable[[str], str]) -> str:
    """A file of lines `$ …`, each followed by what `call` answers now; those with # are kept."""
    kept = [line for line in text.splitlines() if not line or line[0] in "$#"]
    found = [f"{line}\n{call(line[2:])}".rstrip() if line[:1] == "$" else line for line in kept]
    return "".join(f"{line}\n" for line in found)
