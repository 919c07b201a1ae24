"""Stands where git looks for a hook, and runs the hook if it, and the files that it names, are as
they were when they were judged. A program of its own: it needs the standard library alone."""

import errno
import json
import os
import stat
import sys
from hashlib import sha256

WHOLE = 1_000_000
"""Bytes up to which a file is known by its content. A larger one is known by when it was changed,
which no program can set."""


def signature(path: str) -> str:
    """What a file is now."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return f"cannot be read: {error.errno}"
    with open(file, "rb") as opened:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode):
            return "not a file"
        if about.st_size > WHOLE:
            return f"{about.st_dev} {about.st_ino} {about.st_size} {about.st_ctime_ns}"
        content = sha256(opened.read()).hexdigest()
    return content + (" x" if about.st_mode & 0o111 else "")


def main() -> int:
    listed, name, *rest = sys.argv[1:]
    with open(listed, encoding="utf-8") as file:
        hook = json.load(file)[name]
    for path, before in hook["files"].items():
        if signature(path) != before:
            words = f"{path} changed after it was checked, so the hook {name} was not run."
            print(words, file=sys.stderr)
            return 1
    path = hook["path"]
    try:
        os.execv(path, [path, *rest])
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        os.execv("/bin/sh", ["sh", path, *rest])  # as git does where it has no first line


if __name__ == "__main__":
    sys.exit(main())
