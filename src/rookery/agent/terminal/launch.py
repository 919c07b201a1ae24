"""Starts a shell behind a pseudo terminal."""

import fcntl
import os
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence

from rookery.processes import LINUX, offspring

ROWS, COLUMNS = 50, 200

# The shell opens the terminal after it has become a session's leader: so the terminal is its
# controlling one, and there is job control. No code runs between fork and exec.
LAUNCH = 'exec "$@" <"$0" >"$0" 2>&1'


def launched(
    argv: Sequence[str], directory: str, environment: Mapping[str, str]
) -> tuple[subprocess.Popen[bytes], int, str]:
    """Return the process, our side of its terminal, which never blocks, and the terminal's path."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    os.set_blocking(master, False)
    terminal = os.ttyname(slave)
    launch = ["/bin/sh", "-c", LAUNCH, terminal, *argv]
    # What a command leaves behind, in whatever way, stays below its shell.
    launch = [*offspring.SUBREAPER, *launch] if LINUX else launch
    try:
        process = subprocess.Popen(
            launch,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=directory,
            env=environment,
            start_new_session=True,
        )
    except OSError:
        os.close(master)
        raise
    finally:
        os.close(slave)
    return process, master, terminal
