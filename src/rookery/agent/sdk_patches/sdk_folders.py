"""Folders that the SDK would make outside of Rookery's home: the file editor's undo history, which
goes with this process, and the chat templates that the API critic fetches.

Made for openhands-tools 1.58, which leaves a folder in /tmp for each editor, and openhands-sdk
1.58, which caches templates in the user's ~/.cache. Unnecessary once both take a folder.
"""

from pathlib import Path
from typing import Any

from openhands.sdk.critic.impl.api import chat_template
from openhands.tools.file_editor import editor
from openhands.tools.file_editor.utils.history import FileHistoryManager

from rookery.home import paths, scratch


def _history(**given: Any) -> FileHistoryManager:
    place = Path(scratch.folder(paths.home(), "editor-"))
    return FileHistoryManager(**{"history_dir": place, **given})


def install() -> None:
    editor.FileHistoryManager = _history  # type: ignore[attr-defined, assignment]
    chat_template.CACHE_DIR = Path(paths.home(), "sdk", "chat_templates")
