"""The session that is meant where none is named: one of this directory."""

import os

import click

from rookery.cli import target
from rookery.client.fleet import Ambiguous
from rookery.core import worktree
from rookery.core.json import Json, lenient
from rookery.home import paths


def session_here(*, with_worktree: bool = False) -> str:
    """The latest one; of those with a worktree, the only one. Raises UsageError, Ambiguous."""
    if target.rookery().address:
        raise click.UsageError("Name a session.")
    here = os.path.realpath(paths.work_directory())
    found = [head for head in target.rookery().heads() if _is_of(head, here)]
    if with_worktree:
        found = [head for head in found if worktree.exists(head.get("worktree"))]
    if not found:
        what = "session with a worktree" if with_worktree else "session"
        raise click.UsageError(f"This directory has no {what}. Name one: rookery ps")
    if with_worktree and len(found) > 1:
        raise Ambiguous(os.path.basename(here), found)
    return str(found[0]["id"])


def _is_of(head: Json, here: str) -> bool:
    places = [head["cwd"], *(lenient.text(head.get("worktree"), key) for key in ("origin", "path"))]
    return here in [os.path.realpath(place) for place in places if place]
