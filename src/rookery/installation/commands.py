"""The command lines that add an extra, update, install or remove a distribution of ours, each for
the program that installed it."""

import os
import shlex
import shutil
from collections.abc import Iterable
from importlib.util import find_spec

from rookery.installation.distribution import (
    EXTRAS,
    NAME,
    Installation,
    Source,
    former,
    running,
)

type Command = list[str]

SOMEWHERE = "  # in a checkout of Rookery"
"""Ends a line whose source is unknown or gone."""


def extra_line(extra: str) -> str:
    """The line that adds an extra to this installation and keeps those that are there."""
    return install_line(running(), [extra])


def install_line(found: Installation, extras: Iterable[str] = ()) -> str:
    """The line that adds extras to an installation. What has the old name is moved."""
    return _line(install(found, [*found.extras, *extras]), found.source)


def repair_line(found: Installation, extra: str) -> str:
    """The line that installs everything anew, with this extra: files that were damaged, too."""
    *before, last = install(found, [*found.extras, extra])
    flag = {"pipx": [], "uv tool": ["--reinstall"], "uv pip": ["--reinstall"]}
    place = last.index("install") + 1
    anew = [*last[:place], *flag.get(found.installer, ["--force-reinstall"]), *last[place:]]
    return _line([*before, anew], found.source)


def uninstall_line(found: Installation) -> str:
    """The line that removes it; "": it was never installed."""
    return shlex.join(uninstall(found)) if found.name else ""


def update(found: Installation, source: Source | None = None) -> list[Command]:
    """Install it anew with the extras that it has, even if the version is the same. Where the old
    distribution stands beside this one, it goes first, and takes files of this one with it."""
    commands = install(found, found.extras, source, fresh=True)
    if (old := former(found)) is None:
        return commands
    commands.insert(0, uninstall(old, ask=False))
    if found.installer == "uv tool":
        commands[-1].insert(3, "--force")  # its command is the old one's, too
    if found.installer == "pip" and "--force-reinstall" not in commands[-1]:
        again = [*commands[-1][:-1], "--force-reinstall", "--no-deps", commands[-1][-1]]
        commands.append(again)
    return commands


def rehearsal(found: Installation, source: Source | None = None) -> Command:
    """Resolve what `update` would install, and say it; nothing is changed."""
    source = source or found.source
    wanted = requirement(source, found.extras)
    # pipx makes environments without pip where it finds uv.
    if found.installer in ("uv tool", "uv pip") or find_spec("pip") is None:
        newest = ["--upgrade-package", NAME] if source.kind == "index" else []
        line = [uv(source), "pip", "install", "--dry-run", "--python", found.python]
        return [*line, *newest, wanted]
    newest = ["--upgrade"] if source.kind == "index" else []
    return [found.python, "-m", "pip", "install", "--dry-run", *newest, wanted]


def python_after(found: Installation) -> str:
    """The interpreter of its environment once it is updated: that of a tool whose name changes
    moves."""
    if not found.is_old or found.installer not in ("uv tool", "pipx"):
        return found.python
    below = os.path.relpath(found.python, found.prefix)
    return os.path.join(os.path.dirname(found.prefix), NAME, below)


def install(
    found: Installation,
    extras: Iterable[str],
    source: Source | None = None,
    *,
    fresh: bool = False,
) -> list[Command]:
    """Install it with these extras, by the program that installed it, from where it came from or
    from another source; what has the old name is removed first. `fresh`: also if this version is
    installed."""
    source = source or found.source
    anew = ["--reinstall-package", NAME] if fresh else []
    wanted = [*_editable(source), requirement(source, extras)]
    before = [uninstall(found, source, ask=False)] if found.is_old else []
    match found.installer:
        case "uv tool":
            python = ["--python", _interpreter_of(found)]  # else uv takes its own favourite
            return [*before, [uv(source), "tool", "install", *anew, *python, *wanted]]
        case "pipx":
            python = ["--python", _interpreter_of(found)]
            return [*before, ["pipx", "install", "--force", *python, *wanted]]
        case "uv pip":
            line = [uv(source), "pip", "install", "--python", found.python]
            return [*before, [*line, *anew, *wanted]]
    line = [found.python, "-m", "pip", "install"]
    upgrade = ["--upgrade"] if fresh and source.kind == "index" else []
    commands = [*before, [*line, *upgrade, *wanted]]
    if fresh and source.kind in ("file", "url", "git"):
        # pip takes a package of the same version for the same package.
        commands.append([*line, "--force-reinstall", "--no-deps", requirement(source, ())])
    return commands


def uninstall(found: Installation, source: Source | None = None, *, ask: bool = True) -> Command:
    """Remove it. Unless `ask`, nothing is asked where the installer would. `source`: what comes in
    its place."""
    tool = uv(source or found.source)
    match found.installer:
        case "uv tool":
            return [tool, "tool", "uninstall", found.name]
        case "pipx":
            return ["pipx", "uninstall", os.path.basename(found.prefix)]
        case "uv pip":
            return [tool, "pip", "uninstall", "--python", found.python, found.name]
    yes = [] if ask else ["--yes"]
    return [found.python, "-m", "pip", "uninstall", *yes, found.name]


def requirement(source: Source, extras: Iterable[str]) -> str:
    """The distribution with these extras, as pip, pipx and uv all take it."""
    wanted = ",".join(sorted(set(extras), key=EXTRAS.index))
    brackets = f"[{wanted}]" if wanted else ""
    if source.is_local:
        return (source.place if _is_there(source) else ".") + brackets
    return NAME + brackets + (f" @ {source.place}" if source.place else "")


def uv(source: Source) -> str:
    """The uv on PATH, else the one that `scripts/uv` put into the checkout."""
    own = os.path.join(source.place, ".uv", "bin", "uv")
    known = not shutil.which("uv") and source.is_local and os.access(own, os.X_OK)
    return own if known else "uv"


def _line(commands: list[Command], source: Source) -> str:
    lost = "" if _is_there(source) else SOMEWHERE
    return " && ".join(map(shlex.join, commands)) + lost


def _is_there(source: Source) -> bool:
    return not source.is_local or (bool(source.place) and not source.is_gone)


def _editable(source: Source) -> list[str]:
    return ["--editable"] if source.kind == "editable" else []


def _interpreter_of(found: Installation) -> str:
    """The interpreter that its environment was made from, which outlives it."""
    return os.path.realpath(found.python)
