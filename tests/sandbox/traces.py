"""What a prison looks at on this machine, and how it puts things back."""

import os
import select
import socket
import subprocess
from contextlib import suppress
from pathlib import Path


def random_bytes(pid: int) -> tuple[int, bytes]:
    """What the kernel gave a process at its start (AT_RANDOM), and where; nothing, where a user's
    processes may not look into each other."""
    try:
        data = Path(f"/proc/{pid}/auxv").read_bytes()
        pairs = [data[at : at + 16] for at in range(0, len(data), 16)]
        values = {int.from_bytes(pair[:8], "little"): pair[8:] for pair in pairs}
        address = int.from_bytes(values[25], "little")
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            return address, os.pread(memory.fileno(), 16, address)
    except PermissionError:
        return 0, b""


def end_socket(server: socket.socket) -> None:
    with suppress(OSError):
        server.shutdown(socket.SHUT_RDWR)
    server.close()


def end_process(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def shows(master: int, word: bytes) -> bool:
    """Whether a terminal shows it: what was typed into it is echoed."""
    found, patience = b"", 0.2
    while select.select([master], [], [], patience)[0]:
        found, patience = found + os.read(master, 4096), 0
    return word in found


def restore(path: str, value: str, before: str) -> None:
    """Put back what was there, if it is this value now."""
    with suppress(OSError):
        if Path(path).read_text().strip() == value:
            Path(path).write_text(before)


def cgroup() -> str:
    places = ("/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids", "/sys/fs/cgroup")
    return next((each for each in places if os.access(each, os.W_OK)), places[-1])


def kernel_log() -> str:
    """All that it holds now."""
    found = b""
    with suppress(OSError):
        file = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        try:
            while True:
                with suppress(BrokenPipeError):  # some of it was overwritten meanwhile
                    found += os.read(file, 8192)
        except OSError:
            os.close(file)
    return found.decode("utf-8", "replace")
