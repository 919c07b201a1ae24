"""Stamps a wheel with the source that it is built from, for `rookery/build.py` to read: the commit
and its time; where the tree was changed, or has no git, the time of the latest change and a digest.
Minifies the page's scripts and styles in it.

It runs where a wheel is built, before anything is installed: only what `build-system.requires` in
pyproject.toml names is there.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, override

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STAMP = "build-stamp.txt"
PACKAGE = "src/rookery"
ASSETS = "daemon/assets"
MINIFIED = {".js": "application/javascript", ".css": "text/css"}


class Hook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    @override
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # a checkout knows its commit, and serves the page as it is written
        root, package = Path(self.root), PACKAGE if self.target_name == "sdist" else "rookery"
        made = {} if self.target_name == "sdist" else minified(root)
        if not (root / PACKAGE / STAMP).exists():  # else it is a source archive
            made[STAMP] = stamp(root) + "\n"
        self._folder = Path(tempfile.mkdtemp(prefix="rookery-build-"))
        for name, text in made.items():
            file = self._folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            build_data["force_include"][str(file)] = f"{package}/{name}"

    @override
    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if (folder := getattr(self, "_folder", None)) is not None:
            shutil.rmtree(folder)


def minified(root: Path) -> dict[str, str]:
    """Return the page's scripts and styles, minified, by their paths in the package; none where
    there is no minifier, and they are shipped as they are written."""
    try:
        import minify
    except ImportError:
        return {}
    package = root / PACKAGE
    return {
        path.relative_to(package).as_posix(): minify.string(
            MINIFIED[path.suffix], path.read_text(encoding="utf-8")
        )
        for path in sorted((package / ASSETS).glob("*"))
        if path.suffix in MINIFIED
    }


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
