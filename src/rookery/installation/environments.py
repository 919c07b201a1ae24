"""The installations on this user's machine: tools of uv and of pipx, and the environments of the
commands `rookery`, `python3` and `python` on PATH."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator

from rookery.installation.distribution import NAME, OLD_NAME, Installation, installed_in

COMMAND = "rookery"
ASK = "import json, sys; print(json.dumps([sys.executable, sys.prefix, [*filter(None, sys.path)]]))"
_SHEBANG = re.compile(rb"^#!(?:/bin/sh\n'''exec' )?[\"']?(/[^\n\"']*?python[\d.]*)[\"']?(?:[ \n])")


def everywhere(uv: str) -> list[Installation]:
    """Return each installation of either name, ours and the other project's."""
    installations: dict[tuple[str, str], Installation] = {}
    for python in dict.fromkeys(_interpreters(uv)):
        for each in _in(python):
            installations.setdefault((each.prefix, each.name), each)
    return list(installations.values())


def command_of(installation: Installation) -> str:
    """Return the path of the command in the installation's own environment."""
    return os.path.join(os.path.dirname(installation.python), COMMAND)


def commands_on_path() -> list[str]:
    """Return every `rookery` on PATH, the one that runs first."""
    folders = filter(None, os.environ.get("PATH", os.defpath).split(os.pathsep))
    places = (os.path.join(folder, COMMAND) for folder in dict.fromkeys(folders))
    return [each for each in places if os.path.isfile(each) and os.access(each, os.X_OK)]


def bin_folder(installation: Installation, uv: str) -> str:
    """Return the folder where its installer puts the command for the user."""
    if installation.installer == "uv tool":
        return output(uv, "tool", "dir", "--bin")
    if installation.installer == "pipx":
        return output("pipx", "environment", "--value", "PIPX_BIN_DIR")
    return os.path.dirname(installation.python)


def output(*command: str) -> str:
    """Run a program and return what it prints; "" if it does not exist or fails."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    except OSError:
        return ""
    return run.stdout.strip() if run.returncode == 0 else ""


def _interpreters(uv: str) -> Iterator[str]:
    folders = [
        output(uv, "tool", "dir"),
        output("pipx", "environment", "--value", "PIPX_LOCAL_VENVS"),
    ]
    for folder in filter(None, folders):
        for name in (NAME, OLD_NAME):
            yield os.path.join(folder, name, "bin", "python")
    for command in commands_on_path():
        yield _interpreter_of(command)
    for name in ("python3", "python"):
        # A version manager's stand-in says itself which interpreter it starts.
        yield shutil.which(name) or ""


def _interpreter_of(script: str) -> str:
    """The interpreter that a script names in its first line, as pip and uv write it."""
    try:
        with open(script, "rb") as file:
            match = _SHEBANG.match(file.read(1024))
    except OSError:
        return ""
    return os.fsdecode(match[1]) if match else ""


def _in(python: str) -> list[Installation]:
    if not os.path.isfile(python):
        return []
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    try:
        run = subprocess.run(
            [python, "-c", ASK],
            capture_output=True,
            text=True,
            check=True,
            cwd="/",
            env=environment,
        )
        executable, prefix, path = json.loads(run.stdout)
    except (OSError, ValueError, subprocess.CalledProcessError):
        return []  # an interpreter that does not start has nothing to be moved
    return installed_in(executable, prefix, path)
