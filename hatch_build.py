"""Stamps a wheel with the source that it is built from, for `rookery/build.py` to read: the commit
and its time; where the tree was changed, or has no git, the time of the latest change and a digest.

Standard library and hatchling alone: it runs where a wheel is built, before anything is installed.
"""

import hashlib
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, override

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STAMP = "build-stamp.txt"
PACKAGE = "src/rookery"


class Stamp(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    @override
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if version == "editable" or (root / PACKAGE / STAMP).exists():
            return  # a checkout knows its commit; a source archive has its stamp already
        place = Path(tempfile.mkdtemp(prefix="rookery-build-")) / STAMP
        place.write_text(stamp(root) + "\n")
        folder = PACKAGE if self.target_name == "sdist" else "rookery"
        build_data["force_include"][str(place)] = f"{folder}/{STAMP}"
        self._place = place

    @override
    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if (place := getattr(self, "_place", None)) is not None:
            place.unlink()
            place.parent.rmdir()


def stamp(root: Path) -> str:
    """COMMIT.TIME of an unchanged checkout, else COMMIT.TIME.DIGEST."""
    top = _git(root, "rev-parse", "--show-toplevel")
    ours = bool(top) and os.path.samefile(top, root)
    commit = _git(root, "rev-parse", "HEAD")[:12] if ours else ""
    changes = _git(root, "status", "--porcelain", "--untracked-files=all", "--", PACKAGE)
    if commit and not changes:
        return f"{commit}.{_utc(float(_git(root, 'show', '-s', '--format=%ct', 'HEAD')))}"
    files = sorted(
        path
        for path in (root / PACKAGE).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    latest = max(path.stat().st_mtime for path in files)
    return f"{commit or 'none'}.{_utc(latest)}.{digest.hexdigest()[:8]}"


def _utc(seconds: float) -> str:
    return time.strftime("%Y%m%d%H%M%S", time.gmtime(seconds))


def _git(root: Path, *words: str) -> str:
    """What git prints; "": there is none, or it fails."""
    try:
        done = subprocess.run(
            ["git", *words], cwd=root, capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
