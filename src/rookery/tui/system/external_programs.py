"""Other programs: the user's editor, an image viewer, the login of an agent."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from threading import Thread


def editor() -> list[str]:
    """Return the command of $VISUAL or $EDITOR, or of the first editor installed; empty if there is
    none."""
    for name in ("VISUAL", "EDITOR"):
        if argv := shlex.split(os.environ.get(name, "")):
            return argv
    return next(([name] for name in ("nano", "vim", "vi") if shutil.which(name)), [])


def edit(text: str, ending: str = ".md") -> str | None:
    """Return the text as edited by the user; None if there is no editor."""
    argv = editor()
    if not argv:
        return None
    with tempfile.TemporaryDirectory(prefix="rookery-") as place:
        path = os.path.join(place, f"text{ending}")
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        try:
            subprocess.run([*argv, path], check=False)
        except OSError:
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()


def log_in(group: str, name: str) -> bool:
    """Run `rookery agents login` or `rookery mcp login` in this terminal; an error message stays
    until the user has read it."""
    print(f"Logging in to {name}", flush=True)
    line = [sys.executable, "-P", "-m", "rookery", group, "login", name]
    done = subprocess.run(line, check=False).returncode == 0
    if not done:
        with suppress(EOFError, KeyboardInterrupt):
            input("\nEnter returns to Rookery. ")
    return done


def show(data: bytes, mime: str) -> str:
    """Open an image with the system's viewer; return its path."""
    kind = mime.partition("/")[2]
    ending = kind if kind.isalnum() else "bin"
    handle, path = tempfile.mkstemp(prefix="rookery-", suffix=f".{ending}")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    _open(path)
    return path


def follow(address: str) -> str:
    """Open an address in the browser; return a message for the user."""
    return f"Opening {address}" if _open(address) else f"No program opens links here: {address}"


def no_browser() -> str:
    """Return why no browser can be opened from this terminal; "" if one can."""
    environment = os.environ
    if environment.get("BROWSER") and shutil.which("xdg-open"):
        return ""
    is_remote = any(environment.get(name) for name in ("SSH_CONNECTION", "SSH_TTY"))
    has_screen = any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    if is_remote and not has_screen:
        return "This terminal is on another machine (SSH), which has no browser for you."
    if not has_screen and sys.platform != "darwin":
        return "There is no graphical screen here to open a browser on."
    return "" if _viewer() else "No program opens links here (xdg-open is missing)."


def _viewer() -> str | None:
    return shutil.which("open" if sys.platform == "darwin" else "xdg-open")


def _open(what: str) -> bool:
    """Open something with the system's own program for it; return whether there is one."""
    viewer = _viewer()
    if viewer:
        quiet = subprocess.DEVNULL
        child = subprocess.Popen([viewer, what], stdin=quiet, stdout=quiet, stderr=quiet)
        Thread(target=child.wait, daemon=True).start()
    return viewer is not None
