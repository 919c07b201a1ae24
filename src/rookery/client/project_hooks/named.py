"""The files of a project that its hooks name, by content: when one changes, the user is asked
again.

Anything in a command that may be a path is looked up, below the directory in which it runs and
below the project's root; a program such as make implies the file it reads there. Files that these
load in turn are not considered (docs/models.md)."""

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
"""The files in its directory that a program reads to know what to run."""
IN_DIRECTORIES = ("__main__.py", "__init__.py", "index.js", "Makefile", "package.json")
"""The files that an interpreter runs when it is given a directory."""
_ONLY_DATA = frozenset({"touch", "test", "[", "[[", "rm", "mkdir", "tee", "sleep", "exit"})
"""Programs that run nothing of what they are given: a hook may keep a file of its own."""
_SPEAKS = frozenset({"echo", "printf"})
"""So are these, unless something may run what they say."""
_KEYWORDS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "time"})
_WRITTEN = re.compile(r"\d*(?:&>>?|>>?\|?)[ \t]*[\w./@%+-]+")
_MODULE = re.compile(r"-m\s*([\w.]+)")
_WORD = re.compile(r"[^\s'\"`;|&<>(){}$=,:]+")


class TooMuch(Exception):
    """There is more than can be checked; the message says what."""


def digests(
    commands: Iterable[str], cwd: str, root: str, of: Callable[[str], str] | None = None
) -> dict[str, str]:
    """Return the digest of each file that a command names, by its path below the root. `of`: how a
    file is digested. Raises TooMuch."""
    files: dict[str, str] = {}
    places = list(dict.fromkeys((cwd, root)))
    for command in commands:
        for word in _tokens(command):
            for place in places:
                for path in _paths(word, place):
                    _add(files, path, root, of or digest)
    return dict(sorted(files.items()))


def _add(files: dict[str, str], path: str, root: str, of: Callable[[str], str]) -> None:
    path = os.path.normpath(path)
    key = os.path.relpath(path, root)
    if key in files or key.startswith(os.pardir):
        return
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        if os.path.islink(path):
            files[key] = "leads nowhere"
        return
    if stat.S_ISDIR(about.st_mode):
        if key != os.curdir and not key.startswith(".git/"):
            for name in IN_DIRECTORIES:
                _add(files, os.path.join(path, name), root, of)
        return
    files[key] = of(path)
    if len(files) > MOST_FILES:
        raise TooMuch(f"they name more than {MOST_FILES} files")


def digest(path: str) -> str:
    """Digest a regular file: its content and whether it is executable. Raises TooMuch."""
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


def _tokens(command: str) -> list[str]:
    """Split a command as a shell does, and as what it runs may split it once more. Raises
    TooMuch."""
    command = _without_data(command)
    tokens = dict.fromkeys(_WORD.findall(command))
    try:
        for word in shlex.split(command.replace("\n", " ; "), comments=False):
            tokens |= dict.fromkeys([word, *_WORD.findall(word)])
    except ValueError:  # an open quotation mark
        tokens |= dict.fromkeys(_WORD.findall(command.replace("\\", "").replace("'", "")))
    for module in _MODULE.findall(command):
        path = module.replace(".", "/")
        above = [path.rsplit("/", count)[0] for count in range(path.count("/") + 1)]
        tokens |= dict.fromkeys([path, path + ".py", *above, *(f"{each}.py" for each in above)])
    for pattern, files in OF_PROGRAMS:
        if any(re.fullmatch(pattern, os.path.basename(word)) for word in tokens):
            tokens |= dict.fromkeys(files)
            folders = [word for word in tokens if "/" in word or word.isidentifier()]
            tokens |= dict.fromkeys(f"{folder}/{name}" for folder in folders for name in files)
    if len(tokens) > MOST_WORDS:
        raise TooMuch("their commands are too long")
    return list(tokens)


def _without_data(command: str) -> str:
    """Remove what is only written or only searched for. What is quoted stays."""
    rest = re.split(r"([;|&\n(){}`]+)", _WRITTEN.sub(" ", command))
    passes_on = any(each in command for each in ("|", "`", "$(", "eval", "<("))
    skipped = _ONLY_DATA if passes_on else _ONLY_DATA | _SPEAKS
    for place in range(0, len(rest), 2):
        tokens = rest[place].split()
        while tokens and tokens[0] in _KEYWORDS:
            del tokens[0]
        if tokens and tokens[0] in skipped and not re.search(r"[\"'\\$]", rest[place]):
            rest[place] = " "
    return "".join(rest)


def _paths(word: str, place: str) -> Iterator[str]:
    """Yield where a word may lead: as it stands, and without what a variable may stand for."""
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
