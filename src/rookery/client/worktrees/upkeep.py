"""What killed processes left of worktrees, mended. Called when a worktree is made, when sessions
are listed and by `doctor`. Without worktrees it costs one look into a directory."""

import os
import shutil
import signal
from contextlib import suppress

from rookery.client.worktrees import place
from rookery.client.worktrees.drop import clear, work_of
from rookery.client.worktrees.repository import NoWorktree
from rookery.core import worktree
from rookery.core.json import Json
from rookery.home import paths
from rookery.processes import tree as processes


def mend(home: str) -> list[str]:
    """What there is to say: worktrees that were kept though their session is gone."""
    said = []
    for session in place.sessions(home):
        with suppress(NoWorktree, OSError), place.held(home, session):
            if words := _mend(home, session):
                said.append(words)
    return said


def _mend(home: str, session: str) -> str:
    tree = place.record(home, session)
    own = place.folder(home, session)
    if tree is None or not all(isinstance(tree.get(key), str) for key in ("path", "git", "branch")):
        if not os.listdir(own):  # killed before anything was written
            os.rmdir(own)
        return ""
    if os.path.isdir(paths.session_dir(home, session)):
        return _of_session(home, session, tree)
    if tree.get("phase") == place.MAKING:
        _end_setup(tree)
        clear(home, session, tree)
        unfinished = os.path.join(paths.sessions(home), paths.UNFINISHED + session)
        shutil.rmtree(unfinished, ignore_errors=True)
        return ""
    work = work_of({**tree, "state": worktree.OPEN})
    if not work:
        clear(home, session, tree)
        return ""
    return (
        f"Session {session} is gone, but its worktree has {work}: {tree['path']}, branch "
        f"{tree['branch']}. If you do not need it: rookery drop {session}"
    )


def _end_setup(tree: Json) -> None:
    """The set-up command of a process that was killed runs on."""
    match tree.get("setup"):
        case [int(pid), str(start)] if processes.alive(pid, start):
            processes.end_group(pid, signal.SIGKILL)


def _of_session(home: str, session: str, tree: Json) -> str:
    """One that was merged or dropped, by a process that was killed before it had removed it."""
    if tree.get("phase") == place.MAKING:
        place.write(home, session, tree | {"phase": place.MADE})
    head = paths.read_json(os.path.join(paths.session_dir(home, session), paths.HEAD))
    known = head.get("worktree") if head else None
    if isinstance(known, dict) and known.get("path") and not worktree.exists(known):
        clear(home, session, tree)
    return ""
