"""Available updates: the build that can be had from where this one came, or at a path, and what is
new in it. Looking changes nothing, except that a checkout fetches its upstream."""

import os
import re
import shlex
import subprocess
import time
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from email.parser import HeaderParser
from typing import NamedTuple

from rookery.build import DIFFERS, SAME, STAMP, build, compare, installed, parts
from rookery.client.update import checkout
from rookery.core.json.safe_text import count
from rookery.core.refusals import Fixed
from rookery.installation import commands
from rookery.installation.distribution import AUTHOR, NAME, Installation, Source

SECONDS = 120.0
"""For one program that looks over a network."""
SHOWN = 10
"""Commits that are told one by one."""
ADDRESS = re.compile(r"git\+(?P<url>\w+://[^/]*/[^@#]*)(?:@(?P<revision>[^#]+))?(?:#|$)")
FIXED = re.compile(r"[0-9a-f]{7,40}")


class Unavailable(Fixed):
    """There is nothing to update to, or it is impossible to tell; the message says what to do."""

    reason = "no_update"


class Offer(NamedTuple):
    source: Source
    build: str
    """Its name; "": not known before it is installed."""
    order: str
    """How it relates to the installed build, as `build.compare` tells it."""
    news: Sequence[str] = ()
    """Subjects of its commits that the installed build does not have, the latest first."""
    pull: bool = False
    """Whether the checkout is to be brought up to its upstream first."""
    note: str = ""
    """What the user has to do for there to be anything new."""


def look(installation: Installation, path: str = "") -> Offer:
    """Return what an installation can be updated to. Blocks. Raises Unavailable."""
    if path:
        return _at(os.path.abspath(path))
    source = installation.source
    match source.kind:
        case "editable" | "checkout":
            if not source.place or source.is_gone:
                raise Unavailable(f"{_was_from(source)}, which is gone. {BY_PATH}")
            return _upstream(source)
        case "file":
            if source.is_gone:
                raise Unavailable(f"{_was_from(source)}, which is gone. {BY_PATH}")
            return _wheel(source.place)._replace(note=BY_PATH)
        case "git":
            return _address(source)
        case "index":
            return _index(installation)
    return Offer(source, "", DIFFERS)


BY_PATH = "To update from another place: rookery update PATH, a wheel or a checkout."


def _was_from(source: Source) -> str:
    return f"Rookery was installed from {source.place or 'a folder'}"


def _at(path: str) -> Offer:
    if os.path.isdir(path):
        try:
            with open(os.path.join(path, "pyproject.toml"), "rb") as file:
                name = tomllib.load(file).get("project", {}).get("name")
        except (OSError, ValueError, AttributeError):
            name = None
        if name != NAME:
            raise Unavailable(f"{path} is not a checkout of Rookery ({NAME}).")
        return _checkout(Source("checkout", path), "HEAD")
    if not os.path.exists(path):
        raise Unavailable(f"There is no file {path}.")
    return _wheel(path)


def _wheel(path: str) -> Offer:
    """The offer of a file: ours if its name and author are, whatever the file is called."""
    try:
        with zipfile.ZipFile(path) as file:
            names = file.namelist()
            place = next(name for name in names if name.endswith(".dist-info/METADATA"))
            about = HeaderParser().parsestr(file.read(place).decode())
            stamp = f"rookery/{STAMP}"
            source = file.read(stamp).decode().strip() if stamp in names else ""
    except (OSError, ValueError, StopIteration, zipfile.BadZipFile) as error:
        raise Unavailable(f"{path} is not a wheel.") from error
    if about["Name"] != NAME or about["Author"] != AUTHOR:
        raise Unavailable(f"{path} is a wheel of {about['Name']}, not of {NAME}.")
    name = f"{about['Version']}+{source}".rstrip("+")
    return Offer(Source("file", path), name, compare(name))


# ---------------------------------------------------------------- git


def _upstream(source: Source) -> Offer:
    """The offer of a checkout: the upstream of its branch, if that is ahead."""
    place = source.place
    if not os.path.exists(os.path.join(place, ".git")):
        note = f"{place} is not a git repository: bring it up to date yourself."
        order = compare(installed()) if source.kind == "editable" else DIFFERS
        return Offer(source, "", order, note=note)
    if not checkout.ask(place, "rev-parse", "--abbrev-ref", "@{upstream}"):
        note = f"The branch in {place} follows no upstream: bring it up to date yourself."
        return _checkout(source, "HEAD")._replace(note=note)
    try:
        checkout.fetch(place)
    except checkout.Failed as error:
        raise Unavailable(f"The upstream of {place} cannot be reached: {error}") from error
    behind = checkout.ask(place, "rev-list", "--count", "HEAD..@{upstream}")
    if behind in ("", "0"):
        return _checkout(source, "HEAD")
    if checkout.ask(place, "status", "--porcelain", "--untracked-files=no"):
        raise Unavailable(
            f"{place} is behind its upstream ({count(int(behind), 'commit')}) and has changes that "
            "are not committed. Commit or stash them, then run this again."
        )
    if checkout.ask(place, "rev-list", "--count", "@{upstream}..HEAD") != "0":
        raise Unavailable(
            f"{place} and its upstream have both moved on. Merge or rebase there, then run this "
            "again."
        )
    return _checkout(source, "@{upstream}")._replace(pull=True)


def _checkout(source: Source, revision: str) -> Offer:
    """The offer of a checkout at a revision; including its uncommitted changes, if that is HEAD."""
    place = source.place
    commit = checkout.ask(place, "rev-parse", "--short=12", revision)
    if not commit:
        return Offer(source, "", DIFFERS)
    text = checkout.ask(place, "show", f"{revision}:src/rookery/__init__.py")
    version = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    when = time.gmtime(float(checkout.ask(place, "show", "-s", "--format=%ct", commit) or 0))
    name = f"{version[1] if version else '0'}+{commit}.{time.strftime('%Y%m%d%H%M%S', when)}"
    if source.kind != "editable" and revision == "HEAD":
        changed = checkout.ask(place, "status", "--porcelain", "--", "src")
        name += ".changed" if changed else ""
    own = parts(build()).commit
    log = checkout.ask(place, "log", "--no-merges", "--format=%s", f"{own}..{commit}")
    return Offer(source, name, compare(name), log.splitlines())


def _address(source: Source) -> Offer:
    """The offer of an address like git+https://host/path@branch."""
    match = ADDRESS.match(source.place)
    if match is None:
        return Offer(source, "", DIFFERS)
    url, revision = match["url"], match["revision"] or ""
    if FIXED.fullmatch(revision):
        raise Unavailable(f"{_was_from(source)}: a fixed commit. {BY_PATH}")
    lines = _run(["git", "ls-remote", "--", url, revision or "HEAD"]).splitlines()
    if not lines:
        raise Unavailable(f"{url} has no {revision or 'HEAD'}.")
    commit = lines[0].split()[0][:12]
    own = parts(build())
    order = SAME if own.commit == commit and not own.digest else DIFFERS
    return Offer(source, f"{own.version}+{commit}", order)


# ---------------------------------------------------------------- an index


def _index(installation: Installation) -> Offer:
    """The offer of the package index, as the installer itself would choose."""
    output = _run(commands.rehearsal(installation))
    versions = re.findall(rf"\b{NAME.replace('-', '[-_]')}(?:==|-)(\d[\w.]*)", output)
    newest = versions[-1] if versions else installation.version
    order = SAME if newest == installation.version else compare(f"{newest}+index")
    return Offer(installation.source, newest, order)


# ---------------------------------------------------------------- programs


def rehearse(installation: Installation, source: Source) -> None:
    """Resolve what would be installed, without installing anything. Raises Unavailable."""
    _run(commands.rehearsal(installation, source))


def quiet_environment() -> Mapping[str, str]:
    """Return an environment in which nothing asks for a password, pip does not announce its own
    updates, programs are not looked up below the working directory, and git is not pointed at a
    repository."""
    environment = {
        key: each for key, each in os.environ.items() if key not in ("GIT_DIR", "PYTHONPATH")
    }
    path = [
        each
        for each in environment.get("PATH", os.defpath).split(os.pathsep)
        if os.path.isabs(each)
    ]
    return environment | {
        "PATH": os.pathsep.join(path),
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
        "GIT_TERMINAL_PROMPT": "0",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


def _run(argv: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            cwd="/",  # what lies in the user's directory is not Rookery's
            env=quiet_environment(),
            timeout=SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise Unavailable(f"{argv[0]} is not on your PATH, and it is needed here.") from None
    except OSError as error:
        raise Unavailable(f"Cannot run {argv[0]}: {error.strerror}.") from error
    except subprocess.TimeoutExpired:
        late = f"This did not end within {SECONDS:.0f} s: {shlex.join(argv)}"
        raise Unavailable(late) from None
    if done.returncode:
        end = "\n".join((done.stderr or done.stdout).strip().splitlines()[-8:])
        raise Unavailable(f"This failed: {shlex.join(argv)}\n{end}")
    return done.stdout + done.stderr
