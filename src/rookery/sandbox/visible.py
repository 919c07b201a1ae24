"""Which files a command needs to see to run at all: the system's, and those of a program that lies
in the user's home."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rookery.sandbox.plan import Place, SandboxError

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"),
    *("/nix", "/gnu", "/snap", "/run/current-system", "/home/linuxbrew/.linuxbrew"),
)
"""Programs, libraries and their settings."""

SECRETS = (
    *("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers"),
    *("/etc/sudoers.d", "/etc/ssh", "/etc/ssl/private", "/etc/krb5.keytab", "/etc/NetworkManager"),
    *("/etc/wireguard", "/etc/openvpn", "/etc/docker", "/etc/kubernetes", "/etc/rancher"),
)
"""Secrets among these paths that the user may read (root may read all)."""

PARTS = ("bin", "lib", "lib64", "libexec", "pyvenv.cfg")
"""Parts of their prefix that programs need. The rest of it may hold secrets, as ~/.cargo does."""

TOOLS = (
    *(".rustup", ".pyenv", ".rbenv", ".nvm", ".fnm", ".volta", ".asdf/installs", ".asdf/shims"),
    *(".sdkman/candidates", ".local/share/mise/installs", ".local/share/fnm", "go/pkg/mod"),
    *(
        ".local/share/uv/python",
        ".local/share/uv/tools",
        ".cargo/registry",
        ".deno/bin",
        ".bun/bin",
    ),
)
"""In the user's home: where version managers keep what PATH leads to, and libraries."""

PRIVATE = ("/tmp", "/var/tmp", "/run")  # noqa: S108 - inside, where nobody else is
KERNEL = ("/proc", "/sys", "/dev")
MOST_OF_PATH = 200
"""Each is a mount, and bwrap takes longer with each of them."""
HOPS = 40
MODULES = "/node_modules/"


def is_in(path: str, places: Iterable[str]) -> bool:
    """Tell whether a path is one of the places or inside one."""
    return any(path == place or path.startswith(place.rstrip("/") + "/") for place in places)


def outermost(roots: Sequence[str]) -> list[str]:
    """Leave out roots inside another one: they are visible there, and one that was replaced by a
    link would lead anywhere."""
    placed = [os.path.normpath(root) for root in roots]
    real = [os.path.realpath(root) for root in roots]
    return [
        root
        for number, root in enumerate(placed)
        if not any(is_in(root, [other]) and root != other for other in (*placed, *real))
        and root not in placed[:number]
    ]


def check_roots(place: Place) -> None:
    """Check that none of the roots holds what is to be hidden. Raises SandboxError."""
    closed = [os.path.realpath(path) for path in (*place.hidden, place.user)]
    for root in map(os.path.realpath, place.roots):
        if holds := [path for path in closed if is_in(path, [root])]:
            raise SandboxError(
                f"A sandbox cannot be around {root}: {holds[0]} is in it. Start the session in "
                "a directory below."
            )


def settled(cwd: str, others: Sequence[str]) -> list[str]:
    """Return the session's directories, its own first, without those inside another one. Raises
    SandboxError."""
    outer = outermost([cwd, *others])
    if not is_in(os.path.realpath(cwd), [os.path.realpath(each) for each in outer]):
        raise SandboxError(f"{cwd} has become a link that leaves the session's directories.")
    return [cwd, *(each for each in outer if each != os.path.normpath(cwd))]


def resolver() -> list[str]:
    """Return the file that /etc/resolv.conf is a link to."""
    return [os.path.realpath("/etc/resolv.conf")]


def of_path(path: Sequence[str], closed: Sequence[str], roots: Sequence[str]) -> list[str]:
    """Return the directories of PATH and what they are links to, with the libraries beside them.
    Leaves out any that holds one of the closed places or lies in it, or that a root decides about:
    an agent can replace what is there by a link."""
    paths: dict[str, None] = {}
    for place in dict.fromkeys(os.path.normpath(each) for each in path if os.path.isabs(each)):
        if not os.path.isdir(place) or any(is_in(at, roots) for at in _walk(place, _link)):
            continue
        parts = [each for one in (place, os.path.realpath(place)) for each in _of_folder(one, "")]
        paths |= {each: None for each in parts if _is_shown(each, closed)}
        if len(paths) > MOST_OF_PATH:
            break
    return list(paths)


def _is_shown(path: str, closed: Sequence[str]) -> bool:
    real = os.path.realpath(path)
    if not os.path.exists(real) or is_in(path, KERNEL):
        return False
    apart = (*KERNEL, *PRIVATE, *closed)
    around = any(is_in(each, (path, real)) for each in apart)
    return not around and not is_in(path, closed[1:]) and not is_in(real, closed[1:])


def of_program(path: str, user: str) -> list[str]:
    """Return what a program needs of the place where it lies: its prefix, those of each link on the
    way to it, and of the interpreter that its first line names."""
    paths: list[str] = []
    real = os.path.realpath(path)
    for hop in (*_links(path), real):
        paths += [hop, *_of_folder(os.path.dirname(hop), user)]
        if MODULES in hop:  # of npm: what it imports lies beside it
            paths.append(hop[: hop.index(MODULES) + len(MODULES) - 1])
    interpreter = _interpreter(real)
    if interpreter and not is_in(interpreter, ("/usr", "/bin")):
        paths += of_program(interpreter, user)
    return paths


def of_python() -> list[str]:
    """Return the paths of the Python that runs now, with Rookery in it."""
    prefixes = (sys.prefix, sys.base_prefix)
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return [own, *(os.path.join(each, part) for each in prefixes for part in PARTS)]


def tools(user: str) -> list[str]:
    return [os.path.join(user, each) for each in TOOLS]


def _of_folder(folder: str, user: str) -> list[str]:
    """Return a directory of programs, with what they need of its neighbours."""
    prefix, name = os.path.split(folder)
    if name == "bin":
        return [os.path.join(prefix, part) for part in PARTS]
    return [] if is_in(user, [folder]) else [folder]


def source(path: str, rows: Mapping[str, Sequence[str]]) -> str:
    """Return the file of this machine that a path leads to inside, by what is mounted (bwrap's
    arguments for each place); "" if there is none, or one that a process without capabilities
    cannot reach."""
    at = "/"
    for at in _walk(path, lambda each: _link_inside(each, rows)):
        here = _mounted(at, rows)
        if here and not os.path.islink(here) and not _is_open(here):
            return ""
    return _mounted(at, rows)


def _mounted(path: str, rows: Mapping[str, Sequence[str]]) -> str:
    place = path
    while place not in rows and place != "/":
        place = os.path.dirname(place)
    row = rows.get(place, ("",))
    return row[1] + path[len(place) :] if "bind" in row[0] else ""


def _link_inside(path: str, rows: Mapping[str, Sequence[str]]) -> str:
    row = rows.get(path)
    if row is not None:
        return row[1] if row[0] == "--symlink" else ""
    return _link(_mounted(path, rows))


def _is_open(path: str) -> bool:
    """Tell whether a path may be searched or run. Root may do so with everything here, but not
    inside."""
    if os.geteuid():
        return os.access(path, os.X_OK)
    try:
        about = os.stat(path)
    except OSError:
        return False
    groups = (os.getegid(), *os.getgroups())
    bit = 0o100 if about.st_uid == 0 else 0o010 if about.st_gid in groups else 0o001
    return bool(about.st_mode & bit)


def _walk(path: str, link: Callable[[str], str]) -> Iterator[str]:
    """Yield each place on the way to where a path leads."""
    at, rest, hops = "/", path.split("/"), 0
    while rest:
        at = os.path.normpath(os.path.join(at, rest.pop(0)))
        yield at
        if target := link(at):
            hops += 1
            if hops > HOPS:
                return
            at, rest = os.path.dirname(at), [*target.split("/"), *rest]
            at = "/" if target.startswith("/") else at


def _link(path: str) -> str:
    try:
        return os.readlink(path) if path else ""
    except OSError:
        return ""


def _links(path: str) -> Iterator[str]:
    for _ in range(HOPS):
        if not os.path.islink(path):
            return
        yield path
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))


def _interpreter(path: str) -> str:
    try:
        with open(path, "rb") as file:
            first = file.read(256)
    except OSError:
        return ""
    if not first.startswith(b"#!"):
        return ""
    tokens = os.fsdecode(first[2:].split(b"\n", 1)[0]).split()
    return tokens[0] if tokens and os.path.isabs(tokens[0]) else ""
