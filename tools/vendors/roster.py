"""The vendors' agents that are driven: one module each under `fleet`, found by being there."""

import os
import pkgutil
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from tools.vendors import fleet
from tools.vendors.vendor import Environment, Vendor


def _found() -> list[Vendor]:
    names = sorted(module.name for module in pkgutil.iter_modules(fleet.__path__))
    return [import_module(f"{fleet.__name__}.{name}").VENDOR for name in names]


VENDORS = {vendor.name: vendor for vendor in _found()}

ALL = "all"


class UnknownVendor(Exception):
    """A name that is none of ours."""


def chosen(names: Sequence[str] = (), usual: Sequence[str] = ()) -> list[Vendor]:
    """Those named, else those that ROOKERY_VENDORS names ("all": all), else the usual ones, else
    all. Raises UnknownVendor."""
    wanted = names or os.environ.get("ROOKERY_VENDORS", "").replace(",", " ").split() or usual
    if ALL in wanted:
        wanted = ()
    unknown = [name for name in wanted if name not in VENDORS]
    if unknown:
        raise UnknownVendor(f"not known: {', '.join(unknown)}; there are {', '.join(VENDORS)}")
    return [VENDORS[name] for name in wanted or VENDORS]


def surroundings(vendor: Vendor, programs: Sequence[Path], home: Path, url: str) -> Environment:
    """An environment in which the agent starts as on a fresh machine and finds the model at `url`.

    Nothing of the caller's gets in: no key, no proxy, no settings.
    """
    places = [*map(str, programs), *os.environ.get("PATH", os.defpath).split(os.pathsep)]
    usual = {
        "HOME": str(home),
        "PATH": os.pathsep.join(places),
        "LANG": "C.UTF-8",
        "SHELL": "/bin/sh",
        "TERM": "dumb",
        "USER": "tester",
    }
    home.mkdir(parents=True, exist_ok=True)
    return usual | vendor.surroundings(home, url)
