"""Other programs: the user's editor, and an image viewer."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from threading import Thread


def editor() -> list[str]:
    """$VISUAL or $EDITOR, or the first one installed; empty: none."""
    for name in ("VISUAL", "EDITOR"):
        if words := shlex.split(os.environ.get(name, "")):
            return words
    return next(([name] for name in ("nano", "vim", "vi") if shutil.which(name)), [])


def edit(text: str, ending: str = ".md") -> str | None:
    """The edited text; None: there is no editor."""
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
    """Open an image with the system's viewer; returns its path."""
    kind = mime.partition("/")[2]
    ending = kind if kind.isalnum() else "bin"
    handle, path = tempfile.mkstemp(prefix="rookery-", suffix=f".{ending}")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    _open(path)
    return path


def follow(address: str) -> str:
    """Open an address in the browser; returns what there is to say."""
    return f"Opening {address}" if _open(address) else f"No program opens links here: {address}"


def _open(what: str) -> bool:
    """With the system's own program for it; whether there is one."""
    viewer = shutil.which("open" if sys.platform == "darwin" else "xdg-open")
    if viewer:
        quiet = subprocess.DEVNULL
        child = subprocess.Popen([viewer, what], stdin=quiet, stdout=quiet, stderr=quiet)
        Thread(target=child.wait, daemon=True).start()
    return viewer is not None
