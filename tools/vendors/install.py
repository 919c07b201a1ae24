"""Installs the vendors' agents that the tests drive: pinned, outside the tree, once.

    python -m tools.vendors.install [NAME…]

They go to $ROOKERY_VENDOR_CACHE, else to ~/.cache/rookery-vendors, a directory for each version.
What is there already is not fetched again, so that a second run needs no network.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.npm import NoNpm, npm
from tools.vendors.roster import UnknownVendor, chosen
from tools.vendors.vendor import Vendor

UV = str(Path(__file__).resolve().parents[2] / "scripts" / "uv")
VENV = "venv"

PATIENCE = 900.0
"""Seconds for one installation: half a gigabyte comes with each."""

DONE = ".installed"
"""Written last: a directory without it is of an installation that was broken off."""


class CannotInstall(Exception):
    """The reason, as it is shown."""


def cache() -> Path:
    given = os.environ.get("ROOKERY_VENDOR_CACHE")
    return Path(given) if given else Path.home() / ".cache" / "rookery-vendors"


def directory(vendor: Vendor) -> Path:
    """Of its pins: another pin is another directory."""
    pins = (package.rpartition("/")[2] for package in (*vendor.npm, *vendor.pypi))
    return cache() / "_".join(pins)


def programs(vendor: Vendor) -> list[Path]:
    places = [directory(vendor) / "node_modules" / ".bin"] if vendor.npm else []
    return [*places, directory(vendor) / VENV / "bin"] if vendor.pypi else places


def install(vendor: Vendor) -> list[Path]:
    """The directories of its programs, to be put in front of PATH. Raises CannotInstall."""
    if not vendor.npm and not vendor.pypi:
        return []  # it comes with Rookery
    target = directory(vendor)
    if not (target / DONE).exists():
        target.mkdir(parents=True, exist_ok=True)
        # Of two that install, one waits and finds it done.
        with open(target / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (target / DONE).exists():
                if vendor.npm:
                    _from_npm(vendor, target)
                if vendor.pypi:
                    _from_pypi(vendor, target)
                _check(vendor, target)
                (target / DONE).touch()
    return programs(vendor)


def _from_npm(vendor: Vendor, target: Path) -> None:
    try:
        program, environment = npm()
    except NoNpm as error:
        raise CannotInstall(f"{vendor.name}: {error}") from error
    # A manifest of its own: npm would else look for one in the directories above.
    (target / "package.json").write_text('{"private": true}\n')
    command = [program, "install", "--no-audit", "--no-fund", "--no-package-lock", *vendor.npm]
    _run(vendor, command, target, environment)


def _from_pypi(vendor: Vendor, target: Path) -> None:
    venv = str(target / VENV)
    environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    python = _python(vendor.python)
    _run(vendor, [UV, "venv", "--clear", "--python", python, venv], target, environment)
    wanted = ["install", "--quiet", *vendor.pypi]
    try:
        # Compiled now: else the first start may take longer than anybody waits for it.
        compiled = ["--compile-bytecode", "--python", venv]
        _run(vendor, [UV, "pip", *wanted, *compiled], target, environment)
    except CannotInstall:
        # uv does not read pip's own settings: there may be an index that only pip knows.
        pip = ["python3", "-m", "pip", "--python", f"{venv}/bin/python", *wanted]
        _run(vendor, pip, target, environment)


def _python(version: str) -> str:
    """The one of pyenv, which uv does not look at, where there is one; else uv finds or gets it."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = sorted(root.glob(f"versions/{version}*/bin/python"))
    return str(found[-1]) if found else version


def _run(vendor: Vendor, command: list[str], cwd: Path, environment: dict[str, str]) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotInstall(f"{vendor.name}: {error}") from error
    if done.returncode:
        raise CannotInstall(f"{vendor.name}: {' '.join(command[1:])} failed:\n{_tail(done.stderr)}")


def _check(vendor: Vendor, target: Path) -> None:
    """Some packages bring their program by a script, which npm may have been told not to run."""
    places = [*map(str, programs(vendor)), os.environ.get("PATH", os.defpath)]
    environment = {**os.environ, "PATH": os.pathsep.join(places)}
    for program in vendor.programs:
        found = shutil.which(program, path=os.pathsep.join(map(str, programs(vendor))))
        if found is None:
            raise CannotInstall(f"{vendor.name}: there is no {program} in {target}")
        _run(vendor, [found, "--version"], target, environment)


def _tail(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-15:])


def main(names: list[str]) -> int:
    try:
        vendors = chosen(names)
    except UnknownVendor as error:
        print(error, file=sys.stderr)
        return 2
    failed = False
    for vendor in vendors:
        try:
            print(f"{vendor.name}: {[*install(vendor), 'here'][0]}", flush=True)
        except CannotInstall as error:
            print(error, file=sys.stderr, flush=True)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
