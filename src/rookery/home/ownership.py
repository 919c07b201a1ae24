"""Files of the home that decide what runs: not used if another user may have written them."""

import os

from rookery.core.json.files import Unusable


def read(path: str, home: str) -> bytes | None:
    """None: there is no such file. Raises Unusable. `home`: "" if anybody's file will do."""
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
    """Why an open file may be another user's, in a sentence; "": it is not. Root's is used: root
    can do anything."""
    found, around = os.fstat(file), os.stat(home).st_mode
    if found.st_uid not in (os.geteuid(), 0):
        words = f"belongs to another user (uid {found.st_uid}), so it is not used"
        return f"{path} {words}. Take it over with chown, or remove it."
    reached = (0o020 if around & 0o010 else 0) | (0o002 if around & 0o001 else 0)
    if found.st_mode & reached:
        words = "can be changed by other users, so it is not used"
        return f"{path} {words}. To close it: chmod go-w {path}"
    return ""
