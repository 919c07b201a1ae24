"""A notification on the desktop of this machine."""

import shutil
import subprocess
import sys
from collections.abc import Sequence

from rookery.daemon.notify.events import ASK, News
from rookery.daemon.notify.shapes import heading
from rookery.daemon.notify.webhook import Undelivered

PATIENCE = 10.0
SCRIPT = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)


def command(news: News, platform: str) -> Sequence[str]:
    """The words are arguments, never a script; `--`: a title may begin with a dash."""
    if platform == "darwin":
        lines = [word for line in SCRIPT for word in ("-e", line)]
        return ("osascript", *lines, "--", heading(news), news.text)
    urgency = "critical" if news.kind == ASK else "normal"
    text = news.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return ("notify-send", "--app-name=Rookery", f"--urgency={urgency}", "--", heading(news), text)


def send(news: News) -> None:
    """Raises Undelivered."""
    words = command(news, sys.platform)
    if shutil.which(words[0]) is None:
        raise Undelivered(f"{words[0]} is not installed")
    try:
        ended = subprocess.run(
            words,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE,
        )
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise Undelivered(f"{words[0]}: {error}") from None
    if ended.returncode:
        raise Undelivered(f"{words[0]} failed with status {ended.returncode}")
