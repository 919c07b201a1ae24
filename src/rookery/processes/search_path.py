"""Keeps the working directory out of the search paths: nothing there is run or imported by its name
alone, since it may be anybody's."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress

from rookery.core.search_path import SEPARATOR, absolute, for_programs

MODULES = "PYTHONPATH"
KEPT = "ROOKERY_PYTHONPATH"
"""The variable with the PYTHONPATH from before a process of ours was started: its children get it
back."""


def leave_directory() -> None:
    """Take the working directory out of the search paths of this process and all that it starts.
    Modules already loaded stay."""
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
    """Return the environment for a Python of ours that starts in a directory of the user's."""
    variables, given = dict(environment), environment.get(MODULES)
    if given is None or absolute(given) == given:
        return variables
    return variables | {MODULES: absolute(given), KEPT: given}
