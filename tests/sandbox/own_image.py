"""A base image with all that Rookery's own agent needs but Rookery itself, made of this machine's
own programs and this environment's packages: nothing is fetched, and pip finds nothing missing."""

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

from tests.sandbox import images

VERSION = "1"
"""Of how it is made."""
PROGRAMS = (
    *("sh", "bash", "tmux", "git", "touch", "sleep", "cat", "ls", "mkdir", "rm", "env", "id"),
    *("uname", "stty", "tty", "ps", "grep", "sed", "head", "tail", "clear", "dirname"),
)
WHEELS = (
    *("libstdc++.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2", "librt.so.1"),
    *("libutil.so.1", "libm.so.6", "libz.so.1", "libresolv.so.2", "libnss_files.so.2"),
    *("libnss_dns.so.2", "libexpat.so.1"),
)
"""Libraries that compiled packages expect of every system."""
DATA = ("/lib/terminfo", "/usr/share/terminfo", "/usr/lib/locale/C.utf8", "/etc/localtime")
LEFT_OUT = (
    *(
        "googleapiclient/discovery_cache/documents",
        "litellm/proxy/_experimental/out",
        "botocore/data",
    ),
    *("python3.13/test", "python3.13/idlelib", "python3.13/ensurepip", "site-packages/mypy"),
    *("site-packages/playwright", "libpython3.13.a", "config-3.13-", "__mypyc"),
    *("site-packages/rookery", "site-packages/_rookery", "bin/rookery"),
)
LIBRARY = Path("lib", f"python3.{sys.version_info.minor}", "site-packages")
PACKAGES = sys.prefix / LIBRARY
PASSWD = "root:x:0:0::/root:/bin/bash\nme:x:{uid}:{gid}::/home/me:/bin/bash\n"


@cache
def base() -> str:
    """Its name; made once on a machine. Raises CalledProcessError."""
    files, packages = _files(), sorted(path.name for path in PACKAGES.glob("*.dist-info"))
    parts = [VERSION, sys.prefix, sys.version, str(os.getuid()), *LEFT_OUT, *files, *packages]
    tag = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]
    name = f"localhost/rookery-test-base:{tag}"
    with open(Path(tempfile.gettempdir(), f"rookery-base-{os.getuid()}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if images.engine("image", "exists", name, check=False).returncode:
            with tempfile.NamedTemporaryFile(suffix=".tar") as packed:
                _pack(packed.name, files)
                set_ = ("ENV PIP_NO_INDEX=1", f"ENV PATH={sys.prefix}/bin:/usr/bin:/bin")
                changes = [f"--change={each}" for each in set_]
                images.engine("import", "--quiet", *changes, packed.name, name)
    return name


def _files() -> list[str]:
    """Programs, and the libraries of all of them and of the interpreter."""
    found = {path for name in PROGRAMS if (path := shutil.which(name, path="/usr/bin:/bin"))}
    found |= {"/bin/sh", "/bin/bash"}
    stdlib = Path(sys.base_prefix) / "lib" / f"python3.{sys.version_info.minor}" / "lib-dynload"
    binaries = {*found, os.path.realpath(sys.executable), *map(str, stdlib.glob("*.so"))}
    told = subprocess.run(["ldd", *sorted(binaries)], capture_output=True, text=True, check=False)
    libraries = {word for word in told.stdout.split() if word.startswith("/") and word[-1] != ":"}
    for name in WHEELS:
        libraries |= {str(path) for path in Path("/usr/lib").glob(f"*/{name}")}
    return sorted({*found, *libraries})


def _pack(path: str, files: list[str]) -> None:
    def wanted(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if any(part in info.name for part in LEFT_OUT) else info

    base = os.path.realpath(sys.base_prefix)
    with tarfile.open(path, "w") as archive:
        archive.add(sys.prefix, filter=wanted)
        for part in ("bin", "lib"):
            archive.add(os.path.join(base, part), filter=wanted)
        archive.add(base / LIBRARY / "pip", str(PACKAGES / "pip"))
        known = set(archive.getnames())
        for each in files:
            if each.lstrip("/") in known:
                continue
            info = archive.gettarinfo(os.path.realpath(each), each)
            with open(each, "rb") as file:
                archive.addfile(info, file)
        for each in DATA:
            if os.path.exists(each):
                archive.add(os.path.realpath(each), each)
        _add_rest(archive)


def _add_rest(archive: tarfile.TarFile) -> None:
    for name in ("tmp", "proc", "sys", "dev", "run"):
        folder = tarfile.TarInfo(name)
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
        archive.addfile(folder)
    text = PASSWD.format(uid=os.getuid(), gid=os.getgid()).encode()
    passwd = tarfile.TarInfo("etc/passwd")
    passwd.size = len(text)
    archive.addfile(passwd, io.BytesIO(text))
