"""A patch changes all of its files or none, and the model reads which of the two happened.

Made for openhands-tools 1.58, whose `apply_patch` writes file by file: an error at the third leaves
the first two changed, a full disk leaves one empty. It turns CRLF into LF, waits for ever for a
FIFO, deletes what a link points to, and loses files that are moved to each other's names.
Unnecessary once it changes nothing before everything is known to be possible, and puts back what it
changed when something fails all the same.
"""

import os
import stat
from typing import Any

from openhands.tools.apply_patch.core import DiffError, process_patch
from openhands.tools.apply_patch.definition import (
    ApplyPatchAction,
    ApplyPatchExecutor,
    ApplyPatchObservation,
)

from rookery.agent.sdk_patches import Around, wrap
from rookery.agent.sdk_patches.apply_patch.changes import Changes, NotPutBack

NOTHING = "No file was changed."
CRLF = "\r\n"


class Draft:
    """A patch read and carried out on paper."""

    def __init__(self, executor: ApplyPatchExecutor) -> None:
        self._resolve = executor._resolve_path
        self._crlf: set[str] = set()
        self._written: dict[str, bytes] = {}
        self._removed: dict[str, str] = {}
        """What is removed, and what it leads to, where it is a link."""

    def read(self, path: str) -> str:
        place = str(self._resolve(path))
        if not stat.S_ISREG(os.stat(place).st_mode):
            raise DiffError(f"{path} is not a file.")
        with open(place, encoding="utf-8", newline="") as file:
            text = file.read()
        if CRLF in text and text.count("\n") == text.count(CRLF):
            self._crlf.add(path)
            return text.replace(CRLF, "\n")
        return text

    def write(self, path: str, text: str) -> None:
        place = str(self._resolve(path))
        if place in self._written:
            raise DiffError(f"The patch writes {path} twice: give it one section.")
        self._written[place] = text.encode()

    def remove(self, path: str) -> None:
        place = str(self._resolve(path))
        folder, name = os.path.split(os.path.join(self._resolve("."), path))
        self._removed[os.path.join(os.path.realpath(folder), name)] = place

    def restore_lines(self, commit: Any) -> None:
        """Files whose lines ended with CRLF keep that."""
        for path, change in commit.changes.items():
            place = str(self._resolve(change.move_path or path))
            if path in self._crlf and place in self._written:
                self._written[place] = self._written[place].replace(b"\n", CRLF.encode())

    def carry_out(self) -> None:
        gone = [link for link, place in self._removed.items() if place not in self._written]
        Changes(self._written, gone).make()


def _apply(
    _theirs: Around,
    self: ApplyPatchExecutor,
    action: ApplyPatchAction,
    conversation: Any = None,  # noqa: ARG001 (as the SDK calls it)
) -> ApplyPatchObservation:
    draft = Draft(self)
    try:
        said, fuzz, commit = process_patch(action.patch, draft.read, draft.write, draft.remove)
        draft.restore_lines(commit)
        draft.carry_out()
    except NotPutBack as error:
        return _failed(str(error))
    except UnicodeError as error:
        return _failed(f"A file or the patch is not valid UTF-8 ({error}). {NOTHING}")
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _failed(f"{place}{error.strerror or error}. {NOTHING}")
    except (ValueError, IndexError) as error:  # IndexError: a patch that ends too soon
        return _failed(f"{error}\n{NOTHING}")
    return ApplyPatchObservation.from_text(said, message=said, fuzz=fuzz, commit=commit)


def _failed(words: str) -> ApplyPatchObservation:
    return ApplyPatchObservation.from_text(words, is_error=True)


def install() -> None:
    wrap(ApplyPatchExecutor, "__call__", _apply)
