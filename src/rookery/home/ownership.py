"""Whose word a file of the home is: what another user could have written decides nothing."""

import os


def others_word(file: int, path: str, home: str) -> str:
    """Why an open file may be another user's word, in a sentence; "": it is not. Root's is taken:
    it can do as it likes anyway."""
    found, around = os.fstat(file), os.stat(home).st_mode
    if found.st_uid not in (os.geteuid(), 0):
        words = f"belongs to another user (uid {found.st_uid}), so it is not used"
        return f"{path} {words}. Take it over with chown, or remove it."
    reached = (0o020 if around & 0o010 else 0) | (0o002 if around & 0o001 else 0)
    if found.st_mode & reached:
        words = "can be changed by other users, so it is not used"
        return f"{path} {words}. To close it: chmod go-w {path}"
    return ""
