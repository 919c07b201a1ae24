"""Comparing builds: the daemon's with this command's, or a running process's with the one installed
since. Says in a sentence which is newer, with the command to run."""

from rookery.build import DIFFERS, NEWER, OLDER, SAME, compare, described, installed
from rookery.client.daemon import local as daemon
from rookery.core.json import Json, lenient
from rookery.home import paths

IN_BACKGROUND = "To restart it: rookery serve --restart"
IN_FOREGROUND = "Restart it where it runs: in its terminal, or with systemctl or launchctl."


def of_daemon(home: str) -> str:
    """Describe how the daemon's build differs from this command's; "" if it does not, or there is
    no daemon."""
    if paths.read_json(f"{home}/{daemon.RECORD}") is None:
        return ""  # the usual case costs no more than this
    record = daemon.record(home)
    return "" if record is None else between(record)


def between(record: Json) -> str:
    """Describe the same, given a daemon's record."""
    name = lenient.text(record, "build")
    restart = IN_BACKGROUND if record.get("background") else IN_FOREGROUND
    match compare(name):
        case "same":
            return ""
        case "older":
            return f"The daemon runs an older build: {described(name)}. {restart}"
        case "newer":
            return f"The daemon runs a newer build: {described(name)}. To update: rookery update"
    return f"The daemon runs another build: {described(name)}. {restart}"


def since_start() -> str:
    """Describe the build that has replaced this running process's; "" if none has."""
    now = installed()
    kind = {SAME: "", NEWER: "A newer", OLDER: "An older", DIFFERS: "Another"}[compare(now)]
    return kind and f"{kind} build is installed: {described(now)}."
