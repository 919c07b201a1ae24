"""What lies around a sandbox, and what of it the prisoner reached, seen from outside: files that
changed, secrets that it could not have guessed, listeners that heard its ways' names."""

import ctypes
import os
import pty
import secrets
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from rookery.wire import frames
from tests.sandbox import traces

PRISONER = Path(__file__).with_name("prisoner")
sys.path.insert(0, str(PRISONER))  # its parts import nothing of ours
import by_client  # noqa: E402
import by_file  # noqa: E402
import by_network  # noqa: E402
import by_system  # noqa: E402

UNTOUCHED = "untouched"
ANOTHER = 12345
"""A user who is nobody here."""
SYSCTL = "/proc/sys/kernel/printk_ratelimit_burst"
KEYCTL, ADD_KEY, KEYCTL_UNLINK = 250, 248, 9
CROWD = 300
"""Processes that are tried to be started at once."""

LAST = ("swap-root", "stay-behind", "kill-worker")
"""They come after all others, each alone."""
PROXY = tuple(name for name in by_network.WAYS if name.startswith("proxy-"))
NETWORK = ("tcp", "tcp-any", "tcp6", "udp", "dns")
"""With the network on, these lead to where they should."""
WAYS = tuple(
    name
    for part in (by_file.WAYS, by_system.WAYS, by_network.WAYS, by_client.WAYS)
    for name in part
    if name not in LAST and name not in PROXY
)
PLANTED = tuple(name for name in WAYS if "plant-" in name)
NEIGHBOUR = """
import ctypes, signal, sys
secret = ctypes.create_string_buffer(bytes.fromhex(sys.argv[1]), 32)
signal.signal(signal.SIGUSR1, lambda *_: print("USR1", flush=True))
signal.signal(signal.SIGUSR2, lambda *_: print("USR2", flush=True))
held = open(sys.argv[2], "r+")
print(ctypes.addressof(secret), flush=True)
while True:
    signal.pause()
"""
"""A process of the same user's: it has a secret in its memory, its arguments and its environment,
and a file open."""


def secret() -> str:
    return f"rk-secret-{secrets.token_hex(12)}"


class Prison:
    """`root`: a directory of the test's. The session works in `work`."""

    def __init__(self, root: Path, home: str) -> None:
        self.root, self.home = root, home
        self.work, self.outside, self.user = root / "work", root / "outside", root / "user"
        self.token = f"rookery-test-{secrets.token_hex(6)}"
        self.known: dict[str, str] = {}
        """What only the evidence of a way can have from outside."""
        self.files: dict[str, str] = {}
        self.sockets: dict[str, str] = {}
        self.heard: set[str] = set()
        self.plan: dict[str, Any] = {}
        self.special: dict[str, Callable[[], bool]] = {}
        """Ways whose success shows elsewhere."""
        self._ends = ExitStack()
        self.work.mkdir(exist_ok=True)
        self._found()
        shutil.copytree(PRISONER, self.work / "prisoner", ignore=shutil.ignore_patterns("__py*"))

    def close(self) -> None:
        self._ends.close()

    @property
    def environment(self) -> dict[str, str]:
        """What the user has when the session is made."""
        self.known["environment"] = value = secret()
        return {
            "HOME": str(self.user),
            "XDG_RUNTIME_DIR": str(self.root / "runtime"),
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.sockets['socket-of-bus']}",
            "SSH_AUTH_SOCK": self.sockets["socket-of-ssh-agent"],
            "ROOKERY_TOKEN": value,
        }

    # --- what is there ---------------------------------------------------------------------------

    def furnish(self) -> None:
        self.outside.mkdir()
        for name in (*WAYS, *LAST, *PROXY):
            (self.outside / name).write_text(UNTOUCHED)
        self._hide()
        self._listen()
        self._open_system()
        self.plan |= {
            "work": str(self.work),
            "outside": str(self.outside),
            "user": str(self.user),
            "token": self.token,
            "secrets": self.files,
            "sockets": self.sockets,
            "processes": CROWD,
            "orphan": f"{self.token}-orphan",
        }

    def _hide(self) -> None:
        """Secrets in files."""
        places = {
            "read-other-home": self.root / "neighbour" / ".ssh" / "id_ed25519",
            "read-ssh-key": self.user / ".ssh" / "id_rsa",
            "read-config": self.user / ".config" / "gh" / "hosts.yml",
            "read-logs": Path(self.home, "sessions", "00000000-other", "log.db"),
            "read-token": Path(self.home, "devices.json"),
            "read-worker-record": Path(self.home, "run", "other.json"),
            "read-shared-memory": Path("/dev/shm", self.token),
            "read-tmp": Path("/tmp", self.token),
        }
        others = ("read-proc-root", "client-read", "client-read-proc", "terminal-read")
        places |= {name: self.root / "neighbour" / name for name in others}
        for name, path in places.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            self.known[name] = secret()
            path.write_text(self.known[name] + "\n")
            path.chmod(0o600)
            self.files[name] = str(path)
            self._ends.callback(path.unlink, missing_ok=True)
        for name in (".bashrc", ".profile"):
            (self.user / name).write_text(UNTOUCHED)
        self.special |= {
            "write-start-file": lambda: (self.user / ".bashrc").read_text() != UNTOUCHED,
            "write-environment-d": (self.user / ".config/environment.d").exists,
            "write-cron": (self.user / ".config/systemd").exists,
            "change-mode": lambda: bool((self.outside / "change-mode").stat().st_mode & 0o4000),
            "swap-root": lambda: os.path.islink(self.work),
            "terminal-loader": lambda: any(self.outside.glob("terminal-loader.*")),
        }
        for name, folder in {"write-etc": "/etc", "write-usr": "/usr"}.items():
            self._made(name, os.path.join(folder, self.token), os.unlink)

    def _found(self) -> None:
        """A repository of the user's, in which the session works. What is planted there, git would
        run: each hook has the name of the way to it."""
        repository = self.work / ".git"
        for name in ("hooks", "objects", "refs"):
            (repository / name).mkdir(parents=True)
        (repository / "HEAD").write_text("ref: refs/heads/main\n")
        (repository / "config").write_text("[core]\n")
        for name in PLANTED:
            self.special[name] = lambda name=name: any(self.work.glob(f".git*/hooks*/{name}"))
        files = ".git*/config"
        self.special["plant-setting"] = lambda: any(
            "fsmonitor" in path.read_text() for path in self.work.glob(files)
        )

    def _made(self, name: str, path: str, remove: Callable[[str], None]) -> None:
        def undo() -> None:
            with suppress(OSError):
                remove(path)

        self.special[name] = lambda: os.path.lexists(path)
        self._ends.callback(undo)

    def _listen(self) -> None:
        """Servers on loopback and in the file system. A UDP packet counts, too."""
        short = Path(tempfile.mkdtemp(prefix="rk-", dir="/tmp"))
        self._ends.callback(shutil.rmtree, short, ignore_errors=True)
        run = Path(self.home, "run")
        run.mkdir(exist_ok=True)
        self.sockets |= {
            "socket-of-rookery": str(run / f"{self.token[-6:]}.s"),
            "socket-of-other-rookery": str(short / "d.sock"),
            "socket-in-tmp": str(short / "s"),
            "socket-of-bus": str(self._short(self.root / "runtime", short) / "bus"),
            "socket-of-ssh-agent": str(self._short(self.root / "runtime", short) / "ssh"),
        }
        if os.access("/run", os.W_OK):
            self.sockets["socket-in-run"] = f"/run/{self.token}.sock"
        for path in self.sockets.values():
            self._serve(socket.AF_UNIX, path)
            self._ends.callback(Path(path).unlink, missing_ok=True)
        self.plan["abstract"] = self.token
        self._serve(socket.AF_UNIX, f"\0{self.token}")
        for name in ("tcp", "listed"):
            self.plan[name] = self._serve(socket.AF_INET, ("127.0.0.1", 0))
        self.plan["udp"] = self._serve(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM)
        with suppress(OSError):
            self.plan["tcp6"] = self._serve(socket.AF_INET6, ("::1", 0))

    @staticmethod
    def _short(wanted: Path, short: Path) -> Path:
        """A socket's path has a limit."""
        wanted.mkdir(exist_ok=True)
        return wanted if len(str(wanted)) < 90 else short

    def _serve(self, family: int, address: Any, kind: int = socket.SOCK_STREAM) -> Any:
        server = socket.socket(family, kind)
        self._ends.callback(traces.end_socket, server)
        server.bind(address)

        def note(data: bytes) -> None:
            words = data.replace(b"/", b" ").split()
            self.heard |= {name for name in (*WAYS, *PROXY) if name.encode() in words}

        def packets() -> None:
            with suppress(OSError):
                while True:
                    data = server.recv(4096)
                    found = [name for name in NETWORK if data.strip() == name.encode()]
                    self.heard |= {*found, *(["dns"] if b"\x03dns\x04test" in data else [])}

        def connections() -> None:
            with suppress(OSError):
                while True:
                    speaker, _ = server.accept()
                    with speaker, suppress(OSError):
                        speaker.settimeout(10)
                        note(speaker.recv(4096))

        if kind == socket.SOCK_STREAM:
            server.listen(50)
        work = connections if kind == socket.SOCK_STREAM else packets
        threading.Thread(target=work, daemon=True).start()
        return server.getsockname()[1] if family != socket.AF_UNIX else None

    def _open_system(self) -> None:
        """A neighbour, a key, a terminal, a disk."""
        value = secrets.token_hex(32)
        self.known |= dict.fromkeys(("trace-neighbour", "copy-neighbour-memory"), value[:64])
        for name in ("see-processes", "read-environments"):
            self.known[name] = secret()
        words = [value, str(self.outside / "write-proc-fd"), self.known["see-processes"]]
        master, slave = pty.openpty()
        self._ends.callback(os.close, master)
        self._ends.callback(os.close, slave)
        neighbour = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", NEIGHBOUR, *words],
            stdin=slave,
            stdout=subprocess.PIPE,
            env={"MINE": self.known["read-environments"]},
        )
        self._ends.callback(traces.end_process, neighbour)
        assert neighbour.stdout is not None
        address = int(neighbour.stdout.readline())
        os.set_blocking(neighbour.stdout.fileno(), False)
        said = bytearray()

        def was_told(word: bytes) -> bool:
            with suppress(BlockingIOError):
                said.extend(os.read(neighbour.stdout.fileno(), 4096))  # type: ignore[union-attr]
            return word in said

        self.special |= {
            "kill-neighbour": lambda: was_told(b"USR1"),
            "kill-everybody": lambda: was_told(b"USR2"),
            "type-into-terminal": lambda: traces.shows(master, b"type-into-terminal"),
        }
        self.plan |= {
            "neighbour": neighbour.pid,
            "terminal": os.ttyname(slave),
            "memory": {"neighbour": [address, 32]},
            "sysctl": SYSCTL,
        }
        self._add_key()
        self._find_disk()
        before, value = Path(SYSCTL).read_text(), str(11 + secrets.randbelow(1_000_000))
        self.plan["value"] = value  # another test may change it meanwhile, but not to this
        self.special["write-proc-sys"] = lambda: Path(SYSCTL).read_text().strip() == value
        self._ends.callback(traces.restore, SYSCTL, value, before)
        self.plan["cgroup"] = traces.cgroup()
        self._made("write-cgroup", f"{self.plan['cgroup']}/{self.token}", os.rmdir)
        mounted = self.work / "mount"
        self.special["mount"] = lambda: self.token in Path("/proc/self/mounts").read_text()
        self._ends.callback(subprocess.run, ["umount", "-l", mounted], capture_output=True)
        self.special["kernel-log"] = lambda: self.token in traces.kernel_log()
        if os.getuid() == 0:
            self._lend()

    def _lend(self) -> None:
        """A program of another user's with the set-user-ID bit, and a file for it alone."""
        program, kept = self.work / "suid-cat", self.work / "suid-secret"
        shutil.copy("/bin/cat", program)
        self.known["set-user-id"] = secret()
        kept.write_text(self.known["set-user-id"])
        for path, mode in ((program, 0o4755), (kept, 0o400)):
            os.chown(path, ANOTHER, ANOTHER)
            path.chmod(mode)
        self.work.chmod(0o755)
        self.plan["setuid"] = ["./suid-cat", "suid-secret"]

    def _add_key(self) -> None:
        if os.uname().machine != "x86_64":  # elsewhere the calls have other numbers
            return
        libc = ctypes.CDLL(None, use_errno=True)
        value = secret()
        self.plan["key"] = self.token
        words = self.token.encode(), value.encode(), len(value)
        key = libc.syscall(ADD_KEY, b"user", *words, by_system.USER_KEYRING)
        if key >= 0:
            self.known["keyring"] = value
            ring = by_system.USER_KEYRING
            self._ends.callback(libc.syscall, KEYCTL, KEYCTL_UNLINK, key, ring)

    def _find_disk(self) -> None:
        """Sixteen bytes of the disk that this file is on, which do not change."""
        numbers = os.stat(__file__).st_dev
        entries = [entry.path for entry in os.scandir("/dev") if not entry.is_symlink()]
        blocks = [path for path in entries if stat.S_ISBLK(os.stat(path).st_mode)]
        path = next((path for path in blocks if os.stat(path).st_rdev == numbers), "/dev/sda")
        offset, size = 1024 + 104, 16  # where ext4 has its UUID
        found = b""
        with suppress(OSError), open(path, "rb", buffering=0) as file:
            found = os.pread(file.fileno(), size, offset)
        place = {"numbers": [os.major(numbers), os.minor(numbers)], "path": path}
        self.plan["disk"] = {**place, "offset": offset, "size": size}
        if any(found):
            self.known |= dict.fromkeys(("make-device", "open-device"), found.hex())

    def meet(self, worker: int, control: dict[str, str]) -> None:
        """The worker is there: sixteen bytes that only its memory has, and where it listens."""
        address, random = traces.random_bytes(worker)
        self.plan["worker"] = worker
        self.plan["memory"]["worker"] = address, 16
        names = ("trace-worker", "copy-worker-memory", "open-worker-memory")
        self.known |= dict.fromkeys(names, random.hex()) if random else {}
        command = {"id": f"WAY-{self.token}", "do": "rename", "title": "WAY"}
        said = [frames.hello("0", "test", 0), frames.encode("command", command)]
        self.plan["control"] = {**control, "frames": [each.decode() for each in said]}

    @staticmethod
    def own_name() -> str:
        """A name of this machine, other than localhost, that leads to its loopback; else one that
        leads nowhere."""
        with suppress(OSError):
            if socket.gethostbyname(socket.gethostname()).startswith("127."):
                return socket.gethostname()
        return "rookery.invalid"

    # --- what was reached ------------------------------------------------------------------------

    def possible(self) -> list[str]:
        """Ways that can be tried at all here."""
        missing = {
            "socket-in-run": "socket-in-run" not in self.sockets,
            "set-user-id": "setuid" not in self.plan,
            "tcp6": "tcp6" not in self.plan,
            **{name: name not in self.known for name in ("keyring", "make-device", "open-device")},
            **{name: name not in self.known for name in ("trace-worker", "copy-worker-memory")},
            "open-worker-memory": "open-worker-memory" not in self.known,
            "command-by-name": not self.plan.get("control", {}).get("name"),
        }
        return [name for name in WAYS if not missing.get(name)]

    def led_out(self, name: str, evidence: str) -> bool:
        """Whether a way did, by what can be seen from here."""
        canary = self.outside / name
        if canary.parent.exists() and (not canary.exists() or canary.read_text() != UNTOUCHED):
            return True
        if name in self.known and self.known[name] in evidence:
            return True
        return name in self.heard or (name in self.special and self.special[name]())
