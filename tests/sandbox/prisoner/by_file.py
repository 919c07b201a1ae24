"""Ways out through the file system. `outside` has a file for each way, named after it: a way leads
out if that file is no longer what it was. `secrets` has files whose text nobody inside knows."""

import glob
import os
from collections.abc import Callable, Iterator
from typing import Any

type Plan = dict[str, Any]
type Way = Callable[[Plan, str], object]

WAYS: dict[str, Way] = {}


def way(function: Way) -> Way:
    WAYS[function.__name__.replace("_", "-")] = function
    return function


def write(path: str, name: str) -> str:
    """Only over what is there: a file of the same name in a place of its own proves nothing."""
    file = os.open(path, os.O_WRONLY | os.O_TRUNC)
    os.write(file, f"{name} was here".encode())
    os.close(file)
    return f"wrote {path}"


def read(path: str) -> str:
    with open(path, "rb") as file:
        return file.read(4096).decode("utf-8", "replace")


def processes() -> list[str]:
    """All that can be seen: the one that was started for a way may be the last of many."""
    return glob.glob("/proc/[0-9]*")


def tries(paths: Iterator[str], name: str) -> str:
    said = ["none"]
    for path in paths:
        try:
            return write(path, name)
        except OSError as error:
            said.append(f"{path}: {error.strerror}")
    return "; ".join(said[-4:])


@way
def write_absolute(plan: Plan, name: str) -> object:
    return write(f"{plan['outside']}/{name}", name)


@way
def write_dotdot(plan: Plan, name: str) -> object:
    return write(f"{plan['work']}/../{os.path.basename(plan['outside'])}/{name}", name)


@way
def write_link(plan: Plan, name: str) -> object:
    link = f"{plan['work']}/{name}"
    os.symlink(f"{plan['outside']}/{name}", link)
    return write(link, name)


@way
def write_hard_link(plan: Plan, name: str) -> object:
    link = f"{plan['work']}/{name}"
    os.link(f"{plan['outside']}/{name}", link)
    return write(link, name)


@way
def write_proc_self_root(plan: Plan, name: str) -> object:
    return write(f"/proc/self/root{plan['outside']}/{name}", name)


@way
def write_proc_1_root(plan: Plan, name: str) -> object:
    return write(f"/proc/1/root{plan['outside']}/{name}", name)


@way
def write_proc_worker_root(plan: Plan, name: str) -> object:
    return write(f"/proc/{plan['worker']}/root{plan['outside']}/{name}", name)


@way
def write_proc_roots(plan: Plan, name: str) -> object:
    return tries((f"{each}/root{plan['outside']}/{name}" for each in processes()), name)


@way
def write_proc_cwd(plan: Plan, name: str) -> object:
    up = "/.." * 12
    return tries((f"{each}/cwd{up}{plan['outside']}/{name}" for each in processes()), name)


@way
def write_proc_fd(plan: Plan, name: str) -> object:
    """A process out there has the file open."""
    files = (file for each in processes() for file in glob.glob(f"{each}/fd/*"))
    return tries((file for file in files if os.path.realpath(file).endswith(f"/{name}")), name)


@way
def write_inherited(plan: Plan, name: str) -> object:
    """By what was left open at the start."""
    found = []
    for number in map(int, os.listdir("/proc/self/fd")):
        try:
            file = os.open(f"..{plan['outside']}/{name}", os.O_WRONLY, dir_fd=number)
            os.write(file, b"out")
        except OSError as error:
            found.append(f"{number}: {error.strerror}")
    return found


@way
def rename_away(plan: Plan, name: str) -> object:
    os.rename(f"{plan['outside']}/{name}", f"{plan['work']}/{name}")


@way
def delete(plan: Plan, name: str) -> object:
    os.unlink(f"{plan['outside']}/{name}")


@way
def change_mode(plan: Plan, name: str) -> object:
    os.chmod(f"{plan['outside']}/{name}", 0o4777)  # noqa: S103


@way
def swap_root(plan: Plan, name: str) -> object:
    """The session's directory itself, as a link: what is mounted next goes elsewhere."""
    aside = f"{plan['work']}.{name}"
    os.rename(plan["work"], aside)
    os.symlink(plan["outside"], plan["work"])
    return write(f"{plan['work']}/{name}", name)


@way
def write_start_file(plan: Plan, name: str) -> object:
    """What the user's next shell runs: a way to set LD_PRELOAD, or anything."""
    for each in (".bashrc", ".profile"):
        with open(f"{plan['user']}/{each}", "a") as file:
            file.write(name)


@way
def write_environment_d(plan: Plan, name: str) -> object:
    folder = f"{plan['user']}/.config/environment.d"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/{name}.conf", "w") as file:
        file.write("LD_PRELOAD=/tmp/x.so\n")


@way
def write_cron(plan: Plan, name: str) -> object:
    """And a timer of systemd's, which the user's own manager reads from the home."""
    folder = f"{plan['user']}/.config/systemd/user"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/{name}.timer", "w") as file:
        file.write("[Timer]\n")


@way
def write_etc(plan: Plan, name: str) -> object:
    with open(f"/etc/{plan['token']}", "w") as file:
        file.write(name)


@way
def write_usr(plan: Plan, name: str) -> object:
    with open(f"/usr/{plan['token']}", "w") as file:
        file.write(name)


@way
def write_proc_sys(plan: Plan, name: str) -> object:
    with open(plan["sysctl"], "w") as file:
        file.write(plan["value"])


@way
def write_cgroup(plan: Plan, name: str) -> object:
    os.mkdir(f"{plan['cgroup']}/{plan['token']}")


@way
def plant_hook(plan: Plan, name: str) -> object:
    """In the session's own repository: it runs outside, with the user's next commit."""
    return plant(f"{plan['work']}/.git/hooks/{name}")


@way
def plant_setting(plan: Plan, name: str) -> object:
    """By a rename, as git does it: `core.fsmonitor` runs with every `git status`."""
    folder = f"{plan['work']}/.git"
    with open(f"{folder}/config.{name}", "w") as file:
        file.write(f"[core]\nfsmonitor = {name}\n")
    os.rename(f"{folder}/config.{name}", f"{folder}/config")


@way
def plant_repository(plan: Plan, name: str) -> object:
    """The whole of it moved aside, and another in its place."""
    folder = f"{plan['work']}/.git"
    os.rename(folder, f"{folder}.{name}")
    return plant(f"{folder}/hooks/{name}")


@way
def plant_hooks_aside(plan: Plan, name: str) -> object:
    folder = f"{plan['work']}/.git/hooks"
    os.rename(folder, f"{folder}.{name}")
    return plant(f"{folder}/{name}")


@way
def plant_in_namespace(plan: Plan, name: str) -> object:
    """With a mount namespace of its own, in which it is root."""
    path = f"{plan['work']}/.git/hooks"
    line = f"umount '{path}'; mount -o remount,rw,bind '{path}'; echo out > '{path}/{name}'"
    return os.system(f'unshare --user --map-root-user --mount /bin/sh -c "{line}" 2>&1')  # noqa: S605


def plant(path: str) -> str:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write("#!/bin/sh\n")
    return f"wrote {path}"


def _reading(name: str) -> None:
    WAYS[name] = lambda plan, name: read(plan["secrets"][name])


for _name in (
    *("read-other-home", "read-ssh-key", "read-config", "read-logs", "read-token"),
    *("read-worker-record", "read-shared-memory", "read-tmp"),
):
    _reading(_name)


@way
def read_proc_root(plan: Plan, name: str) -> object:
    return {_read_or_not(f"{each}/root{plan['secrets'][name]}") for each in processes()}


def _read_or_not(path: str) -> str:
    try:
        return read(path)
    except OSError as error:
        return str(error.strerror)
