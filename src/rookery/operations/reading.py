"""What is read of one session: what was said in it, in short, and what its processes logged."""

import os
from typing import Annotated, Literal, TypedDict

from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, read

GROUP = "Look"
LARGEST = 2**53
MOST, SOME = 10 * 1024 * 1024, 64 * 1024
"""Bytes of a log: what is kept of one, and what is read where nothing else is said."""

type Log = Literal["agent", "worker"]

Before = Annotated[
    int, Arg("Only what came before this event.", minimum=0, maximum=LARGEST, metavar="SEQ")
]
Of = Annotated[
    Log,
    Arg(
        "Whose log it is.",
        each={"agent": "Only the agent's stderr.", "worker": "Only the worker's stderr."},
    ),
]
Bytes = Annotated[
    int, Arg("At most so many bytes of its end.", minimum=1, maximum=MOST, typed=False)
]
After = Annotated[
    str,
    Arg(
        "The `place` of an earlier answer: only what was logged since then.",
        pattern=r"^([0-9]+\.[0-9]+)?$",
        max_length=50,
        typed=False,
    ),
]


class Recap(TypedDict):
    text: Annotated[str, "As Markdown; empty: nothing was said yet."]


class Logged(TypedDict):
    text: str
    place: Annotated[str, "What to ask for the rest with, as `after`; empty: there is no log."]


@read(
    "Recap",
    on="session",
    group=GROUP,
    more="what was said, for another agent",
    examples=("3f2a > recap.md && $EDITOR recap.md && rookery prompt 3f2a - < recap.md",),
)
def recap(at: At, before: Before = 0) -> Recap:
    """Print a recap of a session for another agent. Nothing is sent: read it, edit it, send it.

    It covers what came before the last switch, clear or reset, or the whole conversation if there
    was none: the last 20 turns, at most 24,000 characters, plus the prompt that was not processed.
    """
    from rookery.client import reading
    from rookery.home import paths
    from rookery.log.reader import Reader

    with Reader.open(paths.session_dir(at.home, at.session)) as log:
        return {"text": reading.recap(log, before or None).text()}


@read(
    "Logs",
    on="session",
    group=GROUP,
    more="of its agent and its worker",
    examples=("3f2a", "3f2a --agent -f"),
)
def logs(at: At, of: Of = "agent", bytes_: Bytes = SOME, after: After = "") -> Logged:
    """Print what a session's agent and worker logged. That is what they wrote to stderr."""
    from rookery.home import paths
    from rookery.home.log_rotation import BEFORE
    from rookery.log.errors import NoSession

    directory = paths.session_dir(at.home, at.session)
    if not os.path.isdir(directory):
        raise NoSession("The session is gone.")
    path = os.path.join(directory, paths.WORKER_LOG if of == "worker" else paths.AGENT_LOG)
    known, _, offset = after.partition(".")
    try:
        with open(path, "rb") as file:
            inode, size = os.fstat(file.fileno()).st_ino, file.seek(0, 2)
            same = known == str(inode) and int(offset) <= size  # else it was put aside
            since = int(offset) if same else 0
            begin = max(size - bytes_, since)
            file.seek(begin)
            data = file.read()
            place = f"{inode}.{file.tell()}"
    except FileNotFoundError:
        return {"text": "", "place": ""}
    left = bytes_ - len(data)
    if not after and left > 0:
        data, begin = _end_of(path + BEFORE, left, data)
    text = data.decode(errors="replace")
    if begin > since:  # its first line may be the end of a secret, which has no shape
        text = text.partition("\n")[2]
    return {"text": text, "place": place}


def _end_of(path: str, most: int, rest: bytes) -> tuple[bytes, int]:
    """What was put aside, before the `rest`; and how many bytes are left out before it."""
    try:
        with open(path, "rb") as file:
            begin = max(0, file.seek(0, 2) - most)
            file.seek(begin)
            return file.read() + rest, begin
    except FileNotFoundError:
        return rest, 0
