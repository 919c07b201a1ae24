"""Desktop notifications on this machine."""

import shutil
import subprocess
import sys
from collections.abc import Sequence

from rookery.daemon.notify.events import ASK, News
from rookery.daemon.notify.shapes import heading
from rookery.daemon.notify.webhook import Undelivered

COMMAND_TIMEOUT = 10.0
SCRIPT = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)


def command(news: News, platform: str) -> Sequence[str]:
    """Return the command that shows a notification. Texts are arguments, never part of a script;
    `--` is there because a title may begin with a dash."""
    if platform == "darwin":
        lines = [word for line in SCRIPT for word in ("-e", line)]
        return ("osascript", *lines, "--", heading(news), news.text)
    urgency = "critical" if news.kind == ASK else "normal"
    text = news.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return ("notify-send", "--app-name=Rookery", f"--urgency={urgency}", "--", heading(news), text)


def send(news: News) -> None:
    """Show the notification. Raises Undelivered."""
    argv = command(news, sys.platform)
    if shutil.which(argv[0]) is None:
        raise Undelivered(f"{argv[0]} is not installed")
    try:
        ended = subprocess.run(
            argv,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=COMMAND_TIMEOUT,
        )
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise Undelivered(f"{argv[0]}: {error}") from None
    if ended.returncode:
        raise Undelivered(f"{argv[0]} failed with status {ended.returncode}")
