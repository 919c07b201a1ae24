"""Checks the requirements of an extra of ours: which are missing or outside their bounds here."""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, version

from rookery.installation.distribution import running

_REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(?P<bounds>[^;]*);.*\bextra\s*==\s*['\"](?P<extra>[\w-]+)['\"]"
)
_BOUND = re.compile(r"(>=|<)\s*([\d.]+)")


def misfits(extra: str) -> list[str]:
    """Return a sentence for each unmet requirement, according to this installation's metadata."""
    problems = []
    for name, bounds in _required(extra):
        try:
            installed = version(name)
        except PackageNotFoundError:
            problems.append(f"{name} is missing")
            continue
        if not all(_holds(installed, *bound) for bound in _BOUND.findall(bounds)):
            wanted = ",".join(sorted((bound.strip() for bound in bounds.split(",")), reverse=True))
            problems.append(f"{name} {installed} does not fit, it must be {wanted}")
    return problems


def _required(extra: str) -> Iterator[tuple[str, str]]:
    own = running().name
    for each in list(Distribution.discover(name=own, path=sys.path))[:1] if own else ():
        for line in each.metadata.get_all("Requires-Dist") or []:
            match = _REQUIREMENT.match(line)
            if match and match["extra"] == extra:
                yield match["name"], match["bounds"]


def _holds(installed: str, sign: str, bound: str) -> bool:
    number, limit = _release(installed), _release(bound)
    return number >= limit if sign == ">=" else number < limit


def _release(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with, without trailing zeros: 1.58.0 is 1.58."""
    match = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in match[0].split(".")] if match else [0]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
