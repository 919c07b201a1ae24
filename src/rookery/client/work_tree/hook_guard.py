"""A guard in front of a program that git runs: it runs the program only if the files it consists of
are the same as when they were checked. A program of its own, which needs only the standard library.
"""

import base64
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
    """Return a signature of a file as it is now."""
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


def unchanged(files: dict[str, str], name: str) -> bool:
    for path, before in files.items():
        if signature(path) != before:
            message = f"{path} changed after it was checked, so {name} was not run."
            print(message, file=sys.stderr)
            return False
    return True


def main() -> int:
    """Check the files; with `hook FILE NAME …` run the hook then, with `files LIST` only check."""
    what, listed, *rest = sys.argv[1:]
    if what == "files":
        return 0 if unchanged(json.loads(base64.b64decode(listed)), "the program") else 1
    name, *rest = rest
    with open(listed, encoding="utf-8") as file:
        hook = json.load(file)[name]
    if not unchanged(hook["files"], f"the hook {name}"):
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
