"""The settings of a repository that git is given: those that are plain values. Settings that name a
program count only if they are in the user's own configuration, global or system-wide."""

import os
import subprocess
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rookery.git.places import Place
from rookery.git.program import OF_THE_USER, NoGit, environment, program

SECONDS = 5.0
MAX_OUTPUT_BYTES = 4 * 1024 * 1024
FRESH = 2.0
"""Seconds that what was read counts, as long as the files are the same."""

USERS = ("system", "global")
OF_THE_REPOSITORY = ("local", "worktree")
PROGRAMS = ("clean", "smudge", "process")
"""The keys of a filter that name programs."""

_PLAIN = {
    "core": """abbrev attributesfile autocrlf bigfilethreshold checkroundtripencoding checkstat
        compression eol excludesfile filemode ignorecase logallrefupdates loosecompression
        precomposeunicode protecthfs protectntfs safecrlf sharedrepository sparsecheckout
        sparsecheckoutcone symlinks trustctime whitespace""",
    "apply": "ignorewhitespace",
    "author": "email name",
    "commit": "cleanup gpgsign",
    "committer": "email name",
    "diff": "algorithm indentheuristic renamelimit renames",
    "gpg": "format",
    "i18n": "commitencoding logoutputencoding",
    "lfs": "url",
    "merge": "conflictstyle directoryrenames renamelimit renames renormalize",
    "user": "email name signingkey useconfigonly",
}
PLAIN = frozenset(f"{part}.{key}" for part, keys in _PLAIN.items() for key in keys.split())
"""In any configuration."""
_PLAIN_BELOW = {
    "branch": ("merge", "remote"),
    "diff": ("binary", "funcname", "wordregex", "xfuncname"),
    "remote": ("fetch", "lfsurl", "url"),
}
_OF_THE_USER = ("filter", "gpg", "lfs", "merge", "user")
"""Sections that count whole in the user's own configuration."""
_NETWORK = ("credential", "http", "ssh", "url", "core.askpass", "core.gitproxy", "core.sshcommand")
"""The same, to reach other machines."""

FIXED = (
    ("core.bare", "false"),
    ("core.fsmonitor", "false"),
    ("core.hookspath", os.devnull),
    ("core.pager", "cat"),
    ("core.preloadindex", "false"),
    ("core.quotepath", "false"),
    ("core.splitindex", "false"),
    ("diff.mnemonicprefix", "false"),
    ("diff.noprefix", "false"),
    ("fetch.recursesubmodules", "false"),
    ("gc.auto", "0"),
    ("log.showsignature", "false"),
    ("maintenance.auto", "false"),
    ("merge.verifysignatures", "false"),
    ("protocol.allow", "never"),
    ("status.submodulesummary", "false"),
    ("submodule.recurse", "false"),
)
_SETTLED = {"noop", "noop-v1", "partialclone", "preciousobjects", "relativeworktrees"}
_SETTLED |= {"worktreeconfig"}
"""Extensions that change nothing for what is asked here."""
_CARRIED = {"objectformat": ("sha1", "sha256"), "refstorage": ("files", "reftable")}


class Driver(NamedTuple):
    """A filter or a merge driver, as a configuration defines it."""

    kind: str
    """`filter` or `merge`."""
    name: str
    values: tuple[tuple[str, str], ...]

    @property
    def settings(self) -> list[tuple[str, str]]:
        return [(f"{self.kind}.{self.name}.{key}", value) for key, value in self.values]

    def __str__(self) -> str:
        return ", ".join(f"{key} = {value}" for key, value in self.values)


class Settings(NamedTuple):
    plain: tuple[tuple[str, str], ...]
    extensions: tuple[tuple[str, str], ...]
    own: Mapping[tuple[str, str], Driver]
    """By kind and name: drivers that only the repository's configuration has."""
    work_tree: str
    hooks: str
    """`core.hooksPath`; "": it is not set."""
    sparse: bool
    armed: tuple[str, ...]
    """What only the repository's configuration has and git may run, or be led by to a program."""
    hooks_of_user: bool
    """`hooks` is the user's own setting."""
    network: tuple[tuple[str, str], ...]
    """The user's own settings for reaching other machines."""


_DECIDING = ("HOME", "XDG_CONFIG_HOME", "PATH", *OF_THE_USER)

_read: dict[tuple[str, ...], tuple[float, list[object], Settings]] = {}


def read(place: Place, given: Mapping[str, str] | None = None) -> Settings:
    """Read a repository's settings. `given`: the user's environment, if it is not this process's.
    Raises NoGit."""
    env = os.environ if given is None else given
    name = (place.own, *(env.get(key, "") for key in _DECIDING))
    stamp = [_stamp(each) for each in _files(place, env)]
    when, before, parsed = _read.get(name, (0.0, [], None))
    if parsed is not None and before == stamp and time.monotonic() - when < FRESH:
        return parsed
    parsed = _sorted(_listed(place, env))
    while len(_read) > 32:
        _read.pop(next(iter(_read)), None)
    _read[name] = time.monotonic(), stamp, parsed
    return parsed


def _files(place: Place, env: Mapping[str, str]) -> Iterable[str]:
    yield from (os.path.join(place.shared, "config"), os.path.join(place.own, "config.worktree"))
    if named := env.get("GIT_CONFIG_GLOBAL"):
        yield named
    user = env.get("HOME") or os.path.expanduser("~")
    above = env.get("XDG_CONFIG_HOME") or os.path.join(user, ".config")
    yield from (os.path.join(user, ".gitconfig"), os.path.join(above, "git", "config"))


def _stamp(path: str) -> object:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _listed(place: Place, env: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """The scope, name and value of each setting. Git only prints them, without running any."""
    users = {key: env[key] for key in OF_THE_USER if key in env}
    path = env.get("PATH")
    try:
        done = subprocess.run(
            [program(place, path), "config", "--list", "-z", "--show-scope", "--includes"],
            cwd="/",
            env=environment(place, env) | users | {"GIT_DIR": place.own},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise NoGit(f"git cannot read the settings of {place.shared}: {error}") from error
    if done.returncode or len(done.stdout) > MAX_OUTPUT_BYTES:
        reason = os.fsdecode(done.stderr).strip()[-500:] or "there are too many"
        raise NoGit(f"git cannot read the settings of {place.shared}: {reason}")
    fields = os.fsdecode(done.stdout).split("\0")[:-1]
    rows = zip(fields[::2], fields[1::2], strict=False)
    return [(scope, *_parted(text)) for scope, text in rows]


def _parted(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("\n")
    return key, value if sign else "true"


def _sorted(rows: list[tuple[str, str, str]]) -> Settings:
    plain: list[tuple[str, str]] = []
    armed: list[str] = []
    hooks_of_user = False
    last: dict[str, str] = {}
    drivers: dict[bool, dict[tuple[str, str], dict[str, str]]] = {True: {}, False: {}}
    for scope, key, value in rows:
        users = scope in USERS
        last[key] = value
        if key == "core.hookspath":
            hooks_of_user = users
        if scope in OF_THE_REPOSITORY and not _is_harmless(key, value):
            armed.append(key)
        if _is_plain(key, value) or (users and key.partition(".")[0] in _OF_THE_USER):
            plain.append((key, value))
        kind, _, rest = key.partition(".")
        name, _, word = rest.rpartition(".")
        if name and (kind, word) in _DRIVEN:
            drivers[users].setdefault((kind, name), {})[word] = value
    own = {
        name: Driver(*name, tuple(sorted(values.items())))
        for name, values in drivers[False].items()
        if name not in drivers[True] and any(values.values())
    }
    sparse = last.get("core.sparsecheckout", "").lower() in ("true", "yes", "on", "1")
    extensions = tuple(_extensions(last))
    place, hooks = last.get("core.worktree", ""), last.get("core.hookspath", "")
    parts = (tuple(plain), extensions, own, place, hooks, sparse)
    network = [(key, value) for scope, key, value in rows if scope in USERS and _is_network(key)]
    return Settings(*parts, tuple(armed), hooks_of_user, tuple(network))


_DRIVEN = {*(("filter", word) for word in (*PROGRAMS, "required")), ("merge", "driver")}


def _is_plain(key: str, value: str) -> bool:
    part, _, rest = key.partition(".")
    name, _, word = rest.rpartition(".")
    if not name:
        return key in PLAIN
    is_address = part not in ("branch", "remote") or "::" not in value
    return word in _PLAIN_BELOW.get(part, ()) and is_address and not value.startswith("-")


def _is_network(key: str) -> bool:
    return key.partition(".")[0] in _NETWORK or key in _NETWORK


def _is_harmless(key: str, value: str) -> bool:
    """Whether it neither is a command nor leads to one: a short list, anything else may."""
    if _is_plain(key, value) or (key == "core.fsmonitor" and value.lower() == "false"):
        return True
    part, _, rest = key.partition(".")
    if part in ("remote", "submodule", "url"):
        plain = rest.rpartition(".")[2] in ("active", "branch", "fetch", "prune", "tagopt", "url")
        return plain and part != "url" and "::" not in value and not value.startswith("!")
    return key in _HARMLESS or part in _HARMLESS_PARTS


_HARMLESS = {f"core.{key}" for key in ("bare", "repositoryformatversion", "worktree", "hookspath")}
_HARMLESS |= {"lfs.repositoryformatversion"}
_HARMLESS |= {f"extensions.{key}" for key in ("objectformat", "refstorage", "worktreeconfig")}
_HARMLESS_PARTS = ("advice", "branch", "color", "fetch", "gui", "init", "pull", "push", "rebase")


def _extensions(last: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    version = last.get("core.repositoryformatversion", "0")
    if version not in ("0", "1"):
        raise NoGit(f"The repository has format {version}, which is not known here.")
    for key, value in last.items():
        if not key.startswith("extensions."):
            continue
        name = key.removeprefix("extensions.")
        if value.lower() in _CARRIED.get(name, ()):
            yield key, value.lower()
        elif name not in _SETTLED and version == "1":
            raise NoGit(f"The repository uses git's extension {name}, which is not known here.")


def written(settings: Iterable[tuple[str, str]]) -> bytes:
    """Return the settings in the format of git's files."""
    lines: list[str] = []
    for key, value in settings:
        part, _, rest = key.partition(".")
        name, _, word = rest.rpartition(".")
        head = f'[{part} "{_escaped(name)}"]' if name else f"[{part}]"
        text = _escaped(value).replace("\n", "\\n").replace("\t", "\\t")
        lines.append(f'{head}\n\t{word} = "{text}"\n')
    return os.fsencode("".join(lines))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
