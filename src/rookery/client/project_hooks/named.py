"""The files of a project that its hooks name, by content: one that changes asks again.

Whatever in a command may be a path is looked up, below the directory in which it runs and below the
project's root; a program such as make names its own file there. Files that these load in turn are
not looked at (docs/models.md).
"""

import glob
import os
import re
import shlex
import stat
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import islice

LARGEST = 20_000_000
"""Bytes of a named file."""
MOST_FILES = 500
MOST_WORDS = 5_000

OF_PROGRAMS = (
    (r"make|gmake", ("GNUmakefile", "makefile", "Makefile")),
    (r"npm|npx|pnpm|yarn|bun|bunx|node|deno", ("package.json", ".npmrc", "deno.json")),
    (r"just", ("justfile", "Justfile", ".justfile")),
    (r"task", ("Taskfile.yml", "Taskfile.yaml")),
    (r"cargo", ("Cargo.toml", "build.rs", ".cargo/config.toml")),
    (r"go", ("go.mod",)),
    (r"rake|bundle|bundler", ("Rakefile", "Gemfile")),
    (r"mvn|gradle|gradlew", ("pom.xml", "build.gradle", "build.gradle.kts")),
    (r"composer", ("composer.json",)),
    (r"pre-commit|prek", (".pre-commit-config.yaml",)),
    (
        r"pytest|tox|nox|uv|uvx|poetry|hatch|pdm|ruff|mypy|invoke|python[\d.]*",
        ("pyproject.toml", "tox.ini", "noxfile.py", "conftest.py", "pytest.ini", "setup.cfg"),
    ),
    (r"docker|podman|docker-compose", ("compose.yaml", "docker-compose.yml", "Dockerfile")),
)
"""What a program reads in its directory to know what to run."""
IN_DIRECTORIES = ("__main__.py", "__init__.py", "index.js", "Makefile", "package.json")
"""What an interpreter runs of a directory that it is given."""
_ONLY_DATA = frozenset({"touch", "test", "[", "[[", "rm", "mkdir", "tee", "sleep", "exit"})
"""Programs that run nothing of what they are given: a hook may keep a file of its own."""
_SPEAKS = frozenset({"echo", "printf"})
"""So are these, unless something may run what they say."""
_KEYWORDS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "time"})
_WRITTEN = re.compile(r"\d*(?:&>>?|>>?\|?)[ \t]*[\w./@%+-]+")
_MODULE = re.compile(r"-m\s*([\w.]+)")
_WORD = re.compile(r"[^\s'\"`;|&<>(){}$=,:]+")


class TooMuch(Exception):
    """The message says what cannot be looked at."""


def digests(
    commands: Iterable[str], cwd: str, root: str, of: Callable[[str], str] | None = None
) -> dict[str, str]:
    """What each file that a command names is now, by its path below the root. `of`: what a file is.
    Raises TooMuch."""
    found: dict[str, str] = {}
    places = list(dict.fromkeys((cwd, root)))
    for command in commands:
        for word in _words(command):
            for place in places:
                for path in _paths(word, place):
                    _add(found, path, root, of or digest)
    return dict(sorted(found.items()))


def _add(found: dict[str, str], path: str, root: str, of: Callable[[str], str]) -> None:
    path = os.path.normpath(path)
    key = os.path.relpath(path, root)
    if key in found or key.startswith(os.pardir):
        return
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        if os.path.islink(path):
            found[key] = "leads nowhere"
        return
    if stat.S_ISDIR(about.st_mode):
        if key != os.curdir and not key.startswith(".git/"):
            for name in IN_DIRECTORIES:
                _add(found, os.path.join(path, name), root, of)
        return
    found[key] = of(path)
    if len(found) > MOST_FILES:
        raise TooMuch(f"they name more than {MOST_FILES} files")


def digest(path: str) -> str:
    """Of a regular file, its content and whether it can be run. Raises TooMuch."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return f"cannot be read: {error.errno}"
    about = os.fstat(file)
    if not stat.S_ISREG(about.st_mode):
        os.close(file)
        return "not a file"
    with os.fdopen(file, "rb") as opened:
        if about.st_size > LARGEST:
            raise TooMuch(f"{path} has more than {LARGEST // 1_000_000} MB")
        content = opened.read(LARGEST + 1)
    return sha256(content).hexdigest() + (" x" if about.st_mode & 0o111 else "")


# ---------------------------------------------------------------- words that may be paths


def _words(command: str) -> list[str]:
    """As a shell splits it, and as it may be split once more by what it runs. Raises TooMuch."""
    command = _without_data(command)
    words = dict.fromkeys(_WORD.findall(command))
    try:
        for word in shlex.split(command.replace("\n", " ; "), comments=False):
            words |= dict.fromkeys([word, *_WORD.findall(word)])
    except ValueError:  # an open quotation mark
        words |= dict.fromkeys(_WORD.findall(command.replace("\\", "").replace("'", "")))
    for module in _MODULE.findall(command):
        path = module.replace(".", "/")
        above = [path.rsplit("/", count)[0] for count in range(path.count("/") + 1)]
        words |= dict.fromkeys([path, path + ".py", *above, *(f"{each}.py" for each in above)])
    for pattern, files in OF_PROGRAMS:
        if any(re.fullmatch(pattern, os.path.basename(word)) for word in words):
            words |= dict.fromkeys(files)
            folders = [word for word in words if "/" in word or word.isidentifier()]
            words |= dict.fromkeys(f"{folder}/{name}" for folder in folders for name in files)
    if len(words) > MOST_WORDS:
        raise TooMuch("their commands are too long")
    return list(words)


def _without_data(command: str) -> str:
    """Without what is only written, or only looked for. What is quoted stays."""
    rest = re.split(r"([;|&\n(){}`]+)", _WRITTEN.sub(" ", command))
    passes_on = any(each in command for each in ("|", "`", "$(", "eval", "<("))
    skipped = _ONLY_DATA if passes_on else _ONLY_DATA | _SPEAKS
    for place in range(0, len(rest), 2):
        words = rest[place].split()
        while words and words[0] in _KEYWORDS:
            del words[0]
        if words and words[0] in skipped and not re.search(r"[\"'\\$]", rest[place]):
            rest[place] = " "
    return "".join(rest)


def _paths(word: str, place: str) -> Iterator[str]:
    """Where a word may lead: as it stands, and without what a variable may stand for."""
    word = word[:4096].replace("\0", "")
    while word:
        path = os.path.join(place, word)
        if re.search(r"[*?\[]", word):
            matches = glob.iglob(os.path.join(glob.escape(place), word), include_hidden=True)
            yield from islice(matches, MOST_FILES + 1)
        yield path
        _, cut, word = word.partition("/")
        if not cut:
            return
