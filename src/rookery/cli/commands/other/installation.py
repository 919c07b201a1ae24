"""How Rookery came onto this machine, and what of it lies outside its home."""

import json
import os
import sys
from importlib import metadata
from typing import NamedTuple

import rookery

NAME = "rookery"

SHELL_FILES = (
    "~/.bashrc",
    "~/.bash_profile",
    "~/.profile",
    "~/.zshrc",
    "~/.config/fish/config.fish",
)
SCRIPTS = (
    "~/.config/fish/completions/rookery.fish",
    "~/.local/share/bash-completion/completions/rookery",
    "~/.zfunc/_rookery",
)


class Package(NamedTuple):
    place: str
    how: str
    command: str
    """Removes it; "": it was never installed."""


def package() -> Package:
    place = os.path.dirname(os.path.abspath(rookery.__file__))
    try:
        found = metadata.distribution(NAME)
    except metadata.PackageNotFoundError:
        return Package(place, "run from its source", "")
    prefix = sys.prefix.replace(os.sep, "/")
    if f"/pipx/venvs/{NAME}" in prefix:
        return Package(place, "by pipx", f"pipx uninstall {NAME}")
    if f"/uv/tools/{NAME}" in prefix:
        return Package(place, "by uv, as a tool", f"uv tool uninstall {NAME}")
    by_uv = (found.read_text("INSTALLER") or "").strip() == "uv"
    installer = f"uv pip uninstall --python {sys.executable}" if by_uv else ""
    command = f"{installer or f'{sys.executable} -m pip uninstall'} {NAME}"
    how = "by uv" if by_uv else "by pip"
    return Package(place, how + (", from a checkout" if _is_editable(found) else ""), command)


def _is_editable(found: metadata.Distribution) -> bool:
    try:
        told = json.loads(found.read_text("direct_url.json") or "{}")
    except ValueError:
        return False
    return bool(told.get("dir_info", {}).get("editable"))


def completions() -> list[str]:
    """Where shells were told to complete for us: files, and lines of files."""
    found = [path for path in map(os.path.expanduser, SCRIPTS) if os.path.lexists(path)]
    for path in map(os.path.expanduser, SHELL_FILES):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = file.readlines()
        except OSError:
            continue
        said = [n for n, line in enumerate(lines, 1) if "rookery completions" in line]
        found += [f"{path}, line {number}" for number in said]
    return found
