"""Which distribution owns the running code, who installed it, and from what.

Rookery's distribution was first called `rookery`. On PyPI that name belongs to another project, so
ours is now `rookery-acp`. Both may be installed: the author in the metadata tells ours from the
other."""

import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from glob import escape as glob_escape
from glob import glob
from importlib.metadata import Distribution
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

import rookery

NAME = "rookery-acp"
OLD_NAME = "rookery"
AUTHOR = "The Rookery authors"
EXTRAS = ("agent", "tui", "web", "push")
"""The extras that users install; `dev` is for a checkout."""

type Installer = Literal["uv tool", "pipx", "pip", "uv pip", ""]
type Kind = Literal["checkout", "editable", "file", "url", "git", "index"]

_WITH_EXTRA = re.compile(r"([\w.-]+).*;.*\bextra\s*==\s*['\"]([\w-]+)['\"]")
_BRACKETS = re.compile(r"\[([\w,\s-]+)\](?:$|\s*@)")


class Source(NamedTuple):
    """The place that a distribution was installed from."""

    kind: Kind
    place: str = ""
    """A path or an address; of the index, nothing."""

    @property
    def is_local(self) -> bool:
        return self.kind in ("checkout", "editable", "file")

    @property
    def is_gone(self) -> bool:
        """Whether it was a file or a folder that no longer exists."""
        return self.is_local and not os.path.exists(self.place)


class Installation(NamedTuple):
    name: str
    """Of the distribution; "": the code is run from its source."""
    version: str
    installer: Installer
    python: str
    """The interpreter of its environment."""
    prefix: str
    """The folder of its environment."""
    source: Source
    extras: tuple[str, ...]
    foreign: bool = False
    """Whether it is the other project called `rookery`."""

    @property
    def is_old(self) -> bool:
        return self.name == OLD_NAME and not self.foreign


def running() -> Installation:
    """Return the installation that this process runs from."""
    place = os.path.dirname(os.path.realpath(rookery.__file__))
    for each in _distributions(sys.path):
        if _is_ours(each) and place in _package_folders(each):
            return _read(each, sys.executable, sys.prefix, sys.path)
    root = os.path.dirname(os.path.dirname(place))
    source = Source("checkout", root if _is_checkout(root) else "")
    version = rookery.__version__
    return Installation("", version, "", sys.executable, sys.prefix, source, _extras_of_modules())


def installed_in(python: str, prefix: str, path: Sequence[str]) -> list[Installation]:
    """Return each distribution of either name in an environment, ours first."""
    installations = [_read(each, python, prefix, path) for each in _distributions(path)]
    return sorted(installations, key=lambda each: (each.foreign, each.is_old))


def former(installation: Installation) -> Installation | None:
    """Return our distribution under its old name beside this one: in the same environment, or as a
    tool of the same installer. Removing it deletes files of this one, or its command."""
    if not installation.name or installation.is_old:
        return None
    here = installed_in(installation.python, installation.prefix, sys.path)
    if installation.installer in ("uv tool", "pipx"):
        prefix = os.path.join(os.path.dirname(installation.prefix), OLD_NAME)
        path = glob(os.path.join(glob_escape(prefix), "lib", "python*", "site-packages"))
        here += installed_in(os.path.join(prefix, "bin", "python"), prefix, path)
    return next((each for each in here if each.is_old), None)


def here() -> list[Installation]:
    """Return each distribution of either name that this process can see, ours first."""
    return installed_in(sys.executable, sys.prefix, sys.path)


def _distributions(path: Sequence[str]) -> Iterator["Distribution"]:
    for name in (NAME, OLD_NAME):
        # The first on the path is the one that is imported.
        yield from list(Distribution.discover(name=name, path=list(path)))[:1]


def _name(dist: "Distribution") -> str:
    return (dist.metadata["Name"] or "").lower().replace("_", "-")


def _is_ours(dist: "Distribution") -> bool:
    return dist.metadata["Author"] == AUTHOR


def _package_folders(dist: "Distribution") -> set[str]:
    """The places where its package may be: beside its metadata, or in the checkout."""
    source = _source(dist)
    places = [str(dist.locate_file("rookery"))]
    if source.kind == "editable":
        places.append(os.path.join(source.place, "src", "rookery"))
    return {os.path.realpath(place) for place in places}


def _is_checkout(root: str) -> bool:
    return os.path.exists(os.path.join(root, "pyproject.toml"))


def _read(dist: "Distribution", python: str, prefix: str, path: Sequence[str]) -> Installation:
    return Installation(
        name=_name(dist),
        version=dist.version,
        installer=_installer(dist, prefix),
        python=python,
        prefix=prefix,
        source=_source(dist),
        extras=_extras(dist, prefix, path),
        foreign=not _is_ours(dist),
    )


def _installer(dist: "Distribution", prefix: str) -> Installer:
    if os.path.exists(os.path.join(prefix, "uv-receipt.toml")):
        return "uv tool"
    if os.path.exists(os.path.join(prefix, "pipx_metadata.json")):
        return "pipx"
    return "uv pip" if (dist.read_text("INSTALLER") or "").strip() == "uv" else "pip"


def _source(dist: "Distribution") -> Source:
    """The source according to `direct_url.json` (PEP 610); without that it came from an index."""
    try:
        direct = json.loads(dist.read_text("direct_url.json") or "{}")
    except ValueError:
        direct = {}
    url = _text(direct, "url")
    if not url:
        return Source("index")
    if repository := _mapping(direct, "vcs_info"):
        revision = _text(repository, "requested_revision")
        folder = _text(direct, "subdirectory")
        tail = (f"@{revision}" if revision else "") + (f"#subdirectory={folder}" if folder else "")
        return Source("git", f"{_text(repository, 'vcs') or 'git'}+{url}{tail}")
    if not url.startswith("file:"):
        return Source("url", url)
    path = unquote(urlsplit(url).path)
    if "dir_info" not in direct:
        return Source("file", path)
    return Source("editable" if _mapping(direct, "dir_info").get("editable") else "checkout", path)


# ---------------------------------------------------------------- extras


def _extras(dist: "Distribution", prefix: str, path: Sequence[str]) -> tuple[str, ...]:
    """The extras that were requested, if the installer keeps a record, and those whose requirements
    are all installed."""
    needed: dict[str, list[str]] = {}
    for line in dist.metadata.get_all("Requires-Dist") or []:
        if match := _WITH_EXTRA.match(line):
            needed.setdefault(match[2], []).append(match[1])
    recorded = _recorded(prefix)
    return tuple(
        extra
        for extra in EXTRAS
        if extra in recorded
        or (needed.get(extra) and all(_is_installed(name, path) for name in needed[extra]))
    )


def _is_installed(name: str, path: Sequence[str]) -> bool:
    return next(iter(Distribution.discover(name=name, path=list(path))), None) is not None


def _recorded(prefix: str) -> set[str]:
    """The extras in the record that uv or pipx keeps of a tool."""
    try:
        with open(os.path.join(prefix, "uv-receipt.toml"), "rb") as file:
            requirements = _mapping(tomllib.load(file), "tool").get("requirements") or []
        return {
            extra
            for each in requirements
            if isinstance(each, dict) and each.get("name") in (NAME, OLD_NAME)
            for extra in each.get("extras") or []
        }
    except (OSError, ValueError, AttributeError, TypeError):
        pass
    try:
        with open(os.path.join(prefix, "pipx_metadata.json"), encoding="utf-8") as file:
            asked = _text(_mapping(json.load(file), "main_package"), "package_or_url")
    except (OSError, ValueError):
        return set()
    match = _BRACKETS.search(asked)
    return {word.strip() for word in match[1].split(",")} if match else set()


def _extras_of_modules() -> tuple[str, ...]:
    """For code that no distribution owns: the extras whose main module is available."""
    modules = {"agent": "openhands", "tui": "textual", "web": "fastapi", "push": "cryptography"}
    return tuple(extra for extra in EXTRAS if find_spec(modules[extra]) is not None)


# ---------------------------------------------------------------- foreign JSON


def _mapping(given: object, key: str) -> Mapping[str, Any]:
    field = given.get(key) if isinstance(given, dict) else None
    return field if isinstance(field, dict) else {}


def _text(given: object, key: str) -> str:
    field = given.get(key) if isinstance(given, dict) else None
    return field if isinstance(field, str) else ""
