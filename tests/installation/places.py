"""What the tests of installations share: uv, the Pythons that are here, and a clean account."""

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.12", "3.13")
UV = str(ROOT / "scripts" / "uv")


@cache
def interpreter(version: str) -> str:
    """A Python of that version on this machine: on PATH, of pyenv or of uv; "": none."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or "~/.pyenv").expanduser()
    kept = sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    for each in (sys.executable, shutil.which(f"python{version}"), *map(str, kept)):
        if each and _version(each) == version:
            return os.path.realpath(each)
    command = [UV, "python", "find", "--no-project", "--no-python-downloads", version]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    return run.stdout.strip() if run.returncode == 0 else ""


def _version(python: str) -> str:
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    run = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False)
    return run.stdout.strip()


class Account:
    """A user with an empty home, whose PATH has one Python and what every machine has."""

    def __init__(self, place: Path, python: str) -> None:
        self.home = place / "user"
        self.bin = self.home / ".local" / "bin"
        self.bin.mkdir(parents=True)
        self.python = python
        cache = os.environ.get("UV_CACHE_DIR") or str(Path("~/.cache/uv").expanduser())
        kept = {
            k: v for k, v in os.environ.items() if k.startswith(("UV_", "PIP_", "SSL_", "LANG"))
        }
        proxies = {k: v for k, v in os.environ.items() if k.lower().endswith("_proxy")}
        path = [str(self.bin), os.path.dirname(python), "/usr/local/bin", "/usr/bin", "/bin"]
        self.environment = (
            kept
            | proxies
            | {
                "HOME": str(self.home),
                "PATH": os.pathsep.join(path),
                "UV_CACHE_DIR": cache,
                "UV_LINK_MODE": "hardlink",
                "UV_NO_PROGRESS": "1",
                "BROWSER": "true",
                "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
            }
        )

    def run(
        self, line: str, *, cwd: Path = ROOT, codes: tuple[int, ...] = (0,)
    ) -> subprocess.CompletedProcess[str]:
        """A shell's line, piped. Its words are in the failure if it ends otherwise."""
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=cwd,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        words = f"$ {line}\n{done.stdout}\n{done.stderr}"
        assert done.returncode in codes, f"{done.returncode}: {words}"
        assert "Traceback" not in words, words
        return done

    def distributions(self, python: Path) -> dict[str, str]:
        """The names and versions that an environment has."""
        line = f"{UV} pip list --quiet --format freeze --python '{python}'"
        return dict(re.findall(r"^([\w.-]+)(?:==| @ )(\S+)", self.run(line).stdout, re.MULTILINE))
