"""The model's memory: the user's is in Rookery's home; a project's is only read if the file is in
the project, and it may have any size.

Made for openhands-sdk 1.58, which has one folder for all that is the user's, waits for ever if
MEMORY.md is a pipe, follows a link in a project to the user's keys, and takes hours to cut a large
file line by line. Unnecessary once `load_memory` takes the user's folder, reads no more of a file
than it uses, and reads files in the project alone."""

from pathlib import Path

from openhands.sdk.context import memory

from rookery.agent.sdk_patches.skills import texts
from rookery.home import paths


def _home(default: Path | None = None) -> Path:  # noqa: ARG001 (as the SDK calls it)
    """Return the folder of the user's memory, `memory/MEMORY.md`."""
    return Path(paths.home())


def _index(path: Path) -> str | None:
    """Return the newest lines of a file in the project, or of the user's, maybe a link."""
    own = path == _home() / "memory" / "MEMORY.md"
    project = str(path).removesuffix(memory.MEMORY_INDEX_RELPATH)
    if not own and not texts.is_within(path, [project]):
        return None
    try:
        text, cut = texts.end(path, memory.MEMORY_CHAR_BUDGET)
    except OSError:
        return None
    text = text.strip()
    return f"{memory._TRUNCATION_NOTICE}\n{text}".strip() if cut else text or None


def _truncate(body: str, budget: int) -> str:
    """Return the last whole lines that fit."""
    if len(body) <= budget:
        return body
    room = max(0, budget - len(memory._TRUNCATION_NOTICE) - 1)
    _, _, lines = body[len(body) - room - 1 :].partition("\n")
    return f"{memory._TRUNCATION_NOTICE}\n{lines}" if lines else memory._TRUNCATION_NOTICE


def install() -> None:
    memory.get_user_persistence_dir = _home  # type: ignore[attr-defined]
    memory._read_index = _index
    memory._truncate_top = _truncate
