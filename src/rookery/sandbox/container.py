"""The sandbox kind `container`: podman, else docker, around the command. An image has the agent's
program; of this machine only the session's directories are inside, and what the agent keeps.

The first command is the agent, and `keeper.py` is around it: it starts the container, which lives
as long as the agent does. Later commands run in the same container."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

from rookery.core.settings.sandbox import LISTED, ON
from rookery.core.vendors.environment import TERMINAL
from rookery.processes import LINUX, home_tag
from rookery.sandbox import engine, git, keeper
from rookery.sandbox.bwrap import DOOR, PORT, TOWARDS, door
from rookery.sandbox.plan import Bind, Place, Sandbox, SandboxError, Spawn, Wish
from rookery.sandbox.proxy import Proxy
from rookery.sandbox.relay import Relay, listening, port_here
from rookery.sandbox.visible import check_roots, is_in

SEALED = (
    *("--cap-drop=all", "--security-opt=no-new-privileges", "--security-opt=label=disable"),
    *("--pull=never", "--rm", "-i"),
)
OWN = frozenset(("PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "OLDPWD", "TMPDIR", "HOSTNAME"))
OWN_PREFIXES = ("LD_", "XDG_", "DBUS_", "SSH_", "GPG_", "TMUX", "CONTAINER", "DOCKER_", "PODMAN_")
"""Variables that are the image's own, or that lead to what is not inside."""

FORWARD = "/run/rookery-forward.py"
MISSING = (125, 126, 127)
"""How the engine ends when it could not run the command: its own fault, no program, no such one."""


class Container(Sandbox):
    def __init__(self, wish: Wish, place: Place) -> None:
        super().__init__(wish, place)
        self._engine = engine.find(wish.engine, place.roots)
        self._image = wish.image
        check_roots(place)
        self._proxy: Proxy | None = None
        self._relays: list[Relay] = []
        self._session = f"{home_tag(place.hidden[0])}-{place.mark.partition('.')[0]}"
        self._name = f"rookery-{self._session}"
        self._roots = _roots(place, wish.workspace)
        hosts = list(dict.fromkeys(bind.host for bind in self._roots))
        self._placeholders = None if wish.git_hooks else git.placeholders(hosts)
        self._binds = _binds(place, self._roots, guard=not wish.git_hooks)
        self._first: dict[str, str] | None = None
        self._program = ""
        self._running = os.path.join(place.scratch, "running")

    def spawn(self, argv: Sequence[str], environment: Mapping[str, str], cwd: str) -> Spawn:
        files = os.path.join(self.place.scratch, f"env-{os.urandom(6).hex()}")
        first, self._first = self._first is None, self._first or dict(environment)
        listed = self.wish.network == LISTED
        _write(files, self._inside(environment) | (TOWARDS if listed else {}))
        args = [*self._engine, "exec", "-i", f"--env-file={files}", "--workdir"]
        doors = {PORT: DOOR} if listed else {}
        doors |= {str(port): door(port) for port in self.place.ports}
        forward = [
            word
            for port in (doors if first else ())
            for word in ("python3", "-I", "-S", FORWARD, doors[port], port)
        ]
        command = [*args, self.to_agent(cwd), self._name, *forward, *argv]
        if first:
            self._program = argv[0]
            _write(self._running, {})
            plan = {"remove": self._remove(), "run": self._run(), "exec": command}
            plan |= {"prune": self._prune(), "left": self._left(), "running": [self._running]}
            command = [sys.executable, "-I", "-S", keeper.__file__, json.dumps(plan)]
        # The engine is no part of what it is around: it gets nothing that the agent could choose.
        outer = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
        if mark := environment.get(TERMINAL):
            outer[TERMINAL] = mark
        return Spawn(command, outer, "/", wrapped=True, fenced=False)

    def close(self) -> None:
        for leading in (self._proxy, *self._relays):
            if leading is not None:
                leading.close()
        if os.path.exists(self._running):  # the keeper was killed before it was done
            subprocess.run(self._remove(), capture_output=True, check=False)
        if self._placeholders is not None:
            self._placeholders.close()

    def to_host(self, path: str) -> str:
        return _moved(path, [(bind.inside, bind.host) for bind in self._roots])

    def to_agent(self, path: str) -> str:
        return _moved(path, [(bind.host, bind.inside) for bind in self._roots])

    def fault(self, status: int, stderr: Sequence[str], /) -> str:
        lines = [line.strip() for line in stderr if line.strip()]
        errors = [line for line in lines if line.startswith(("Error:", "docker:"))] or lines[-1:]
        last = errors[0].removeprefix("Error: ") if errors else f"status {status}"
        if status not in MISSING:
            return ""
        if any(phrase in line for line in lines for phrase in engine.MISSING):
            return engine.missing(self._image, self._engine, self.place.make_image)
        if status == MISSING[-1] and "python3" in last and self.wish.network == LISTED:
            return (
                f"The sandbox container needs python3 in the image {self._image} for a network of "
                "listed hosts. Add it, or set sandbox.network to on or off."
            )
        if status == MISSING[-1]:
            return f"{engine.lacking(self._image, self._program, self.place.make_image)} ({last})"
        name = os.path.basename(self._engine[0])
        return f"The sandbox container could not be started by {name}: {last}"

    # --- arguments -------------------------------------------------------------------------------

    def _remove(self) -> list[str]:
        at_once = ("--time=0",) if self._podman() else ()
        return [*self._engine, "rm", "--force", *at_once, self._name]

    def _prune(self) -> list[str]:
        """Return the command that removes killed workers' containers, not starting ones."""
        filters = ("--filter=label=rookery.session", "--filter=until=10m")
        return [*self._engine, "container", "prune", "--force", *filters]

    def _left(self) -> list[str]:
        """Return the command that lists containers whose engine process may be gone; [] for docker,
        whose daemon itself notices when a container is killed."""
        listed = ("ps", "--all", "--filter=label=rookery.session", "--format={{.Names}} {{.Pid}}")
        return [*self._engine, *listed] if self._podman() and LINUX else []

    def _podman(self) -> bool:
        return "podman" in os.path.basename(self._engine[0])

    def _run(self) -> list[str]:
        wish, place = self.wish, self.place
        user = f"--user={os.getuid()}:{os.getgid()}"
        mapped = ("--userns=keep-id",) if self._podman() and os.getuid() else ()
        return [
            *(*self._engine, "run", *SEALED, user, *mapped, f"--name={self._name}"),
            *(f"--label=rookery.session={self._session}", f"--pids-limit={wish.pids}"),
            *(() if wish.network == ON else ("--network=none",)),
            *(f"--tmpfs={place.user}:rw,exec,mode=1777", f"--env=HOME={place.user}"),
            *(_mount(bind) for bind in sorted(self._binds, key=lambda bind: len(bind.inside))),
            *(_mount(bind) for bind in self._doors()),
            *(
                *engine.split("args", wish.args),
                "--entrypoint=/bin/sh",
                self._image,
                "-c",
                keeper.WAITING,
            ),
        ]

    def _doors(self) -> list[Bind]:
        """Return binds for the sockets of the proxy, if the network is a list, and of ports on this
        machine; and for the program that leads to them from inside."""
        binds, scratch = list[Bind](), self.place.scratch
        if self.wish.network == LISTED:
            self._proxy = Proxy(scratch, "proxy", self.wish.allow)
            binds.append(Bind(self._proxy.path, DOOR, writable=True))
        for port in self.place.ports:
            name = f"port-{port}"
            self._relays.append(Relay(listening(scratch, name), port_here(port)))
            binds.append(Bind(os.path.join(scratch, name), door(port), writable=True))
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "forward.py")
        return [*binds, Bind(source, FORWARD)] if binds else []

    def _inside(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Leave out variables that name the user's own places, unless the agent itself sets
        them."""
        before = self._first or {}
        return {
            name: value
            for name, value in environment.items()
            if not (name in OWN or name.startswith(OWN_PREFIXES)) or before.get(name) != value
        }


def _roots(place: Place, workspace: str) -> list[Bind]:
    """Return the session's directories: the first at the place that the settings name, the others
    both by the name they were given and by their real one."""
    cwd, *others = [(os.path.realpath(root), root) for root in place.roots]
    binds = [Bind(cwd[0], workspace, writable=True)] if workspace else []
    for host, given in others if workspace else (cwd, *others):
        binds += [Bind(host, inside, writable=True) for inside in dict.fromkeys((given, host))]
    return binds


def _binds(place: Place, roots: Sequence[Bind], *, guard: bool) -> list[Bind]:
    """Return these binds with everything else the session has inside. Raises SandboxError."""
    own, given = [bind.inside for bind in roots], [bind.inside for bind in place.binds]
    hosts = list(dict.fromkeys(bind.host for bind in roots))
    known = {bind.inside: bind for bind in roots}
    for bind in (*git.repositories(hosts, given), *place.binds):
        if os.path.exists(bind.host) and not is_in(bind.inside, own):
            known[bind.inside] = bind
    for bind in git.guarded(hosts) if guard else ():
        for root in roots:
            if is_in(bind.host, [root.host]):
                inside = root.inside + bind.host[len(root.host) :]
                known[inside] = bind._replace(inside=inside)
    if odd := [path for bind in known.values() for path in bind[:2] if set(path) & set(',"\n')]:
        raise SandboxError(
            f"The sandbox container cannot be around {odd[0]!r}: neither a comma, a quotation mark "
            "nor a line break may be in its name."
        )
    return list(known.values())


def _mount(bind: Bind) -> str:
    how = "" if bind.writable else ",readonly"
    return f"--mount=type=bind,source={os.path.realpath(bind.host)},target={bind.inside}{how}"


def _moved(path: str, rows: Sequence[tuple[str, str]]) -> str:
    """Translate a path below one place into a path below the other; the longest matching place
    counts."""
    for before, after in sorted(rows, key=lambda row: -len(row[0])):
        if is_in(path, [before]):
            return after + path[len(before) :]
    return path


def _write(path: str, environment: Mapping[str, str]) -> None:
    """Write a file of variables for the engine, private since it may hold secrets. A value of
    several lines has no place there, nor has a name that no shell knows."""
    fit = {name: value for name, value in environment.items() if name.isidentifier()}
    lines = [f"{name}={value}\n" for name, value in fit.items() if "\n" not in value]
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(file, "w", encoding="utf-8", errors="surrogateescape") as stream:
        stream.writelines(lines)
