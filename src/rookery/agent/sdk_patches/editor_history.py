"""Where the SDK's file editor keeps what it may have to undo: a folder of this process, which goes
with it. Its own choice is a folder in /tmp for each editor, and nobody removes those.

Made for openhands-tools 1.58. Needless once the tools remove their folders, or take one.
"""

from pathlib import Path
from typing import Any

from openhands.tools.file_editor import editor
from openhands.tools.file_editor.utils.history import FileHistoryManager

from rookery.home import paths, scratch


def _kept_here(**given: Any) -> FileHistoryManager:
    place = Path(scratch.folder(paths.home(), "editor-"))
    return FileHistoryManager(**{"history_dir": place, **given})


def install() -> None:
    """From now on every editor does so. Once is enough; twice does no harm."""
    editor.FileHistoryManager = _kept_here  # type: ignore[attr-defined, assignment]
