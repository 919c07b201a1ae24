"""The directory that a session works in: its files, and what changed in it. It is the one that the
session was created with; an argument only names something in it."""

import os
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from rookery.core.json import Json
from rookery.core.refusals import Fixed
from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, read, work

if TYPE_CHECKING:
    from rookery.client.work_tree.files import Finder
    from rookery.client.work_tree.viewer import Directories

GROUP = "Look"
MAX_PATH_LENGTH = 4096
HIGHEST = 10**9
KNOWN = 100
"""Paths that are looked up at once."""

type Whose = Literal["", "session", "directory"]
type State = Literal["added", "modified", "deleted", "renamed", "untracked"]
type Note = Literal["", "binary", "large", "conflict", "submodule", "cut", "mode"]

Base = Annotated[
    str,
    Arg(
        "A commit, branch or tag; empty: the last commit, or where a worktree began.",
        max_length=200,
        typed=False,
    ),
]
Of = Annotated[
    Whose,
    Arg("Whose changes: of its own turns, as snapshots tell; or all in there.", typed=False),
]
Turn = Annotated[int, Arg("Only what turn N changed.", minimum=0, maximum=HIGHEST, metavar="N")]
Path = Annotated[
    str,
    Arg(
        "From the session's directory, or absolute in one of its directories.",
        pattern=".",
        max_length=MAX_PATH_LENGTH,
    ),
]
Paths = Annotated[str, Arg("Such paths, one in each line.", max_length=8_000)]
Line = Annotated[
    int, Arg("The part around this line; 0: the beginning.", minimum=0, maximum=HIGHEST)
]
First = Annotated[int, Arg("Instead: from this line on.", minimum=0, maximum=HIGHEST)]
Last = Annotated[int, Arg("Up to this line; 0: 400 lines.", minimum=0, maximum=HIGHEST)]
Letters = Annotated[
    str, Arg("Letters of the name, in their order; empty: any file.", max_length=200)
]
Most = Annotated[int, Arg("The highest number of files.", minimum=1, maximum=100)]

Compared = Annotated[str, Arg("The commit that the change was compared with.", max_length=200)]
Changed = Annotated[
    str, Arg("The change's file, as `changes` names it.", pattern=".", max_length=MAX_PATH_LENGTH)
]
Digest = Annotated[str, Arg("The file's digest, from the change.", max_length=64)]
OneHunk = Annotated[str, Arg("One of the file's hunks; empty: the whole file.", max_length=64)]
Undoing = Annotated[str, Arg("The `id` of what was undone.", max_length=64)]
Message = Annotated[str, Arg("The commit's message.", max_length=20_000)]
Digests = Annotated[
    dict[str, str], Arg("The files to commit, as they were shown: their digests by path.")
]
Hooks = Annotated[
    str,
    Arg("From the refusal `new_hooks`: the user agrees to run them.", max_length=64),
]

COMPARED = "The commit that it is compared with; empty: there is none yet."
CUT = "Whether there is more than is shown."


class Change(TypedDict):
    path: Annotated[str, "From the session's directory."]
    state: State
    before: Annotated[str, "Its path before, where it was renamed."]
    added: Annotated[int | None, "Lines; null: it is binary, or too large."]
    removed: int | None


class Diff(TypedDict):
    base: Annotated[str, COMPARED]
    files: list[Change]
    patch: Annotated[str, "A unified diff, new files included; at most 2 MiB."]
    cut: Annotated[bool, CUT]
    of: Annotated[Literal["session", "worktree", "directory"], "Whose changes these are."]
    note: Annotated[str, "What to know about that: no snapshots, others at work."]


class Hunk(TypedDict):
    id: Annotated[str, "To undo it."]
    old: Annotated[int, "Its first line before."]
    new: Annotated[int, "Its first line now."]
    head: Annotated[str, "The function that it is in, as git guesses."]
    lines: Annotated[list[str], "Each line with its sign."]


class ChangedFile(TypedDict):
    path: Annotated[str, "From the session's directory."]
    state: State
    before: Annotated[str, "Its path before, where it was renamed."]
    added: Annotated[int | None, "Lines; null: it is binary, or too large."]
    removed: int | None
    note: Annotated[Note, "Why it has no hunks, or not all of them."]
    digest: Annotated[str, "Digest of the current file, needed to undo or commit it."]
    hunks: list[Hunk]


class Changes(TypedDict):
    base: Annotated[str, COMPARED]
    files: list[ChangedFile]
    cut: Annotated[bool, CUT]


class FilePart(TypedDict):
    path: Annotated[str, "From the session's directory; elsewhere absolute."]
    size: Annotated[int, "Bytes of the whole file."]
    lines: Annotated[int, "Of the whole file."]
    first: Annotated[int, "The number of the first line in `rows`."]
    rows: Annotated[list[str], "The lines, at most 400; secrets in them are masked."]
    binary: Annotated[bool, "It is not text: there are no lines."]
    masked: Annotated[bool, "All values in it are hidden: it is a file such as .env."]


class Files(TypedDict):
    files: Annotated[list[str], "From the directory, the best match first."]


class KnownFiles(TypedDict):
    files: Annotated[list[str], "Those of the paths that can be read."]


class Undone(TypedDict):
    summary: str
    id: Annotated[str, "To put it back."]
    paths: Annotated[list[str], "The files that were changed."]


class Committed(TypedDict):
    id: Annotated[str, "The commit."]
    summary: Annotated[str, "The first line of its message."]
    said: Annotated[str, "What commit hooks printed."]


class NoDirectory(Fixed):
    """Raised if the session's directory was deleted or moved."""

    reason = "no_directory"


def directory_of(at: At) -> str:
    """Return the session's directory. Raises NoDirectory, UnknownSession."""
    cwd = str(_head(at)["cwd"])
    if not os.path.isdir(cwd):
        raise NoDirectory(f"{cwd} no longer exists.", "Create it, or use another.")
    return cwd


def directories_of(at: At) -> "Directories":
    """Return where its files may be read. Raises what `directory_of` does."""
    from rookery.client.work_tree import viewer

    directory_of(at)
    return viewer.directories_of(_head(at), at.home)


@cache
def finder() -> "Finder":
    from rookery.client.work_tree.files import Finder

    return Finder()


def _head(at: At) -> Json:
    from rookery.client import fleet

    head = fleet.head_of_session(at.home, at.session)
    if head is None:
        raise fleet.UnknownSession(at.session)
    return head


def _without_values(reply: Json) -> Json:
    from rookery.core.json.secret_files import patch_without_values

    return reply | {"patch": patch_without_values(reply["patch"])}


@read(
    "Diff",
    on="session",
    group=GROUP,
    more="what it changed, as a patch",
    masks=_without_values,
    examples=("", "3f2a --stat", "3f2a --all", "3f2a --turn 2", "3f2a | git apply"),
)
def diff(at: At, base: Base = "", of: Of = "", turn: Turn = 0) -> Diff:
    """Print what a session changed. It is printed as a patch, new files included.

    Only what its own turns changed, by their snapshots (docs/rewind.md): not what you did between
    them, nor what other sessions did in the same directory. With a worktree: everything since the
    commit it was made from, committed or not. Without snapshots, it says so and prints what --all
    does.
    """
    from rookery.client.work_tree.changes import changes as read_changes
    from rookery.client.work_tree.diff import as_patch
    from rookery.operations.merging import changed
    from rookery.operations.merging.session import changes_of

    head = _head(at)
    if turn:
        change_set = changed.changed_alone(at.home, at.session, turn)
    elif of == "session":
        change_set = changed.changed(at.home, head)
    elif base or of or not head.get("worktree"):
        change_set = changed.Changed(read_changes(directory_of(at), base), "directory")
    else:
        change_set = changed.Changed(changes_of(head), "worktree")
    patch = as_patch(change_set.changes)
    files: list[Any] = [each._asdict() for each in patch.files]
    whose: Any = change_set.of
    return {
        "base": patch.base,
        "files": files,
        "patch": patch.patch,
        "cut": patch.cut,
        "of": whose,
        "note": change_set.note,
    }


def _without_lines(reply: Json) -> Json:
    from rookery.core.json.secret_files import hides_values, line_without_value

    def hidden(hunk: Json) -> Json:
        return hunk | {"head": "", "lines": list(map(line_without_value, hunk["lines"]))}

    files = [
        file | {"hunks": list(map(hidden, file["hunks"]))}
        if hides_values(file["path"]) or hides_values(file["before"])
        else file
        for file in reply["files"]
    ]
    return reply | {"files": files}


@read("Changes", on="session", group=GROUP, listed=False, typed=False, masks=_without_lines)
def changes(at: At, base: Base = "") -> Changes:
    """List what changed in the session's directory, by file and by hunk, with what it takes to undo
    or commit it."""
    from rookery.client.work_tree.changes import Hunk as HunkChange
    from rookery.client.work_tree.changes import changes as read_changes

    def hunk_of(hunk: HunkChange) -> Json:
        return {**hunk._asdict(), "lines": [each.decode(errors="replace") for each in hunk.lines]}

    change_set = read_changes(directory_of(at), base)
    files: list[Any] = [
        {
            **file.change._asdict(),
            "note": file.note,
            "digest": file.digest,
            "hunks": list(map(hunk_of, file.hunks)),
        }
        for file in change_set.files
    ]
    return {"base": change_set.base, "files": files, "cut": change_set.cut}


@read("Files", on="session", group=GROUP, listed=False, typed=False)
def files(at: At, query: Letters = "", limit: Most = 20) -> Files:
    """Find files in the session's directory by some letters of their names. What git ignores is
    left out, and where there is no git, what tools leave behind."""
    return {"files": finder().find(directory_of(at), query, limit)}


@read("A file", on="session", group=GROUP, listed=False, typed=False)
def file(at: At, path: Path, line: Line = 0, first: First = 0, last: Last = 0) -> FilePart:
    """Read a file of the session's directories, a part at a time. Nothing outside them is read,
    whatever links in them lead to, and no file that holds keys."""
    part = directories_of(at).read(path, line, first, last)
    return {
        "path": part.path,
        "size": part.size,
        "lines": part.lines,
        "first": part.first,
        "rows": list(part.rows),
        "binary": part.binary,
        "masked": part.masked,
    }


@read("Known files", on="session", group=GROUP, listed=False, typed=False)
def known_files(at: At, paths: Paths) -> KnownFiles:
    """Tell which of these paths name files that can be read."""
    return {"files": directories_of(at).known(paths.split("\n")[:KNOWN])}


# --- undone and committed ------------------------------------------------------------------------

_its_own_work = partial(
    work, on="session", group=GROUP, person="change files", listed=False, typed=False
)


@_its_own_work("Undo a change")
def undo_change(
    at: At, path: Changed, digest: Digest = "", base: Compared = "", hunk: OneHunk = ""
) -> Undone:
    """Undo a hunk or a file. It is refused if the file is not what it was when it was shown."""
    from rookery.client.work_tree.undo import undo

    undone = undo(directory_of(at), _kept(at), base, path, digest, hunk)
    return {
        "summary": f"Undone: {', '.join(undone.paths)}.",
        "id": undone.id,
        "paths": undone.paths,
    }


@_its_own_work("Put a change back")
def put_back_change(at: At, id_: Undoing) -> Undone:
    """Take an undo back, unless the file changed since."""
    from rookery.client.work_tree.undo import put_back

    undone = put_back(directory_of(at), _kept(at), id_)
    return {"summary": f"Back: {', '.join(undone.paths)}.", "id": undone.id, "paths": undone.paths}


@_its_own_work("Commit changes")
def commit_changes(at: At, files: Digests, message: Message = "", hooks: Hooks = "") -> Committed:
    """Commit these files, as git commit in a terminal would: commit hooks run. Where some are new,
    or changed since the session began, the refusal `new_hooks` shows them."""
    from rookery.client.work_tree.commit import Shown, commit

    shown = [Shown(path, digest) for path, digest in files.items()]
    committed = commit(directory_of(at), message, shown, _kept(at), hooks)
    return {"id": committed.id, "summary": committed.summary, "said": committed.output}


def _kept(at: At) -> str:
    from rookery.home import paths

    return paths.session_dir(at.home, at.session)
