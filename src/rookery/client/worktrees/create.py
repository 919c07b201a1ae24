"""Creates a worktree and a branch for a new session: from the last commit of the directory's
repository, or another one, with the files that the settings name, and with their set-up command run
in it.

A failure leaves nothing behind; what a killed process leaves, `upkeep` removes."""

import os
import re
import secrets
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from glob import iglob

from rookery.client.work_tree import git as run_git
from rookery.client.work_tree.changes import NoDiff, commit_of
from rookery.client.worktrees import place, programs, repository
from rookery.client.worktrees.drop import clear
from rookery.client.worktrees.repository import SECONDS, Git, NoWorktree, names_of
from rookery.core.json import Json
from rookery.core.json.safe_text import count
from rookery.core.settings.worktree_tables import Preparation, preparation_of
from rookery.core.worktree import OPEN
from rookery.git import places
from rookery.home import config, paths
from rookery.processes import tree as processes
from rookery.snapshots import place as files

PREFIX = "rookery/"
NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)*")
MAX_NAME_LENGTH = 100
SETUP = 1800.0
"""Seconds for the set-up command."""
SAID = 30
"""Lines of its output that an error shows."""
MOST_COPIED = 1000
UNUSUAL = re.compile(r"[^\w.-]+|\.lock$|\.\.+", re.ASCII)
MOST_NAMES = 10_000

type Report = Callable[[str], object]


@contextmanager
def making(
    home: str,
    session: str,
    cwd: str,
    name: str,
    settings: config.Config,
    report: Report,
    base: str = "",
) -> Iterator[tuple[str, Json]]:
    """Create a worktree; yield the session's directory, and the header's fields about the worktree.
    If the block fails, the worktree is removed. `name`: that of the branch; "": the session's id.
    `base`: the commit, branch or tag that it starts at; "": what is checked out. Raises NoWorktree.
    """
    repo = repository.look(cwd)
    if base:
        repo = repo._replace(head=_commit(cwd, base))
    branch = PREFIX + name_of(name or session)
    if Git(repo.git, repo.top).try_("check-ref-format", f"refs/heads/{branch}").code != 0:
        raise _bad_name(name)
    _check_free(repo, branch)
    top = os.path.join(place.prepare(home, session), os.path.basename(repo.top) or "worktree")
    tree: Json = {
        "path": top,
        "branch": branch,
        "base": repo.head,
        "origin": os.path.abspath(cwd),
        "from": repo.branch,
        "git": repo.git,
        "admin": "",
        "copied": [],
        "state": OPEN,
    }
    with place.held(home, session), ExitStack() as undo:
        place.write(home, session, tree | {"phase": place.MAKING})
        undo.callback(clear, home, session, tree)
        _add(repo, tree)
        place.write(home, session, tree | {"phase": place.MAKING})
        prepared = preparation_of(settings.worktrees, repo.top)
        tree["copied"] = _copy(repo.top, top, prepared.copy, report)
        inside = os.path.join(top, repo.inside)
        os.makedirs(inside, exist_ok=True)  # the directory may have nothing that is committed
        if prepared.setup:
            _set_up(home, session, tree, prepared, report)
        elif repository.has_submodules(top):
            report("The worktree's submodules are empty: a set-up command can fill them.")
        yield inside, tree
        undo.pop_all()
        place.write(home, session, tree | {"phase": place.MADE})


def _commit(cwd: str, base: str) -> str:
    try:
        return commit_of(cwd, base)
    except NoDiff as error:
        raise NoWorktree(error.reason, str(error), "Name another base.") from None


def name_of(name: str) -> str:
    """Return the name as part of a branch's name. Raises NoWorktree."""
    part = "-".join(name.split())
    if len(part) > MAX_NAME_LENGTH or not NAME.fullmatch(part) or ".." in part:
        raise _bad_name(name)
    return part


def _bad_name(name: str) -> NoWorktree:
    remedy = "Use letters, digits, dots, dashes and slashes."
    return NoWorktree("bad_name", f"{name[:MAX_NAME_LENGTH]!r} cannot name a branch.", remedy)


def _check_free(repo: repository.Repository, branch: str) -> None:
    git = Git(repo.git, repo.top)
    if git.try_("show-ref", "--verify", "--quiet", f"refs/heads/{branch}").code == 0:
        message = f"There is already a branch {branch} in {repo.top}."
        raise NoWorktree("branch_exists", message, "Choose another name.")


def check_programs(cwd: str) -> None:
    """Check that a worktree of a directory's repository needs no untrusted program. Raises
    Untrusted, NoWorktree."""
    _check_programs(repository.look(cwd))


def _check_programs(repo: repository.Repository) -> None:
    git = Git(repo.git, repo.top)
    names = names_of(git.data("ls-tree", "-r", "-z", "--name-only", repo.head))
    programs.check(git, names, repo.head)


def _add(repo: repository.Repository, tree: Json) -> None:
    """Create the worktree, but not by `git worktree add`, which runs another git with the
    repository's settings."""
    git = Git(repo.git, repo.top)
    _check_programs(repo)
    head = f"refs/heads/{tree['branch']}"
    git.data("update-ref", "-m", "branch: Created from HEAD", head, repo.head, "0" * len(repo.head))
    try:
        os.mkdir(tree["path"], 0o755)
        tree["admin"] = _admin(os.path.realpath(repo.git), os.path.realpath(tree["path"]), head)
        pointer = f"gitdir: {tree['admin']}\n".encode("utf-8", "surrogateescape")
        paths.write_atomic(os.path.join(tree["path"], ".git"), pointer, 0o644)
    except OSError as error:
        raise NoWorktree("git_failed", f"The worktree could not be made: {error}") from error
    made = places.at(tree["admin"], os.path.realpath(tree["path"]))
    args = ("reset", "--hard", "--quiet", "--no-recurse-submodules")
    outcome = run_git.do(tree["path"], args, seconds=SECONDS, place=made)
    if outcome.code != 0:
        raise NoWorktree("git_failed", f"git could not make the worktree: {outcome.output}")


def _admin(shared: str, top: str, head: str) -> str:
    """Create the repository's record of the worktree. It is complete when it appears, or git would
    prune it."""
    os.makedirs(above := os.path.join(shared, "worktrees"), exist_ok=True)
    fresh = os.path.join(shared, f"rookery-worktree-{secrets.token_hex(8)}")
    os.mkdir(fresh)
    os.mkdir(os.path.join(fresh, "logs"))
    parts = {"HEAD": f"ref: {head}", "commondir": "../..", "gitdir": os.path.join(top, ".git")}
    for name, text in parts.items():
        with open(os.path.join(fresh, name), "xb") as file:
            file.write(os.fsencode(f"{text}\n"))
    plain = UNUSUAL.sub("-", os.path.basename(top)).strip(".-") or "worktree"
    for number in range(MOST_NAMES):
        target = os.path.join(above, f"{plain}{number or ''}")
        if not os.path.lexists(target):
            with suppress(FileExistsError, OSError):
                os.rename(fresh, target)
                return target
    place.erase(fresh)
    raise OSError(f"{above} is full.")


# --- files and the set-up command -----------------------------------------------------------------


def _copy(source: str, top: str, patterns: tuple[str, ...], report: Report) -> list[str]:
    """Copy the files that the worktree does not have yet; return their names."""
    done: list[str] = []
    for pattern in patterns:
        for name in iglob(pattern, root_dir=source, recursive=True, include_hidden=True):
            if len(done) >= MOST_COPIED:
                raise NoWorktree(
                    "too_many_files", f"{pattern} names more than {MOST_COPIED} files."
                )
            if os.path.isdir(os.path.join(source, name)) or os.path.lexists(f"{top}/{name}"):
                continue
            try:
                files.write(top, name, files.read(source, name))
            except (files.Outside, OSError) as error:
                raise NoWorktree("not_copied", f"{name} could not be copied: {error}") from None
            done.append(name)
    if done:
        report(
            f"Copied {count(len(done), 'file')}: {', '.join(done[:5])}{' …' if done[5:] else ''}"
        )
    return done


def _set_up(home: str, session: str, tree: Json, prepared: Preparation, report: Report) -> None:
    """Run the set-up command in the worktree's root. Raises NoWorktree with the end of its
    output."""
    report(f"Set-up: {prepared.setup}")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    process = subprocess.Popen(
        ["/bin/sh", "-c", prepared.setup],
        cwd=tree["path"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment | {"ROOKERY_ORIGIN": tree["origin"]},
        start_new_session=True,
    )
    running = [process.pid, processes.start_time(process.pid)]
    place.write(home, session, tree | {"phase": place.MAKING, "setup": running})
    late = threading.Timer(SETUP, _end, [process])
    late.start()
    output: list[str] = []
    assert process.stdout is not None
    try:
        for line in process.stdout:
            output = [*output[-SAID:], line.decode("utf-8", "replace").rstrip()]
            report(f"  {output[-1]}")
        code = process.wait()
    finally:
        late.cancel()
        _end(process)  # also what it left in the background
        process.stdout.close()
    if code != 0:
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        tail = "".join(f"\n  {line}" for line in output[-SAID:])
        message = f"The set-up command failed ({how}): {prepared.setup}{tail}"
        raise NoWorktree("setup_failed", message, "Nothing was created.")


def _end(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
