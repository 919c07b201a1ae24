"""Installs the vendors' agents that the tests drive: pinned, outside the tree, once.

    python -m tests.vendors.install [NAME…]

They go to $ROOKERY_VENDOR_CACHE, else to ~/.cache/rookery-vendors, a directory for each version.
What is there already is not fetched again, so that a second run needs no network.
"""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from tests.npm import NoNpm, npm
from tests.vendors.roster import UnknownVendor, Vendor, chosen

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
    return cache() / "_".join(package.rpartition("/")[2] for package in vendor.packages)


def programs(vendor: Vendor) -> Path:
    return directory(vendor) / "node_modules" / ".bin"


def install(vendor: Vendor) -> Path:
    """The directory of its programs, to be put in front of PATH. Raises CannotInstall."""
    target = directory(vendor)
    if not (target / DONE).exists():
        target.mkdir(parents=True, exist_ok=True)
        with open(
            target / ".lock", "w"
        ) as lock:  # of two that install, one waits and finds it done
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (target / DONE).exists():
                _fetch(vendor, target)
                _check(vendor, target)
                (target / DONE).touch()
    return programs(vendor)


def _fetch(vendor: Vendor, target: Path) -> None:
    try:
        program, environment = npm()
    except NoNpm as error:
        raise CannotInstall(f"{vendor.name}: {error}") from error
    # A manifest of its own: npm would else look for one in the directories above.
    (target / "package.json").write_text('{"private": true}\n')
    command = [program, "install", "--no-audit", "--no-fund", "--no-package-lock", *vendor.packages]
    try:
        done = subprocess.run(
            command,
            cwd=target,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CannotInstall(f"{vendor.name}: npm took more than {PATIENCE:g} s") from error
    if done.returncode:
        raise CannotInstall(f"{vendor.name}: {' '.join(command[1:])} failed:\n{_tail(done.stderr)}")


def _check(vendor: Vendor, target: Path) -> None:
    """Some packages bring their program by a script, which npm may have been told not to run."""
    places = [str(programs(vendor)), os.environ.get("PATH", os.defpath)]
    environment = {**os.environ, "PATH": os.pathsep.join(places)}
    for program in vendor.programs:
        run = [str(programs(vendor) / program), "--version"]
        try:
            done = subprocess.run(
                run, env=environment, capture_output=True, text=True, timeout=60, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CannotInstall(f"{vendor.name}: cannot run {run[0]}: {error}") from error
        if done.returncode:
            said = _tail(done.stderr)
            raise CannotInstall(f"{vendor.name}: {program} does not run in {target}:\n{said}")


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
            print(f"{vendor.name}: {install(vendor)}", flush=True)
        except CannotInstall as error:
            print(error, file=sys.stderr, flush=True)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
