"""Where a conversation runs, as stored in a session's record. Does not import the SDK: every start
reads it."""

import os
import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rookery.core.json import Json, lenient

CLOUD_DIRECTORY = "/workspace/project"
"""Where a sandbox has its files."""


OVER_THERE = "agent-server"
"""Before a path that would be another's here."""


class Place(NamedTuple):
    url: str
    """The agent server's address, or the cloud's."""
    cloud: bool = False
    directory: str = ""
    """The working directory over there; "": the session's."""
    sandbox: str = ""
    """The cloud's name for the machine that runs it."""
    conversation: str = ""
    """The server's id of it; "": the session's."""
    began: float = 0.0
    """When the server was started at the latest, as it was last seen; 0: it never was."""

    def plain(self) -> Json:
        return {key: value for key, value in self._asdict().items() if value}

    def name(self) -> str:
        """Return the place's name as shown to the user."""
        return f"OpenHands Cloud ({self.url})" if self.cloud else f"The agent server at {self.url}"

    def where(self, cwd: str) -> str:
        return self.directory or (CLOUD_DIRECTORY if self.cloud else cwd)


def place_in(kept: Mapping[str, Any]) -> Place | None:
    """Return the place in a record; None: here, or in a container of an earlier version."""
    if not lenient.text(kept, "url"):
        return None
    names = ("directory", "sandbox", "conversation")
    directory, sandbox, conversation = (lenient.text(kept, name) for name in names)
    cloud = lenient.flag(kept, "cloud")
    began = float(lenient.number(kept, "began") or 0)
    return Place(lenient.text(kept, "url"), cloud, directory, sandbox, conversation, began)


def as_here(path: str, there: str, here: Sequence[str]) -> str:
    """Translate a path over there for the rules and directories of this machine: the working
    directory over there is the session's, the first of `here`. Any other path must not pass for one
    in the session's directories, not even if a link of this machine leads there."""
    if not path.startswith("/"):
        return path
    plain = posixpath.normpath(path)
    if _is_in(plain, there):
        return posixpath.normpath(f"{here[0]}/{plain[len(there.rstrip('/')) :]}")
    inside = any(_is_in(each, root) for each in (plain, os.path.realpath(plain)) for root in here)
    return f"/{OVER_THERE}{plain}" if inside else plain


def _is_in(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def plain_url(url: str) -> str:
    return url.rstrip("/")
