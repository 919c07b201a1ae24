"""The command lines that add an extra to, update, install or remove a distribution of ours, using
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
    """Return the command line that adds an extra to this installation and keeps the existing
    ones."""
    return install_line(running(), [extra])


def install_line(installation: Installation, extras: Iterable[str] = ()) -> str:
    """Return the command line that adds extras to an installation, moving it to the new name if it
    has the old one."""
    return _line(install(installation, [*installation.extras, *extras]), installation.source)


def repair_line(installation: Installation, extra: str) -> str:
    """Return the command line that reinstalls everything with this extra, damaged files
    included."""
    *before, last = install(installation, [*installation.extras, extra])
    flag = {"pipx": [], "uv tool": ["--reinstall"], "uv pip": ["--reinstall"]}
    place = last.index("install") + 1
    anew = [*last[:place], *flag.get(installation.installer, ["--force-reinstall"]), *last[place:]]
    return _line([*before, anew], installation.source)


def uninstall_line(installation: Installation) -> str:
    """Return the command line that removes the installation; "" if it was never installed."""
    return shlex.join(uninstall(installation)) if installation.name else ""


def update(installation: Installation, source: Source | None = None) -> list[Command]:
    """Return the commands that reinstall it with its extras, even if the version is the same. If
    the old distribution is installed beside this one, it is removed first, and takes files of this
    one with it."""
    commands = install(installation, installation.extras, source, fresh=True)
    if (old := former(installation)) is None:
        return commands
    commands.insert(0, uninstall(old, ask=False))
    if installation.installer == "uv tool":
        commands[-1].insert(3, "--force")  # its command is the old one's, too
    if installation.installer == "pip" and "--force-reinstall" not in commands[-1]:
        again = [*commands[-1][:-1], "--force-reinstall", "--no-deps", commands[-1][-1]]
        commands.append(again)
    return commands


def rehearsal(installation: Installation, source: Source | None = None) -> Command:
    """Return the command that resolves and prints what `update` would install, changing nothing."""
    source = source or installation.source
    wanted = requirement(source, installation.extras)
    # pipx makes environments without pip where it finds uv.
    if installation.installer in ("uv tool", "uv pip") or find_spec("pip") is None:
        newest = ["--upgrade-package", NAME] if source.kind == "index" else []
        line = [uv(source), "pip", "install", "--dry-run", "--python", installation.python]
        return [*line, *newest, wanted]
    newest = ["--upgrade"] if source.kind == "index" else []
    return [installation.python, "-m", "pip", "install", "--dry-run", *newest, wanted]


def python_after(installation: Installation) -> str:
    """Return the interpreter of its environment after the update: that of a tool moves if its name
    changes."""
    if not installation.is_old or installation.installer not in ("uv tool", "pipx"):
        return installation.python
    below = os.path.relpath(installation.python, installation.prefix)
    return os.path.join(os.path.dirname(installation.prefix), NAME, below)


def install(
    installation: Installation,
    extras: Iterable[str],
    source: Source | None = None,
    *,
    fresh: bool = False,
) -> list[Command]:
    """Return the commands that install it with these extras, using the program that installed it,
    from its source or another one; an installation with the old name is removed first. `fresh`:
    also if this version is installed already."""
    source = source or installation.source
    anew = ["--reinstall-package", NAME] if fresh else []
    wanted = [*_editable(source), requirement(source, extras)]
    before = [uninstall(installation, source, ask=False)] if installation.is_old else []
    match installation.installer:
        case "uv tool":
            python = ["--python", _interpreter_of(installation)]  # else uv takes its own favourite
            return [*before, [uv(source), "tool", "install", *anew, *python, *wanted]]
        case "pipx":
            python = ["--python", _interpreter_of(installation)]
            return [*before, ["pipx", "install", "--force", *python, *wanted]]
        case "uv pip":
            line = [uv(source), "pip", "install", "--python", installation.python]
            return [*before, [*line, *anew, *wanted]]
    line = [installation.python, "-m", "pip", "install"]
    upgrade = ["--upgrade"] if fresh and source.kind == "index" else []
    commands = [*before, [*line, *upgrade, *wanted]]
    if fresh and source.kind in ("file", "url", "git"):
        # pip takes a package of the same version for the same package.
        commands.append([*line, "--force-reinstall", "--no-deps", requirement(source, ())])
    return commands


def uninstall(
    installation: Installation, source: Source | None = None, *, ask: bool = True
) -> Command:
    """Return the command that removes it. Without `ask`, it asks nothing even if the installer
    would. `source`: what will replace it."""
    tool = uv(source or installation.source)
    match installation.installer:
        case "uv tool":
            return [tool, "tool", "uninstall", installation.name]
        case "pipx":
            return ["pipx", "uninstall", os.path.basename(installation.prefix)]
        case "uv pip":
            return [tool, "pip", "uninstall", "--python", installation.python, installation.name]
    yes = [] if ask else ["--yes"]
    return [installation.python, "-m", "pip", "uninstall", *yes, installation.name]


def requirement(source: Source, extras: Iterable[str]) -> str:
    """Return the distribution with these extras, in the form that pip, pipx and uv all accept."""
    names = ",".join(sorted(set(extras), key=EXTRAS.index))
    brackets = f"[{names}]" if names else ""
    if source.is_local:
        return (source.place if _is_there(source) else ".") + brackets
    return NAME + brackets + (f" @ {source.place}" if source.place else "")


def uv(source: Source) -> str:
    """Return the uv on PATH, else the one that `scripts/uv` put into the checkout."""
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


def _interpreter_of(installation: Installation) -> str:
    """The interpreter that its environment was made from, which outlives it."""
    return os.path.realpath(installation.python)
