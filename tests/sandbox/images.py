"""An image for containers, made of this machine's own Python and shell: nothing is fetched."""

import fcntl
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from functools import cache
from pathlib import Path

ENGINE = ("podman", *(("--runtime", "runc") if shutil.which("runc") else ()))
"""crun, which podman prefers, cannot do without control groups that are its own."""
LIMITS = "--ulimit nofile=1024:1024 --ulimit nproc=1024:1024"
"""Where a user may not have more, the engine's own default would be refused."""

VERSION = "2"
"""Of how it is made."""
NEEDED = (
    *("json", "os", "select", "signal", "sys", "time", "traceback", "contextlib", "ctypes"),
    *("threading", "socket", "struct", "subprocess", "glob", "fcntl", "stat", "typing"),
    *("encodings.idna", "codecs", "runpy", "importlib.util", "pkgutil", "asyncio"),
)
FILES = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
for module in list(sys.modules.values()):
    print(getattr(module, "__file__", None) or "")
"""


@cache
def image() -> str:
    """Its name; made once, whoever is first among the processes of a run. Raises
    CalledProcessError."""
    files = _files()
    tag = hashlib.sha256("\n".join([VERSION, *files]).encode()).hexdigest()[:12]
    name = f"localhost/rookery-test:{tag}"
    with open(Path(tempfile.gettempdir(), f"rookery-image-{os.getuid()}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if engine("image", "exists", name, check=False).returncode:
            engine("import", "--quiet", "-", name, input=_packed(files))
    return name


def engine(
    *words: str, check: bool = True, input: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    command = [*ENGINE, *words]
    return subprocess.run(command, check=check, capture_output=True, input=input, timeout=300)


@cache
def fault() -> str:
    """Why no container can run here; "": one does."""
    try:
        words = ("run", "--rm", "--network=none", *LIMITS.split(), "--entrypoint=/bin/sh")
        engine(*words, image(), "-c", "exit 0")
    except FileNotFoundError:
        return "podman is not installed"
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"podman cannot run a container here: {said[-1] if said else error}"
    return ""


def _files() -> list[str]:
    """The interpreter, the modules it needs, the shell, and the libraries of all of them."""
    python = os.path.realpath(sys.executable)
    listed = subprocess.run(
        [python, "-I", "-S", "-c", FILES, *NEEDED], check=True, capture_output=True, text=True
    )
    found = {python, "/bin/sh", *(path for path in listed.stdout.split("\n") if path)}
    packages = [Path(path).parent for path in found if path.endswith("__init__.py")]
    found |= {str(path) for package in packages for path in package.glob("*.py")}
    for path in sorted(each for each in found if each.endswith(".so") or "." not in each):
        told = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
        found |= {word for word in told.stdout.split() if word.startswith("/")}
    told = subprocess.run(["ldd", python], capture_output=True, text=True, check=False)
    found |= {word for word in told.stdout.split() if word.startswith("/")}
    return sorted(found)


def _packed(files: list[str]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", dereference=True) as archive:
        for path in files:
            archive.add(path)
        python = tarfile.TarInfo("usr/bin/python3")
        python.type, python.linkname = tarfile.SYMTYPE, os.path.realpath(sys.executable)
        archive.addfile(python)
        for name in ("tmp", "proc", "sys", "dev", "etc", "run"):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
            archive.addfile(folder)
    return data.getvalue()
