"""The editors that write one file: it keeps its line ends, encoding, byte order mark, permissions,
owner, links and every byte that the edit does not touch, and so does undoing the edit.

Made for openhands-tools 1.58, whose `file_editor`, `edit` and `write_file` turn CRLF into LF.
`file_editor` replaces a link by a file, separates hard links, rewrites a whole file in UTF-8 if an
edit needs a letter that its encoding lacks, and joins what is inserted at the end to a last line
without an end; it leaves a folder in /tmp for its history. `edit` and `write_file` replace bytes
that are not UTF-8. Unnecessary once all of them read and write as `rookery.agent.files` does."""

import builtins
import importlib
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, override

from openhands.tools.file_editor import FileEditorObservation, editor, impl
from openhands.tools.file_editor.exceptions import EditorToolParameterInvalidError, ToolError
from openhands.tools.file_editor.utils.config import SNIPPET_CONTEXT_WINDOW
from openhands.tools.file_editor.utils.encoding import BINARY_CONTROL_CHARS, EncodingManager
from openhands.tools.file_editor.utils.history import FileHistoryManager

from rookery.agent.files import disk
from rookery.agent.files.changes import NotPutBack
from rookery.agent.files.text import Text, with_plain_ends
from rookery.agent.sdk_patches import Around, wrap
from rookery.home import paths, scratch

GEMINI = ("edit", "write_file", "read_file")
_LINE = re.compile("[^\n]*\n|[^\n]+")


class History(FileHistoryManager):
    """The bytes that a file had before each edit."""

    def keep(self, path: Path, data: bytes) -> None:
        super().add_history(path, data.decode("latin-1"))

    def take_last(self, path: Path) -> bytes | None:
        kept = self.pop_last_history(path)
        return None if kept is None else kept.encode("latin-1")

    @override
    def add_history(self, file_path: Path, content: str) -> None:
        """Do nothing in place of the SDK's method: a text alone does not tell the bytes."""


class Encodings(EncodingManager):
    """Stands in for the SDK's detection: `_open` knows the encoding of each file."""

    @override
    def get_encoding(self, path: Path) -> str:
        return self.default_encoding

    @override
    def resolve_text_encoding(self, path: Path) -> str | None:
        text = disk.text_of(path)
        return None if BINARY_CONTROL_CHARS.search(text) else self.default_encoding


class Editor(editor.FileEditor):
    _history_manager: History

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._encoding_manager = Encodings()  # type: ignore[no-untyped-call]

    @override
    def __call__(self, **given: Any) -> FileEditorObservation:
        for name in ("old_str", "new_str"):
            if isinstance(given.get(name), str):
                given[name] = with_plain_ends(given[name])
        return super().__call__(**given)

    @override
    def write_file(self, path: Path, file_text: str, encoding: str = "") -> None:
        self.validate_file(path)
        with _explained(path):
            before = disk.write(path, file_text)
        if before is not None:
            self._history_manager.keep(path, before)

    @override
    def insert(
        self, path: Path, insert_line: int, new_str: str, encoding: str = ""
    ) -> FileEditorObservation:
        old = self.read_file(path)
        lines = _LINE.findall(old)
        if insert_line > len(lines):
            allowed = f"It should be within the range of allowed values: {[0, len(lines)]}"
            raise EditorToolParameterInvalidError("insert_line", str(insert_line), allowed)
        before, after = "".join(lines[:insert_line]), "".join(lines[insert_line:])
        unended = bool(before) and not before.endswith("\n")
        new = f"{before}\n{new_str}" if unended else f"{before}{new_str}\n{after}"
        self.write_file(path, new)
        first = max(0, insert_line - SNIPPET_CONTEXT_WINDOW)
        last = insert_line + new_str.count("\n") + 1 + SNIPPET_CONTEXT_WINDOW
        snippet = "".join(_LINE.findall(new)[first:last])
        shown = self._make_output(snippet, "a snippet of the edited file", first + 1)
        return FileEditorObservation.from_text(
            f"The file {path} has been edited. {shown}Review the changes and make sure they are as "
            "expected (correct indentation, no duplicate lines, etc). Edit the file again if "
            "necessary.",
            command="insert",
            path=str(path),
            old_content=old,
            new_content=new,
        )

    @override
    def undo_edit(self, path: Path) -> FileEditorObservation:
        current = self.read_file(path)
        before = self._history_manager.take_last(path)
        if before is None:
            raise ToolError(f"No edit history found for {path}.")
        with _explained(path):
            disk.put(path, before)
        text = Text(before).text
        return FileEditorObservation.from_text(
            f"Last edit to {path} undone successfully. {self._make_output(text, str(path))}",
            command="undo_edit",
            path=str(path),
            old_content=current,
            new_content=text,
        )


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn errors into messages for the model."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise ToolError(f"{path} was not changed. {error}") from None
    except NotPutBack as error:
        raise ToolError(str(error)) from None


class _Written(io.StringIO):
    """A text that is written to its file at the end of a `with`."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        self._path = path

    @override
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            disk.write(self._path, self.getvalue())
        super().__exit__(kind, error, traceback)


def _open(path: str | os.PathLike[str], mode: str = "r", **given: Any) -> Any:
    """Replace `open` where texts are read and written."""
    if mode == "r":
        return io.StringIO(disk.text_of(path))
    return _Written(path) if mode == "w" else builtins.open(path, mode, **given)


def _edit(execute: Around, self: Any, action: Any, conversation: Any = None) -> Any:
    plain = {name: with_plain_ends(getattr(action, name)) for name in ("old_string", "new_string")}
    return execute(self, action.model_copy(update=plain), conversation)


def _history(**given: Any) -> History:
    place = Path(scratch.folder(paths.home(), "editor-"))
    return History(**{"history_dir": place, **given})


def install() -> None:
    editor.FileHistoryManager = _history  # type: ignore[attr-defined, assignment]
    editor.open = _open  # type: ignore[attr-defined]
    impl.FileEditor = Editor  # type: ignore[attr-defined]


def install_gemini() -> None:
    for name in GEMINI:
        importlib.import_module(f"openhands.tools.gemini.{name}.impl").open = _open  # type: ignore[attr-defined]
    from openhands.tools.gemini.edit.impl import EditExecutor

    wrap(EditExecutor, "__call__", _edit)
