"""Releases beyond the bounds in pyproject.toml, as a table: `make pins` ends with it.

uv names the newest release of each requirement, once with its bounds and once without. Without an
index that is said, and nothing fails: the pins are made by then.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
_NAME = re.compile(r"[\w.-]+")
_PINNED = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)


class Unreachable(Exception):
    """uv could not resolve; the message is its own."""


class Beyond(NamedTuple):
    requirement: str
    allowed: str
    newest: str


def requirements(pyproject: Path) -> list[str]:
    """Each that the project names, in its base or an extra, once."""
    project = tomllib.loads(pyproject.read_text())["project"]
    extras = project["optional-dependencies"].values()
    return sorted({*project["dependencies"], *(each for extra in extras for each in extra)})


def beyond(wanted: list[str], *options: str) -> list[Beyond]:
    """Those of which there is a newer release than the bounds allow. Raises Unreachable."""
    names = {line: match[0] for line in wanted if (match := _NAME.match(line))}
    allowed, newest = _newest(list(names), options), _newest(list(names.values()), options)
    found = (Beyond(line, allowed[name], newest[name]) for line, name in names.items())
    return [each for each in found if each.allowed != each.newest]


def _newest(wanted: list[str], options: tuple[str, ...]) -> dict[str, str]:
    """The newest release of each, whatever they need themselves."""
    command = [
        str(ROOT / "scripts" / "uv"),
        "pip",
        "compile",
        "--quiet",
        "--no-header",
        "--no-deps",
    ]
    command += ["--no-annotate", "--python-version", "3.12", *options, "-"]
    run = subprocess.run(
        command, input="\n".join(wanted), capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise Unreachable(run.stderr.strip())
    return dict(_PINNED.findall(run.stdout))


def main(options: list[str]) -> int:
    try:
        found = beyond(requirements(ROOT / "pyproject.toml"), *options)
    except Unreachable as error:
        last = str(error).splitlines()[-1:]
        sys.stdout.write(f"Releases beyond the bounds: unknown, no index. {' '.join(last)}\n")
        return 0
    if not found:
        sys.stdout.write("Releases beyond the bounds: none.\n")
        return 0
    rows = [("bounds in pyproject.toml", "newest allowed", "newest"), *found]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
