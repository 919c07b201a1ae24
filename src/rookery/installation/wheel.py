"""Builds a wheel of the running Rookery, for an image: on an index, the name may be somebody
else's, and the build a different one."""

import base64
import hashlib
import os
import re
import zipfile
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution

import rookery
from rookery.core.refusals import Fixed
from rookery.installation.distribution import running

TAG = "py3-none-any"
WHEEL = f"Wheel-Version: 1.0\nGenerator: rookery\nRoot-Is-Purelib: true\nTag: {TAG}\n"


class WheelError(Fixed):
    """No wheel can be built; the message says why."""

    reason = "no_wheel"


def name() -> str:
    """Return the wheel's file name. Raises WheelError."""
    dist = _distribution()
    project = re.sub(r"[-_.]+", "_", dist.metadata["Name"]).lower()
    return f"{project}-{dist.version}-{TAG}.whl"


def write(folder: str) -> None:
    """Write the wheel from the files that run now, whether installed or a checkout. Raises
    WheelError, OSError."""
    dist, file = _distribution(), name()
    info = f"{file.removesuffix(f'-{TAG}.whl')}.dist-info"
    about = {
        "METADATA": dist.read_text("METADATA") or "",
        "WHEEL": WHEEL,
        "entry_points.txt": dist.read_text("entry_points.txt") or "",
    }
    with zipfile.ZipFile(os.path.join(folder, file), "w", zipfile.ZIP_DEFLATED) as archive:
        rows = [_packed(archive, inside, data) for inside, data in _package()]
        rows += [_packed(archive, f"{info}/{each}", about[each].encode()) for each in about]
        archive.writestr(f"{info}/RECORD", "".join([*rows, f"{info}/RECORD,,\n"]))


def _distribution() -> Distribution:
    """The distribution of the running code. Raises WheelError."""
    if name := running().name:
        return distribution(name)
    raise WheelError("Rookery is not installed as a package here, so no wheel of it can be made.")


def _package() -> Iterable[tuple[str, bytes]]:
    root = os.path.dirname(os.path.abspath(rookery.__file__))
    for place, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - {"__pycache__"})
        for name in sorted(names):
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                yield os.path.relpath(path, os.path.dirname(root)), file.read()


def _packed(archive: zipfile.ZipFile, name: str, data: bytes) -> str:
    """Add a file to the wheel; return its row in RECORD."""
    archive.writestr(name, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"
