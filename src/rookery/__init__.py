"""Rookery runs ACP agents in detached workers, keeps every turn and lets their owner steer."""

import sys

TYPE_CHECKING = False  # as in typing, which takes milliseconds to load
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

__version__ = "0.1.0"


def late_modules(package: str) -> "Callable[[str], ModuleType]":
    """Return the `__getattr__` of a package whose modules are imported when they are first used
    (docs/contributing/imports.md)."""

    def load(name: str) -> "ModuleType":
        module = f"{package}.{name}"
        try:
            __import__(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None
        return sys.modules[module]

    return load
