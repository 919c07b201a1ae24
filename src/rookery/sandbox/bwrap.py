"""The sandbox kind `bwrap`: kernel namespaces, made by bubblewrap without privileges.

Nothing is visible inside except what is named here: the system's programs (read-only), the
session's directories, what the agent keeps in the user's home, and a separate /tmp, /proc and /dev
for each command."""

import os
import sys
from collections.abc import Mapping, Sequence

from rookery.core.settings.sandbox import LISTED, ON
from rookery.processes import LINUX, landlock
from rookery.sandbox import git, visible
from rookery.sandbox.plan import Bind, Place, Sandbox, SandboxError, Spawn, Wish
from rookery.sandbox.process_limit import ProcessLimit
from rookery.sandbox.proxy import Proxy
from rookery.sandbox.relay import Relay, listening, port_here
from rookery.sandbox.visible import is_in

PROGRAM = "bwrap"
INSTALL = (
    "To install it: sudo apt install bubblewrap (Debian, Ubuntu), sudo dnf install bubblewrap "
    "(Fedora), sudo pacman -S bubblewrap (Arch)."
)
ELSEWHERE = "The sandbox bwrap needs Linux. Here, use --sandbox container, or none."
SEALED = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
USELESS = ("DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "DISPLAY", "XAUTHORITY")
"""Variables that lead to sockets which are not inside."""
LOADER = (
    *("LD_", "GLIBC_TUNABLES", "GCONV_PATH", "GETCONF_DIR", "MALLOC_", "LOCPATH", "NLSPATH"),
    *("RES_OPTIONS", "RESOLV_", "LOCALDOMAIN", "HOSTALIASES", "TZDIR"),
)
"""How variables begin that bwrap's own loader and library would obey, before anything is closed: a
terminal's may come from the agent."""
READ_ONLY = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi")
"""Parts of /proc that root may write even without a capability, such as the kernel's settings."""

SHARED = (
    "This kernel is older than Linux 6.12: in a sandbox with network = on, the abstract sockets of "
    "this machine can be reached, such as those of X11. With network = off or listed they cannot."
)
CROWDED = (
    "PATH names more directories than a sandbox can show. The first of them are inside; to have "
    "another one there, name it in sandbox.read."
)
OF_FILES = ("Can't find ", "Can't chdir ", "Can't create ", "Can't mkdir ", "Can't get type ")
"""How bwrap's words begin where a file or directory is at fault."""
MISSING = 127
DOOR, PORT = "/run/rookery-proxy", "3128"
FORWARD = (
    os.path.realpath(sys.executable),
    *("-I", "-S", os.path.join(os.path.dirname(os.path.abspath(__file__)), "forward.py")),
)
_PROXY, _HERE = f"http://127.0.0.1:{PORT}", "localhost,127.0.0.1,::1"
TOWARDS = {
    **dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"), _PROXY),
    "NO_PROXY": _HERE,
    "no_proxy": _HERE,
    "NODE_USE_ENV_PROXY": "1",
}
"""Variables by which programs find the proxy; Node's own fetch from version 24 on."""


class Bwrap(Sandbox):
    def __init__(self, wish: Wish, place: Place) -> None:
        super().__init__(wish, place)
        if not LINUX:
            raise SandboxError(ELSEWHERE)
        self._placed = visible.outermost(place.roots)
        self._roots = [os.path.realpath(root) for root in self._placed]
        self._hidden = [os.path.realpath(path) for path in place.hidden]
        self._user = os.path.realpath(place.user)
        self._program = find(self._roots)
        self._proxy: Proxy | None = None
        self._relays: dict[int, Relay] = {}
        self._limit = ProcessLimit(wish.pids, place)
        self.notes += [self._limit.lacks] if self._limit.lacks else []
        if wish.network == ON and not landlock.available():
            self.notes.append(SHARED)
        visible.check_roots(place)
        self._readable = self._read()
        self._placeholders = None if wish.git_hooks else git.placeholders(self._roots)
        self._guarded = [] if wish.git_hooks else git.guarded(self._roots)
        self._agent = ""

    def spawn(self, argv: Sequence[str], environment: Mapping[str, str], cwd: str) -> Spawn:
        rows = self._rows()
        program = self._located(argv[0], environment, cwd, rows)
        self._agent = self._agent or program
        binds = [word for path in sorted(rows, key=_depth) for word in rows[path]]
        inside = {name: value for name, value in environment.items() if name not in USELESS}
        command = [*self._limit.before, program, *argv[1:]]
        args = [self._program, *SEALED]
        if self.wish.network == ON:
            args.append("--share-net")
        elif self.wish.network == LISTED:
            binds += ["--bind", self._proxied(), DOOR]
            command = [*FORWARD, DOOR, PORT, *command]
            inside |= TOWARDS
        for port in self.place.ports if self.wish.network != ON else ():
            binds += ["--bind", self._relayed(port), door(port)]
            command = [*FORWARD, door(port), str(port), *command]
        late = [name for name in inside if name.startswith(LOADER)]
        added = [word for name in late for word in ("--setenv", name, inside.pop(name))]
        args += [*binds, *added, "--chdir", cwd, "--"]
        return Spawn([*args, *command], inside, "/", entry=self._limit.entry, wrapped=True)

    def close(self) -> None:
        for leading in (self._proxy, *self._relays.values()):
            if leading is not None:
                leading.close()
        self._limit.close()
        if self._placeholders is not None:
            self._placeholders.close()

    def _proxied(self) -> str:
        """Return the socket of the proxy, which runs from the first command on."""
        if self._proxy is None:
            self._proxy = Proxy(self.place.scratch, "proxy", self.wish.allow)
        return self._proxy.path

    def _relayed(self, port: int) -> str:
        """Return the socket that leads to a port of this machine, from the first command on."""
        name = f"port-{port}"
        if port not in self._relays:
            self._relays[port] = Relay(listening(self.place.scratch, name), port_here(port))
        return os.path.join(self.place.scratch, name)

    def fault(self, status: int, stderr: Sequence[str], /) -> str:
        message = next((line for line in stderr if line.startswith("bwrap: ")), "")
        if message:
            return unmade(message)
        named = any(f"{self._agent}: " in line for line in stderr)  # by what started it inside
        return not_run(self._agent) if status == MISSING and named else ""

    def _located(
        self,
        program: str,
        environment: Mapping[str, str],
        cwd: str,
        rows: Mapping[str, Sequence[str]],
    ) -> str:
        """Return the first path of a program that exists inside: bwrap itself could only say that
        it found none. Relative entries of PATH are skipped: they lead into the session's directory,
        where anybody's program may lie."""
        named = environment.get("PATH", os.defpath).split(os.pathsep)
        for place in [cwd] if "/" in program else filter(os.path.isabs, named):
            path = os.path.normpath(os.path.join(place, program))
            if os.path.isfile(visible.source(path, rows)):
                return path
        hidden = [os.path.join(each, program) for each in self.place.path if os.path.isabs(each)]
        if "/" not in program and (there := [each for each in hidden if os.path.isfile(each)]):
            raise SandboxError(
                f"{program} is {there[0]}, which is not visible in the sandbox. Name its directory "
                "in sandbox.read, and that of the file if it is a link."
            )
        raise FileNotFoundError(2, "No such file or directory", program)

    # --- files -----------------------------------------------------------------------------------

    def _rows(self) -> dict[str, list[str]]:
        """Return what is mounted, by its place inside."""
        rows: dict[str, list[str]] = {}
        for path in visible.SYSTEM:
            if os.path.islink(path):
                rows[path] = ["--symlink", os.readlink(path), path]
            elif os.path.isdir(path):
                rows[path] = ["--ro-bind", path, path]
        rows |= {path: _masked(path) for path in visible.SECRETS if os.access(path, os.R_OK)}
        rows |= {path: ["--perms", "1777", "--tmpfs", path] for path in visible.PRIVATE}
        rows[self._user] = ["--tmpfs", self._user]
        rows |= {"/proc": ["--proc", "/proc"], "/dev": ["--dev", "/dev"]}
        closed = [f"/proc/{name}" for name in READ_ONLY if os.path.exists(f"/proc/{name}")]
        rows |= {path: ["--ro-bind", path, path] for path in closed}
        known = [*visible.SYSTEM, *self._roots]
        for path in sorted(self._readable, key=_depth):
            if os.path.exists(path) and not is_in(path, known):
                rows[path] = ["--ro-bind-try", os.path.realpath(path), path]
                known.append(path)
        outer = git.repositories(self._roots, [each.inside for each in self.place.binds])
        for bind in (*outer, *self.place.binds):
            if os.path.exists(bind.host) and not is_in(bind.inside, self._roots):
                rows[bind.inside] = _bound(bind, bind.inside)
                known.append(bind.inside)
        rows |= {path: _masked(path) for path in self._hidden if is_in(path, known)}
        for given, root in zip(self._placed, self._roots, strict=True):
            rows |= {path: ["--bind", root, path] for path in (root, given)}
            for bind in git.still(each for each in self._guarded if is_in(each.host, [root])):
                for place in (root, given):
                    inside = place + bind.host[len(root) :]
                    rows[inside] = _bound(bind, inside)
        return rows

    def _read(self) -> set[str]:
        """Return the paths to be readable, from how the session was created: nothing here may
        depend on what an agent says."""
        place, user = self.place, self._user
        named = visible.of_path(place.path, [user, *self._hidden], self._roots)
        if len(named) > visible.MOST_OF_PATH:
            self.notes.append(CROWDED)
        return {
            *named[: visible.MOST_OF_PATH],
            *(path for each in place.programs for path in visible.of_program(each, user)),
            *visible.of_python(),
            *visible.tools(user),
            *(visible.resolver() if self.wish.network == ON else ()),
        }


def unmade(message: str) -> str:
    """Return why the sandbox could not be made, from bwrap's message."""
    detail = message.removeprefix("bwrap: ")
    if detail.startswith("execvp "):
        return not_run(detail.removeprefix("execvp ").rpartition(": ")[0])
    if detail.startswith(OF_FILES):
        return f"The sandbox could not be made: {detail}."
    return (
        f"The sandbox could not be made ({detail}). If this system "
        "forbids user namespaces, docs/sandbox.md says how to allow them for bwrap."
    )


def not_run(program: str) -> str:
    return (
        f"{program} could not be run in the sandbox: it was not found there, or what its first "
        "line names was not. Name the directory that is missing in sandbox.read."
    )


def _bound(bind: Bind, inside: str) -> list[str]:
    return ["--bind" if bind.writable else "--ro-bind", os.path.realpath(bind.host), inside]


def door(port: int) -> str:
    """Return the socket inside that leads to a port of this machine."""
    return f"/run/rookery-{port}.s"


def _masked(path: str) -> list[str]:
    return ["--tmpfs", path] if os.path.isdir(path) else ["--ro-bind", os.devnull, path]


def _depth(path: str) -> int:
    return path.rstrip("/").count("/")


def find(roots: Sequence[str]) -> str:
    """Return the path of bwrap, skipping any an agent could have written. Raises SandboxError."""
    for place in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(place, PROGRAM)
        usable = os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK)
        if usable and not is_in(os.path.realpath(path), roots):
            return path
    raise SandboxError(f"The sandbox bwrap needs bubblewrap, which is not installed. {INSTALL}")
