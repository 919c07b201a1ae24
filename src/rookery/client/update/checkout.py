"""Git in the checkout that Rookery was installed from. An agent may have edited its configuration,
so no program named there is run. The user's own configuration applies for reaching the upstream."""

import os
import subprocess

from rookery.client.work_tree import git
from rookery.client.worktrees import programs
from rookery.client.worktrees.repository import Git, NoWorktree, names_of
from rookery.core.refusals import Fixed
from rookery.git import places, settings, shadow
from rookery.git.program import NoGit, for_network
from rookery.home import paths

SECONDS = 120.0
"""For a fetch."""
UPSTREAM = "@{upstream}"


class Failed(Fixed):
    """Git failed; the message is its own."""

    reason = "git_failed"


def ask(place: str, *args: str) -> str:
    """Return what git prints; "" if it fails."""
    output = git.run(place, args)
    return output.data.decode("utf-8", "replace").strip() if output else ""


def fetch(place: str) -> None:
    """Fetch what the branch's upstream has. Raises Failed."""
    repository = places.find(place)
    if repository is None:
        raise Failed(f"{place} is not in a git repository.")
    args = ["fetch", "--quiet", "--no-recurse-submodules", "--no-auto-maintenance"]
    home = paths.home() if os.path.isdir(paths.home()) else ""
    try:
        more = settings.read(repository).network
        with (
            shadow.opened(repository, more=more, home=home, writes=True) as opened,
            opened.start(place, args, stderr=subprocess.PIPE, more=for_network()) as process,
        ):
            try:
                _, errors = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise Failed(f"git fetch did not end within {SECONDS:.0f} s.") from None
    except (NoGit, OSError) as error:
        raise Failed(str(error)) from error
    if process.returncode:
        raise Failed(errors.decode("utf-8", "replace").strip())


def fast_forward(place: str) -> str:
    """Fast-forward to the upstream; return what git prints. Raises Failed."""
    repository = places.find(place)
    if repository is None:
        raise Failed(f"{place} is not in a git repository.")
    try:
        store = Git(repository.own, repository.top)
        changed = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "HEAD", UPSTREAM)
        programs.check(store, names_of(store.data(*changed)), UPSTREAM)
    except NoWorktree as error:
        raise Failed(error.sentences) from error
    done = git.do(place, ["merge", "--ff-only", "--stat", UPSTREAM])
    if done.code != 0:
        raise Failed(done.output)
    return done.data.decode("utf-8", "replace")


def fast_forward_line(place: str) -> list[str]:
    """Return the command line equivalent to `fast_forward`, as a user would type it."""
    return ["git", "-C", place, "merge", "--ff-only", UPSTREAM]
