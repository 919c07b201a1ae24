"""Other programs: a person's editor, and whatever opens an image here."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile


def editor() -> list[str]:
    """What $VISUAL or $EDITOR says, else the first that is here; empty: none."""
    for name in ("VISUAL", "EDITOR"):
        if words := shlex.split(os.environ.get(name, "")):
            return words
    return next(([name] for name in ("nano", "vim", "vi") if shutil.which(name)), [])


def edit(text: str, ending: str = ".md") -> str | None:
    """Let a person edit a text; the text after it, or None where there is no editor."""
    words = editor()
    if not words:
        return None
    with tempfile.TemporaryDirectory(prefix="rookery-") as place:
        path = os.path.join(place, f"text{ending}")
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        try:
            subprocess.run([*words, path], check=False)
        except OSError:
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()


def show(data: bytes, mime: str) -> str:
    """Open an image with the system's viewer; where it lies, in any case."""
    kind = mime.partition("/")[2]
    ending = kind if kind.isalnum() else "bin"
    handle, path = tempfile.mkstemp(prefix="rookery-", suffix=f".{ending}")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    viewer = shutil.which("open" if sys.platform == "darwin" else "xdg-open")
    if viewer:
        quiet = subprocess.DEVNULL
        subprocess.Popen([viewer, path], stdin=quiet, stdout=quiet, stderr=quiet)
    return path
