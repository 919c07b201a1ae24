"""The default session of commands that are given no name: one of this directory."""

import os

import click

from rookery.cli import target
from rookery.client.fleet import Ambiguous
from rookery.core import worktree
from rookery.core.json import Json, lenient
from rookery.home import paths


def session_here(*, with_worktree: bool = False) -> str:
    """Return the latest session of this directory, or with `with_worktree` the only one that has a
    worktree. Raises UsageError, Ambiguous."""
    if target.rookery().address:
        raise click.UsageError("Name a session.")
    here = os.path.realpath(paths.work_directory())
    heads = [head for head in target.rookery().heads() if _is_of(head, here)]
    if with_worktree:
        heads = [head for head in heads if worktree.exists(head.get("worktree"))]
    if not heads:
        what = "session with a worktree" if with_worktree else "session"
        raise click.UsageError(f"This directory has no {what}. Name one: rookery ps")
    if with_worktree and len(heads) > 1:
        raise Ambiguous(os.path.basename(here), heads)
    return str(heads[0]["id"])


def _is_of(head: Json, here: str) -> bool:
    places = [head["cwd"], *(lenient.text(head.get("worktree"), key) for key in ("origin", "path"))]
    return here in [os.path.realpath(place) for place in places if place]
