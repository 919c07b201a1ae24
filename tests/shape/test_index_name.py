"""On PyPI, `rookery` is another project's: no line of ours may install that."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

INSTALLS = re.compile(
    r"(?:\b(?:pip3?|pipx|uvx)\b|\buv (?:tool|pip|add|run)\b)"  # a program that installs
    r"[^\n#|;&]*?[\s'\"=]rookery(?=$|[\s'\"`\[=<>~!,;.)])"  # its argument, with whatever bound
)
PLACES = ("*.md", "docs", "src", "scripts", "tools", "bench", "Makefile", "requirements")
REMOVES = re.compile(r"\buninstall\b")


def installs_it(line: str) -> bool:
    return bool(INSTALLS.search(line)) and not REMOVES.search(line)


@pytest.mark.parametrize(
    "line",
    [
        "pip install 'rookery[web]'",
        "python -m pip install --upgrade rookery",
        "uv tool install rookery",
        "uvx --from rookery rookery",
        "`pipx install rookery`",
        'uv pip install "rookery>=1"',
        "pip install rookery==99",
    ],
)
def test_a_line_that_installs_it_is_seen(line: str) -> None:
    assert installs_it(line)


@pytest.mark.parametrize(
    "line",
    [
        "pip install 'rookery-acp[web]'",
        "uv tool install '.[agent]'  # then: rookery",
        "pip uninstall rookery",
        "uv tool install ./rookery-0.1.0-py3-none-any.whl",
        "pipx install '/home/me/rookery[agent]'",
    ],
)
def test_other_lines_are_not(line: str) -> None:
    assert not installs_it(line)


def test_no_line_installs_the_other_project() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *PLACES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = []
    for name in filter(None, listed.stdout.split("\0")):
        try:
            lines = (ROOT / name).read_text("utf-8").splitlines()
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        found += [f"{name}:{n}" for n, line in enumerate(lines, 1) if installs_it(line)]
    assert not found, f"these install a stranger's project: {', '.join(found)}"
