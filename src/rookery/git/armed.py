"""Whether git, run plainly in a directory, may run a program that a repository names: even a
read-only command does if the configuration says so. Nothing is run to find out."""

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator
from glob import iglob
from itertools import islice

from rookery.git import places, settings, shadow
from rookery.git.places import Place
from rookery.git.program import NoGit

HOOK = "post-index-change"
"""The one that a look runs: git writes down what it saw."""
SECONDS = 5.0
MAX_SEARCHED = 200
"""Most folders, and repositories within repositories, that are searched."""
REPOSITORY = "160000"

_PIECES = re.compile(r"[;&|()=\s]+")


def programs(cwd: str, lines: Iterable[str]) -> str:
    """Return the source of a program that these shell lines may have git run, by the directories
    they lead to; "" if none."""
    folders = list(islice(_folders(cwd, lines), MAX_SEARCHED + 1))
    if len(folders) > MAX_SEARCHED:
        return "more folders than can be checked"
    waiting = [place for place in map(places.find, folders) if place is not None]
    seen: set[Place] = set()
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        if len(seen) > MAX_SEARCHED:
            return "more repositories than can be checked"
        try:
            if named := _named_by(place):
                return named
            waiting += [inner for each in _inner(place) if (inner := places.find(each))]
        except (NoGit, OSError) as error:
            return str(error)
    return ""


def _folders(cwd: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield the folders that a word may lead into, starting from any that an earlier word
    led to."""
    bases = [os.path.realpath(cwd)]
    yield bases[0]
    for word in (word for line in lines for word in _tokens(line)):
        for base in tuple(bases):
            spots = [os.path.join(base, word)]
            if any(sign in word for sign in "*?["):
                spots += islice(iglob(word, root_dir=base, include_hidden=True), MAX_SEARCHED)
            for spot in spots:
                path = os.path.realpath(os.path.join(base, spot))
                if os.path.isdir(path) and path not in bases and len(bases) <= MAX_SEARCHED:
                    bases.append(path)
                    yield path


def _tokens(line: str) -> list[str]:
    try:
        whole = shlex.split(line)
    except ValueError:
        whole = line.split()
    pieces = [piece for word in whole for piece in _PIECES.split(word)]
    return [word for word in dict.fromkeys([*whole, *pieces]) if word and "\0" not in word]


def _named_by(place: Place) -> str:
    """The setting or hook of a repository that names a program; "" if none. Raises NoGit."""
    config = settings.read(place)
    if config.armed:
        return f"{config.armed[0]} of {place.shared}"
    named = os.path.join(place.top, os.path.expanduser(config.hooks)) if config.hooks else ""
    hook = os.path.join(named or os.path.join(place.shared, "hooks"), HOOK)
    return hook if os.access(hook, os.X_OK) and not config.hooks_of_user else ""


def _inner(place: Place) -> Iterator[str]:
    """Yield the repositories inside this one: submodules, and those whose files are its own. Raises
    NoGit, OSError."""
    if not place.top:
        return
    with shadow.opened(place) as git:
        process = git.start(place.top, ["ls-files", "--stage", "-z"])
        with process:
            try:
                data, _ = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise NoGit(f"{place.top} has too many files to be checked.") from None
    for row in os.fsdecode(data).split("\0"):
        about, _, path = row.partition("\t")
        full = os.path.join(place.top, path)
        if about.startswith(REPOSITORY):
            yield full
        elif os.path.basename(path) == "HEAD" and places.is_repository(os.path.dirname(full)):
            yield os.path.dirname(full)
