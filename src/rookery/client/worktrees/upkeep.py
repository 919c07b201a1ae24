"""Repairs what killed processes left of worktrees. Called when a worktree is created, when sessions
are listed and by `doctor`. If there are no worktrees, it costs reading one directory."""

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
    """Repair all worktrees; return notices about those that were kept though their session
    is gone."""
    notices = []
    for session in place.sessions(home):
        with suppress(NoWorktree, OSError), place.held(home, session):
            if notice := _mend(home, session):
                notices.append(notice)
    return notices


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
    """End the set-up command of a killed process, which is still running."""
    match tree.get("setup"):
        case [int(pid), str(start)] if processes.alive(pid, start):
            processes.end_group(pid, signal.SIGKILL)


def _of_session(home: str, session: str, tree: Json) -> str:
    """Clear a worktree that was merged or dropped by a process killed before it had removed it."""
    if tree.get("phase") == place.MAKING:
        place.write(home, session, tree | {"phase": place.MADE})
    head = paths.read_json(os.path.join(paths.session_dir(home, session), paths.HEAD))
    known = head.get("worktree") if head else None
    if isinstance(known, dict) and known.get("path") and not worktree.exists(known):
        clear(home, session, tree)
    return ""
