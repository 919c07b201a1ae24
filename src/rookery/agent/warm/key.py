"""Which warm process fits, where it listens, and how one is started: all that its door must know.

A child inherits what was read at import, so a warm process fits only who would have imported the
same: the same build and interpreter, and the same values of the variables that are read then.
"""

import binascii
import os
import sys

from rookery import paths
from rookery.build import build

PATIENCE = 5.0
"""Seconds that a door waits to be taken in; then it starts cold."""

TAKEN = b"y"
STATUS = b"x"
SIGNAL = b"s"

READ_AT_IMPORT = ("LITELLM_", "LOG_", "SSL_", "REQUESTS_", "OPENHANDS_", "PYTHON", "OTEL_")
READ_BY_NAME = frozenset({"HOME", "DEBUG", "TZ"})


def items() -> dict[str, str]:
    """What must be equal."""
    found = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(READ_AT_IMPORT)
        or name.upper().endswith("_PROXY")
        or name in READ_BY_NAME
    }
    package = os.path.dirname(os.path.abspath(paths.__file__))
    found |= {"=build": build(), "=python": sys.executable, "=package": package}
    return found


def socket_path(home: str) -> str:
    """The socket of the warm process for this key; nothing is made."""
    said = repr(sorted(items().items())).encode()
    return paths.named_socket(home, f"warm-{binascii.crc32(said):08x}.s")


def is_wanted(home: str) -> bool:
    """What `[agent] warm` says. A file that cannot be read is for the agent itself to complain
    about."""
    try:
        with open(os.path.join(home, "config.toml"), "rb") as file:
            data = file.read()
    except OSError:
        return True
    if b"warm" not in data:
        return True  # the parser costs more than the rest of the door
    from rookery import config

    try:
        return config.parse(data, "").warm
    except config.ConfigError:
        return True


def argv() -> list[str]:
    """-P: a `json.py` in somebody's directory is nothing to import."""
    return [sys.executable, "-P", "-m", "rookery.agent.warm"]


def start(home: str) -> None:
    """Start one for next time, detached. It sees for itself whether another is there already."""
    import subprocess

    try:
        paths.ensure_home(home)
        socket = socket_path(home)
        paths.make_socket_dir(socket)
        with open(f"{socket}.log", "ab") as log:
            subprocess.Popen(  # never waited for: it forks and ends at once
                argv(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/"
            ).wait()
    except (OSError, paths.PathError):
        return  # next time is cold, too
