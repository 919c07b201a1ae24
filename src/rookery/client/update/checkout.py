"""Git in the checkout that Rookery was installed from. An agent may have edited its configuration,
so nothing that it names is run. To reach its upstream, the user's own configuration counts."""

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
    """The message is git's own."""

    reason = "git_failed"


def ask(place: str, *words: str) -> str:
    """What git prints; "": it fails."""
    found = git.run(place, words)
    return found.data.decode("utf-8", "replace").strip() if found else ""


def fetch(place: str) -> None:
    """What the branch's upstream has. Raises Failed."""
    found = places.find(place)
    if found is None:
        raise Failed(f"{place} is not in a git repository.")
    words = ["fetch", "--quiet", "--no-recurse-submodules", "--no-auto-maintenance"]
    home = paths.home() if os.path.isdir(paths.home()) else ""
    try:
        more = settings.read(found).network
        with (
            shadow.opened(found, more=more, home=home, writes=True) as opened,
            opened.start(place, words, stderr=subprocess.PIPE, more=for_network()) as process,
        ):
            try:
                _, said = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise Failed(f"git fetch did not end within {SECONDS:.0f} s.") from None
    except (NoGit, OSError) as error:
        raise Failed(str(error)) from error
    if process.returncode:
        raise Failed(said.decode("utf-8", "replace").strip())


def fast_forward(place: str) -> str:
    """To the upstream. What git prints. Raises Failed."""
    found = places.find(place)
    if found is None:
        raise Failed(f"{place} is not in a git repository.")
    try:
        store = Git(found.own, found.top)
        changed = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "HEAD", UPSTREAM)
        programs.check(store, names_of(store.data(*changed)), UPSTREAM)
    except NoWorktree as error:
        raise Failed(error.sentences) from error
    done = git.do(place, ["merge", "--ff-only", "--stat", UPSTREAM])
    if done.code != 0:
        raise Failed(done.said)
    return done.data.decode("utf-8", "replace")


def fast_forward_line(place: str) -> list[str]:
    """What `fast_forward` does, as one would type it."""
    return ["git", "-C", place, "merge", "--ff-only", UPSTREAM]
