"""A patch changes all of its files or none, and the model is told which of the two happened.

Made for openhands-tools 1.58, whose `apply_patch` writes file by file: an error at the third leaves
the first two changed, a full disk leaves one empty. It turns CRLF into LF, refuses what is not
UTF-8, waits for ever for a FIFO, deletes what a link points to, and loses files that are moved to
each other's names, and the permissions of all that are moved. Over the Responses API it is declared
without its format. Unnecessary once it changes nothing before everything is known to be possible,
undoes its changes if something fails all the same, and declares what a patch looks like."""

import os
from typing import Any

from openhands.sdk.tool import ToolDefinition
from openhands.tools.apply_patch.core import ActionType, Commit, DiffError, process_patch
from openhands.tools.apply_patch.definition import (
    ApplyPatchAction,
    ApplyPatchExecutor,
    ApplyPatchObservation,
    ApplyPatchTool,
)

from rookery.agent.files import disk
from rookery.agent.files.changes import Changes, NotPutBack
from rookery.agent.files.text import Text, with_plain_ends
from rookery.agent.sdk_patches import Around, wrap

NOTHING = "No file was changed."
BEGIN = "*** Begin Patch\r\n"


class Draft:
    """A patch that was parsed and applied in memory."""

    def __init__(self, executor: ApplyPatchExecutor) -> None:
        self._resolve = executor._resolve_path
        self._texts: dict[str, Text] = {}
        self._written: dict[str, bytes] = {}
        self._moved: dict[str, str] = {}
        self._removed: dict[str, str] = {}
        """What is removed, and what it leads to, where it is a link."""

    def read(self, path: str) -> str:
        place = str(self._resolve(path))
        if os.path.exists(place) and not os.path.isfile(place):
            raise DiffError(f"{path} is not a file.")
        text = self._texts[path] = Text(disk.read(place))
        return text.text

    def plan(self, commit: Commit) -> None:
        for path, change in commit.changes.items():
            text = change.new_content or ""
            if change.type is ActionType.DELETE:
                self._remove(path)
            elif change.type is ActionType.ADD:
                there = self._resolve(path)
                self._write(path, Text(disk.read(there)) if there.is_file() else None, text)
            elif change.move_path:
                self._write(change.move_path, self._texts[path], text)
                self._moved[str(self._resolve(change.move_path))] = str(self._resolve(path))
                self._remove(path)
            else:
                self._write(path, self._texts[path], text)

    def _write(self, path: str, before: Text | None, text: str) -> None:
        place = str(self._resolve(path))
        if place in self._written:
            raise DiffError(f"The patch writes {path} twice: give it one section.")
        self._written[place] = before.encode(text) if before else text.encode()

    def _remove(self, path: str) -> None:
        place = str(self._resolve(path))
        folder, name = os.path.split(os.path.join(self._resolve("."), path))
        self._removed[os.path.join(os.path.realpath(folder), name)] = place

    def carry_out(self) -> None:
        gone = [link for link, place in self._removed.items() if place not in self._written]
        Changes(self._written, gone, self._moved).make()


def _apply(
    _theirs: Around,
    self: ApplyPatchExecutor,
    action: ApplyPatchAction,
    conversation: Any = None,  # noqa: ARG001 (as the SDK calls it)
) -> ApplyPatchObservation:
    draft = Draft(self)
    patch = with_plain_ends(action.patch) if action.patch.startswith(BEGIN) else action.patch
    try:
        message, fuzz, commit = process_patch(patch, draft.read, _nothing, _nothing)
        draft.plan(commit)
        draft.carry_out()
    except NotPutBack as error:
        return _failed(str(error))
    except UnicodeError as error:
        return _failed(f"The patch is not valid UTF-8 ({error}). {NOTHING}")
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _failed(f"{place}{error.strerror or error}. {NOTHING}")
    except (ValueError, IndexError) as error:  # IndexError: a patch that ends too soon
        return _failed(f"{error}\n{NOTHING}")
    return ApplyPatchObservation.from_text(message, message=message, fuzz=fuzz, commit=commit)


def _nothing(*_given: str) -> None:
    """Replace the SDK's functions to write and to remove: everything is planned first."""


def _failed(message: str) -> ApplyPatchObservation:
    return ApplyPatchObservation.from_text(message, is_error=True)


def _declare(_theirs: Around, self: ApplyPatchTool, *more: Any, **named: Any) -> Any:
    """Declare the tool like every other, with its format and a risk: the SDK relies on the provider
    knowing it, and an edit of unknown risk always needs permission."""
    return ToolDefinition.to_responses_tool(self, *more, **named)


def install() -> None:
    wrap(ApplyPatchExecutor, "__call__", _apply)
    wrap(ApplyPatchTool, "to_responses_tool", _declare)
