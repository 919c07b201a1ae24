"""Ways out through other processes and the kernel."""

import ctypes
import fcntl
import glob
import os
import signal
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

type Plan = dict[str, Any]
type Way = Callable[[Plan, str], object]

WAYS: dict[str, Way] = {}
PTRACE_PEEKDATA, PTRACE_ATTACH, PTRACE_DETACH = 2, 16, 17
CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 32, 4096, 16384, 1 << 18, 2
KEYCTL, KEYCTL_SEARCH, KEYCTL_READ = 250, 10, 11  # as x86 counts; others: not tried
USER_KEYRING, USER_SESSION_KEYRING = -4, -5
TIOCSTI = 0x5412

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def way(function: Way) -> Way:
    WAYS[function.__name__.replace("_", "-")] = function
    return function


def checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def write(path: str, name: str) -> str:
    file = os.open(path, os.O_WRONLY | os.O_TRUNC)
    os.write(file, f"{name} was here".encode())
    os.close(file)
    return f"wrote {path}"


def words_of(pid: int, address: int, size: int) -> str:
    """A process's memory, word by word."""
    checked(_libc.ptrace(PTRACE_ATTACH, pid, None, None))
    os.waitpid(pid, 0x40000000)  # __WALL
    try:
        found = b""
        for offset in range(0, size, 8):
            value = _libc.ptrace(PTRACE_PEEKDATA, pid, address + offset, None)
            found += struct.pack("=q", value)
        return found.hex()
    finally:
        _libc.ptrace(PTRACE_DETACH, pid, None, None)


def copied(pid: int, address: int, size: int) -> str:
    class Piece(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("len", ctypes.c_size_t))

    place = ctypes.create_string_buffer(size)
    here, there = Piece(ctypes.addressof(place), size), Piece(address, size)
    call = _libc.process_vm_readv
    checked(call(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0))
    return place.raw.hex()


@way
def trace_worker(plan: Plan, name: str) -> object:
    return words_of(plan["worker"], *plan["memory"]["worker"])


@way
def trace_neighbour(plan: Plan, name: str) -> object:
    return words_of(plan["neighbour"], *plan["memory"]["neighbour"])


@way
def copy_worker_memory(plan: Plan, name: str) -> object:
    return copied(plan["worker"], *plan["memory"]["worker"])


@way
def copy_neighbour_memory(plan: Plan, name: str) -> object:
    return copied(plan["neighbour"], *plan["memory"]["neighbour"])


@way
def open_worker_memory(plan: Plan, name: str) -> object:
    address, size = plan["memory"]["worker"]
    with open(f"/proc/{plan['worker']}/mem", "rb", buffering=0) as file:
        return os.pread(file.fileno(), size, address).hex()


@way
def read_environments(plan: Plan, name: str) -> object:
    """Of every process that can be seen: one has a secret in it."""
    return _of_all("environ")


@way
def see_processes(plan: Plan, name: str) -> object:
    return _of_all("cmdline")


def _of_all(file: str) -> str:
    found = []
    for path in glob.glob(f"/proc/[0-9]*/{file}"):
        try:
            with open(path, "rb") as each:
                text = each.read(20_000).decode("utf-8", "replace")
        except OSError:
            continue
        found += [word for word in text.split("\0") if "rk-secret" in word]
    return found


@way
def kill_neighbour(plan: Plan, name: str) -> object:
    os.kill(plan["neighbour"], signal.SIGUSR1)


@way
def kill_everybody(plan: Plan, name: str) -> object:
    """Whoever can be signalled: SIGUSR2 is harmless to all but to the one who waits for it."""
    for path in glob.glob("/proc/[0-9]*"):
        pid = int(os.path.basename(path))
        if pid == plan["neighbour"]:
            os.kill(pid, signal.SIGUSR2)
            return "sent"
    return "not seen"


@way
def kill_worker(plan: Plan, name: str) -> object:
    os.kill(plan["worker"], signal.SIGKILL)


@way
def set_user_id(plan: Plan, name: str) -> object:
    """A program of another user's, which reads what only that user may read."""
    os.chdir(plan["work"])
    told = subprocess.run(plan["setuid"], capture_output=True, text=True, check=False)
    return told.stdout + told.stderr


def apart() -> None:
    """Mounts of its own, so that what follows harms nobody where nothing is around this agent."""
    if _libc.unshare(CLONE_NEWUSER | CLONE_NEWNS):
        checked(_libc.unshare(CLONE_NEWNS))
    checked(_libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))


@way
def unshare_and_remount(plan: Plan, name: str) -> object:
    """A user namespace of its own gives privileges over its own mounts."""
    apart()
    places = ("/", os.path.dirname(plan["outside"]), plan["outside"])
    flags = MS_REMOUNT | MS_BIND
    said = [_libc.mount(None, place.encode(), None, flags, None) for place in places]
    return said, write(f"{plan['outside']}/{name}", name)


@way
def unmount(plan: Plan, name: str) -> object:
    """What covers a place may be taken away again."""
    apart()
    place, said = plan["outside"], []
    while place != "/":
        if _libc.umount2(place.encode(), MNT_DETACH):
            said.append(f"{place}: {os.strerror(ctypes.get_errno())}")
        place = os.path.dirname(place)
    return said, write(f"{plan['outside']}/{name}", name)


@way
def mount(plan: Plan, name: str) -> object:
    folder = f"{plan['work']}/{name}"
    os.mkdir(folder)
    checked(_libc.mount(plan["token"].encode(), folder.encode(), b"tmpfs", 0, None))


@way
def enter_namespaces(plan: Plan, name: str) -> object:
    said = []
    for pid in (1, os.getppid(), plan["worker"]):
        try:
            with open(f"/proc/{pid}/ns/mnt") as space:
                checked(_libc.setns(space.fileno(), 0))
            return write(f"{plan['outside']}/{name}", name)
        except OSError as error:
            said.append(f"{pid}: {error}")
    return said


@way
def change_root(plan: Plan, name: str) -> object:
    said = []
    for place in ("/proc/1/root", f"/proc/{plan['worker']}/root"):
        try:
            os.chroot(place)
            os.chdir("/")
            return write(f"{plan['outside']}/{name}", name)
        except OSError as error:
            said.append(str(error))
    return said


@way
def climb_out_of_root(plan: Plan, name: str) -> object:
    """The old way: a directory that stays open above a new root."""
    folder = f"{plan['work']}/{name}"
    os.mkdir(folder)
    here = os.open("/", os.O_RDONLY)
    os.chroot(folder)
    os.fchdir(here)
    for _ in range(20):
        os.chdir("..")
    os.chroot(".")
    return write(f"{plan['outside']}/{name}", name)


@way
def make_device(plan: Plan, name: str) -> object:
    """The disk itself, by its numbers."""
    path = f"{plan['work']}/{name}"
    os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(*plan["disk"]["numbers"]))
    return _disk(path, plan)


@way
def open_device(plan: Plan, name: str) -> object:
    return _disk(plan["disk"]["path"], plan)


def _disk(path: str, plan: Plan) -> str:
    with open(path, "rb", buffering=0) as file:
        return os.pread(file.fileno(), plan["disk"]["size"], plan["disk"]["offset"]).hex()


@way
def kernel_log(plan: Plan, name: str) -> object:
    with open("/dev/kmsg", "w") as file:
        file.write(f"{plan['token']} {name}\n")


@way
def keyring(plan: Plan, name: str) -> object:
    """A key of the user's."""
    said = []
    for ring in (USER_KEYRING, USER_SESSION_KEYRING):
        key = _libc.syscall(KEYCTL, KEYCTL_SEARCH, ring, b"user", plan["key"].encode(), 0)
        place = ctypes.create_string_buffer(200)
        if key >= 0 and _libc.syscall(KEYCTL, KEYCTL_READ, key, place, 200) >= 0:
            return place.value.decode()
        said.append(os.strerror(ctypes.get_errno()))
    return said


@way
def type_into_terminal(plan: Plan, name: str) -> object:
    said = []
    for path in (plan["terminal"], "/dev/tty", f"/proc/{plan['neighbour']}/fd/0"):
        try:
            file = os.open(path, os.O_RDWR | os.O_NOCTTY)
        except OSError as error:
            said.append(f"{path}: {error.strerror}")
            continue
        try:
            for letter in f"{name}\n":
                fcntl.ioctl(file, TIOCSTI, letter.encode())
        except OSError as error:
            said.append(f"{path}: {error.strerror}")
        os.write(file, name.encode())
    return said


@way
def many_processes(plan: Plan, name: str) -> object:
    """More than the limit, all at once, until the test has counted them; bounded."""
    children, said = [], ""
    try:
        for _ in range(plan["processes"]):
            child = os.fork()
            if child == 0:
                signal.alarm(30)
                signal.pause()
            children.append(child)
    except OSError as error:
        said = str(error)
    with open(f"{plan['work']}/{name}.made", "w") as file:
        file.write(str(len(children)))
    until = time.monotonic() + 12
    while not os.path.exists(f"{plan['work']}/{name}.counted") and time.monotonic() < until:
        time.sleep(0.05)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return said, len(children)


@way
def stay_behind(plan: Plan, name: str) -> object:
    """An orphan of its own session without a variable, which is meant to outlive the agent."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.close(reading)
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            os.close(writing)
            code = "import signal,time; signal.signal(15, 1); signal.signal(1, 1); time.sleep(120)"
            os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", code, plan["orphan"]], {})
        os._exit(0)
    os.close(writing)
    os.read(reading, 1)
    return "left"


@way
def environment(plan: Plan, name: str) -> object:
    return {key: value for key, value in os.environ.items() if "rk-secret" in value}
