"""The tables `[worktrees.PATH]` of config.toml: what a repository's worktrees need. PATH is the
repository's directory; `"*"` stands for every repository that has no table of its own."""

import posixpath
from collections.abc import Mapping
from typing import NamedTuple

from rookery.core.json import Json, lenient
from rookery.core.policy.rule_tables import Fault

KEYS = ("setup", "copy")
EVERY = "*"


class Preparation(NamedTuple):
    setup: str = ""
    """A shell command."""
    copy: tuple[str, ...] = ()
    """Files of the repository's directory that git does not have, as globs."""

    def plain(self) -> Json:
        """Return the table as JSON, for the record of what was confirmed."""
        return {"setup": self.setup, "copy": list(self.copy)}


def fault_of(path: str, table: Json) -> Fault | None:
    """Return what is wrong with a table, if anything."""
    if path != EVERY and not path.startswith(("/", "~/")):
        return Fault("", 'must be named by a whole path, such as [worktrees."~/code/shop"]')
    if not isinstance(table.get("setup", ""), str):
        return Fault("setup", 'must be a shell command, for example "npm ci"')
    copy = table.get("copy", [])
    if not isinstance(copy, list) or not all(_is_inside(each) for each in copy):
        return Fault("copy", 'must be a list of files below the directory, such as [".env"]')
    return None


def _is_inside(name: object) -> bool:
    if not isinstance(name, str) or not name or "\0" in name or name.startswith("/"):
        return False
    return ".." not in name.split("/") and ".git" not in name.lower().split("/")


def preparation_from(plain: object) -> Preparation:
    return Preparation(lenient.text(plain, "setup"), tuple(lenient.texts(plain, "copy")))


def preparation_of(tables: Mapping[str, Preparation], top: str) -> Preparation:
    """Return the preparation for a repository's directory; paths have no `~` here."""
    return tables.get(posixpath.normpath(top)) or tables.get(EVERY) or Preparation()
