"""Installs agents that are npm or PyPI packages, or programs of the public registry, into a folder
of Rookery's home: nothing is installed globally, and everything goes with the folder.

    $ROOKERY_HOME/agents/NAME/bin           links to the programs; created last, once complete
    $ROOKERY_HOME/agents/NAME/node_modules  or: environment, a virtual environment of Python
    $ROOKERY_HOME/agents/NAME/DIGEST        or: an unpacked archive; `bin` is a link into it"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from rookery.agents import archives, downloads, programs
from rookery.agents.downloads import Download
from rookery.agents.registry import AGENTS, Entry, lacks_module, resolve
from rookery.core.refusals import Fixed

NPM = "npm"
PYPI = "PyPI"
REGISTRY = "ACP registry"
BIN = "bin"
MODULES = "node_modules"
ENVIRONMENT = "environment"
NEW = ".new-"
"""Prefix of the folder of an unfinished installation; if that was killed, the next one
removes it."""


class InstallError(Fixed):
    """An agent cannot be installed; the message says why and what to do."""

    reason = "not_installable"


class Recipe(NamedTuple):
    source: str
    packages: tuple[str, ...]
    program: str
    python: str = ""
    """The version of Python that it needs; "": any."""


class Plan(NamedTuple):
    """The commands of an installation, and where they run."""

    place: str
    recipe: Recipe
    commands: list[list[str]]
    tool: str
    """The npm, uv or Python that installs it."""
    download: Download | None = None
    """What is downloaded instead."""


class Cancelled(InstallError):
    """The user cancelled the installation."""


class Watch:
    """Gets the output of the commands, line by line, and can end them from another thread."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self.tell = tell
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._cancelled = False

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            self._kill()

    def run(self, line: Sequence[str], place: str, environment: Mapping[str, str]) -> int:
        """Run a command and return its exit code. Raises Cancelled, OSError."""
        environment = {"npm_config_loglevel": "http", **environment}  # else npm says nothing
        with self._lock:
            self.check()
            self._process = subprocess.Popen(
                line,
                cwd=place,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,  # what it starts ends with it
            )
        with self._process as process:
            assert process.stdout is not None
            for each in process.stdout:
                self.tell(each)
        self.check()
        return process.returncode

    def check(self) -> None:
        """Raise Cancelled if the user has cancelled."""
        if self._cancelled:
            raise Cancelled("Nothing was installed: you cancelled it.")

    def _kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)


def recipe(entry: Entry) -> Recipe | None:
    """Derive the recipe from the command that installs the agent for the whole user; None if it is
    no package."""
    match shlex.split(entry.install):
        case ["npm", "install", "-g", *packages]:
            return Recipe(NPM, tuple(packages), entry.argv[0])
        case ["uv", "tool", "install", *args]:
            python, packages = "", list[str]()
            while args:
                word = args.pop(0)
                if word == "--python":
                    python = args.pop(0)
                elif word != "--with":
                    packages.append(word)
            return Recipe(PYPI, tuple(packages), entry.argv[0], python)
    return None


def can_install(name: str) -> bool:
    """Tell whether the agent is a package that Rookery knows."""
    return name in AGENTS and recipe(AGENTS[name]) is not None


def is_installable(home: str, name: str) -> bool:
    """Tell whether `plan` can plan it: it is a package, or the registry offers it."""
    return can_install(name) or downloads.offered(home, name) is not None


def program_of(home: str, name: str) -> str:
    """Return the program that an installation provides; "" if Rookery cannot install it."""
    if can_install(name):
        return AGENTS[name].argv[0]
    if downloads.offered(home, name) is None:
        return ""
    return AGENTS[name].argv[0] if name in AGENTS else downloads.link_of(name)


def folder(home: str, name: str) -> str:
    return os.path.join(home, programs.FOLDER, name)


def is_ours(home: str, name: str) -> bool:
    """Tell whether there is an installation of it, complete or not."""
    known = name in AGENTS or downloads.offered(home, name) is not None
    return known and os.path.isdir(folder(home, name))


def plan(home: str, name: str, environment: Mapping[str, str], node_path: str = "") -> Plan:
    """Plan the installation of an agent. Raises InstallError."""
    method = recipe(AGENTS[name]) if name in AGENTS else None
    if method is None and (download := downloads.offered(home, name)) is not None:
        given = Recipe(REGISTRY, (download.archive,), program_of(home, name))
        return Plan(folder(home, name), given, [], "", download)
    if method is None:
        agent = resolve(name, {})
        ours = agent.argv[0] == sys.executable and not lacks_module(agent)
        how = "" if ours else AGENTS[name].install
        raise InstallError(
            f"{name} is not one npm or PyPI package: {how}" if how else f"{name} is included."
        )
    place = folder(home, name)
    if method.source == NPM:
        npm = programs.find(NPM, environment, node_path=node_path)
        if npm is None:
            reason = "is an npm package, and npm is not installed. It comes with Node.js"
            raise InstallError(f"{name} {reason}: https://nodejs.org")
        line = [npm, "install", "--prefix", place, "--no-global", "--no-audit", "--no-fund"]
        return Plan(place, method, [[*line, *method.packages]], npm)
    return _python_plan(name, place, method, environment)


def _python_plan(name: str, place: str, method: Recipe, environment: Mapping[str, str]) -> Plan:
    inside = os.path.join(place, ENVIRONMENT)
    python = os.path.join(inside, BIN, "python")
    if uv := programs.find("uv", environment):
        options = ["--python", method.python] if method.python else []
        made = [uv, "venv", "--quiet", "--allow-existing", *options, inside]
        line = [uv, "pip", "install", "--python", python, "--upgrade", *method.packages]
        return Plan(place, method, [made, line], uv)
    own = ".".join(map(str, sys.version_info[:2]))
    base = sys.executable
    if method.python and method.python != own:
        base = programs.find(f"python{method.python}", environment) or ""
        if not base:
            reason = f"needs Python {method.python}, which is not installed. uv fetches it"
            raise InstallError(f"{name} {reason}: https://docs.astral.sh/uv")
    line = [python, "-m", "pip", "install", "--no-user", "--upgrade", *method.packages]
    return Plan(place, method, [[base, "-m", "venv", inside], line], base)


def install(wanted: Plan, environment: Mapping[str, str], watch: Watch | None = None) -> None:
    """Run the commands, their output on stderr or watched, and link the programs. A failure leaves
    nothing behind, unless an existing agent was being updated. Raises InstallError, OSError."""
    if wanted.download is not None:
        _install_download(wanted, wanted.download, watch)
        return
    place = wanted.place
    known = os.path.isdir(os.path.join(place, BIN))
    done = False
    try:
        os.makedirs(place, mode=0o700, exist_ok=True)
        if wanted.recipe.source == NPM:
            with suppress(FileExistsError), open(f"{place}/package.json", "x") as file:
                file.write('{"private": true}\n')
        for line in wanted.commands:
            _run(line, place, _surroundings(wanted, environment), watch)
        _link(wanted)
        done = True
    finally:
        if not done and not known:
            with suppress(OSError):
                _delete(place)


def _install_download(wanted: Plan, download: Download, watch: Watch | None) -> None:
    """Unpack the download beside what is there, which a link replaces at the end."""
    place, name = wanted.place, os.path.basename(wanted.place)
    home = os.path.dirname(os.path.dirname(place))
    os.makedirs(place, mode=0o700, exist_ok=True)
    stage = tempfile.mkdtemp(prefix=NEW, dir=place)
    try:
        digest = _fetched(download, os.path.join(stage, "archive"), watch)
        downloads.check_digest(home, name, download, digest)
        files = os.path.join(stage, "files")
        os.mkdir(files, 0o700)
        program = archives.unpack(os.path.join(stage, "archive"), files, download.program)
        os.unlink(os.path.join(stage, "archive"))
        os.mkdir(os.path.join(stage, BIN), 0o700)
        target = os.path.join("..", os.path.relpath(program, stage))
        os.symlink(target, os.path.join(stage, BIN, wanted.recipe.program))
        if watch is not None:
            watch.check()
        downloads.keep_digest(home, name, download, digest)
        _put_in_place(place, stage, digest[:16])
    except (downloads.DownloadError, archives.BadArchive) as error:
        raise InstallError(f"Nothing was installed: {error}") from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        with suppress(OSError):  # the agent is there
            os.rmdir(place)


def _fetched(download: Download, path: str, watch: Watch | None) -> str:
    """Download the archive and return its digest, reporting every few MiB."""

    def report(size: int, total: int) -> None:
        if watch is not None:
            watch.check()
            of = f" of {total / 1e6:,.0f}" if total else ""
            watch.tell(f"{size / 1e6:,.0f}{of} MB\n")

    with open(path, "xb") as file:
        digest = downloads.fetch(download.archive, file, report)
    if watch is not None:
        watch.tell(f"sha256:{digest}\n")
    return digest


def _put_in_place(place: str, stage: str, name: str) -> None:
    final, link = os.path.join(place, name), os.path.join(place, BIN)
    again = os.path.exists(final) and os.path.realpath(link).startswith(final + os.sep)
    if os.path.exists(final):
        name = f"{name}-{os.path.basename(stage).removeprefix(NEW)}" if again else name
        final = os.path.join(place, name)
        shutil.rmtree(final, ignore_errors=True)
    os.rename(stage, final)
    os.symlink(os.path.join(name, BIN), f"{final}.link")
    if os.path.isdir(link) and not os.path.islink(link):  # of a package that it was before
        shutil.rmtree(link)
    os.replace(f"{final}.link", link)
    for each in os.listdir(place):
        if each not in (name, BIN):
            old = os.path.join(place, each)
            if os.path.isdir(old) and not os.path.islink(old):
                shutil.rmtree(old, ignore_errors=True)
            else:
                os.unlink(old)


def remove(home: str, name: str) -> None:
    """Delete an installed agent. Raises OSError."""
    _delete(folder(home, name))


def _delete(place: str) -> None:
    shutil.rmtree(place)
    with suppress(OSError):  # others are still there
        os.rmdir(os.path.dirname(place))


def _surroundings(wanted: Plan, environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which npm finds the node beside it, and pip sees no package of ours."""
    given = {name: value for name, value in environment.items() if not name.startswith("PYTHON")}
    given.pop("VIRTUAL_ENV", None)
    if wanted.recipe.source == NPM:
        path = [os.path.dirname(wanted.tool), given.get("PATH", os.defpath)]
        given["PATH"] = os.pathsep.join(path)
    return given


def _run(
    line: Sequence[str], place: str, environment: Mapping[str, str], watch: Watch | None
) -> None:
    shown = shlex.join(line)
    try:
        if watch is not None:
            code = watch.run(line, place, environment)
        else:  # stdout belongs to the command line's own result
            code = subprocess.run(
                line, cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=2, check=False
            ).returncode
    except OSError as error:
        raise InstallError(f"{line[0]}: {error.strerror}.") from None
    if code:
        raise InstallError(f"Nothing was installed: {shown} failed (exit code {code}).")


def _link(wanted: Plan) -> None:
    """Link the programs of the packages, and the node that installed them: another may be
    too old."""
    place = wanted.place
    targets = _npm_programs(wanted) if wanted.recipe.source == NPM else _python_programs(wanted)
    if wanted.recipe.program not in targets:
        names = " ".join(wanted.recipe.packages)
        raise InstallError(f"Nothing was installed: {names} has no {wanted.recipe.program}.")
    made = os.path.join(place, BIN)
    os.makedirs(made, mode=0o700, exist_ok=True)
    for name, target in targets.items():
        link = os.path.join(made, name)
        if os.path.lexists(link):
            os.unlink(link)
        os.symlink(target, link)


def _npm_programs(wanted: Plan) -> dict[str, str]:
    modules = os.path.join(wanted.place, MODULES)
    targets = {}
    for package in wanted.recipe.packages:
        for name in _bins(os.path.join(modules, package)):
            program = os.path.join(modules, ".bin", name)
            if programs.is_program(program):
                targets[name] = program
    node = os.path.join(os.path.dirname(wanted.tool), "node")
    return targets | ({"node": node} if targets and programs.is_program(node) else {})


def _bins(package: str) -> list[str]:
    """The programs that a package declares."""
    try:
        with open(os.path.join(package, "package.json"), encoding="utf-8") as file:
            manifest = json.load(file)
    except (OSError, ValueError):
        return []
    bins = manifest.get("bin") if isinstance(manifest, dict) else None
    if isinstance(bins, str):
        return [os.path.basename(str(manifest.get("name", "")))]
    names = list(bins) if isinstance(bins, dict) else []
    return [name for name in names if isinstance(name, str) and os.path.basename(name) == name]


def _python_programs(wanted: Plan) -> dict[str, str]:
    name = wanted.recipe.program
    program = os.path.join(wanted.place, ENVIRONMENT, BIN, name)
    return {name: program} if programs.is_program(program) else {}
