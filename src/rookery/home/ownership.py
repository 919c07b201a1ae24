"""Reading files of the home that decide what runs; they are not used if another user may have
written them."""

import os

from rookery.core.json.files import Unusable


def read(path: str, home: str) -> bytes | None:
    """Read a file; None if there is none. Raises Unusable. `home`: "" if its owner does not
    matter."""
    try:
        with open(path, "rb") as file:
            if home and (fault := fault_of(file.fileno(), path, home)):
                raise Unusable(fault)
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror}.") from error


def fault_of(file: int, path: str, home: str) -> str:
    """Return why an open file may be another user's, in a sentence; "" if it is not. Root's files
    are used: root can do anything."""
    status, around = os.fstat(file), os.stat(home).st_mode
    if status.st_uid not in (os.geteuid(), 0):
        problem = f"belongs to another user (uid {status.st_uid}), so it is not used"
        return f"{path} {problem}. Take it over with chown, or remove it."
    reached = (0o020 if around & 0o010 else 0) | (0o002 if around & 0o001 else 0)
    if status.st_mode & reached:
        problem = "can be changed by other users, so it is not used"
        return f"{path} {problem}. To close it: chmod go-w {path}"
    return ""
