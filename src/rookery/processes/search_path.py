"""Nothing of the working directory is run or imported by its name alone: it may be anybody's."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress

from rookery.core.search_path import SEPARATOR, absolute, for_programs

MODULES = "PYTHONPATH"
KEPT = "ROOKERY_PYTHONPATH"
"""What PYTHONPATH said before a process of ours was started: its children get it back."""


def leave_directory() -> None:
    """For this process and all that it starts. What is loaded stays."""
    if (path := os.environ.get("PATH")) is not None:
        os.environ["PATH"] = for_programs(path)
    if (kept := os.environ.pop(KEPT, None)) is not None:
        os.environ[MODULES] = kept
    relative = [each for each in os.environ.get(MODULES, "").split(SEPARATOR) if each[:1] != "/"]
    if not sys.flags.safe_path:
        relative.append("")  # `python -m` puts it there
    here = {"", "."}
    with suppress(FileNotFoundError):  # a working directory that is gone has nothing to load
        here |= {os.path.abspath(each) for each in relative}
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path[:] = [each for each in sys.path if each not in here or each == package]


def for_python(environment: Mapping[str, str]) -> dict[str, str]:
    """For a Python of ours that starts in a directory of the user's."""
    found, given = dict(environment), environment.get(MODULES)
    if given is None or absolute(given) == given:
        return found
    return found | {MODULES: absolute(given), KEPT: given}
