"""What plan mode takes for a look changes nothing, tried in a real shell: no file, no variable. It
runs caged, without privileges: a look that is none must not reach this machine."""

import itertools
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from rookery.core.command_line import read_only
from rookery.core.command_line.read_only import change_in

PROGRAMS = sorted(read_only._ANY - {"tail", "seq", "ps", "getent", "free", "lsblk"})
"""Without those that wait, or take their time."""
LOOKED_AT = sorted({*read_only._EXCEPT, *read_only._CHECKS, "test"} - {"date", "hostname", "env"})
"""Programs that only look with some options. The clock and the name of a machine are not tried."""
GIT = sorted(read_only._GIT | {*read_only._GIT_LISTS, "add", "commit", "grep", "checkout"})
OPTIONS = (
    *("-o", "-oout", "-no", "-i", "-n", "-w", "-O", "-x", "-X", "-s", "-v", "-R", "-C", "-T", "-d"),
    *("--output=out", "--outp=out", "--output", "--in-place", "--set=1", "--exec", "--compile"),
    *("-exec", "-delete", "-fprint", "-fls", "-okdir", "--pre=touch", "--ext-diff", "--filters"),
    *("--compress-program=touch", "-Otouch", "-D", "-e", "-m", "--list", "-l", "-c", "-u", "-A"),
    *("--files0-from=f", "--version", "-V", "-F", "-E", "-r", "--", "-", "+o", "--open-files"),
)
OPERANDS = (
    *("f", "out", "new", "./*", "*", "{-o,out}", "{\"-o\",out}", "{f,-o,{out}}", "'-o'", "d", "."),
    *("'a[$(touch p)]'", "'%n'", "'%3n' PATH", "PATH", "1p", "'w out'", "'1w out'", "'1e touch p'"),
    *("'{print}'", "'{print > \"out\"}'", "'/a/,/w out/p'", "HEAD", "HEAD@{1}", "touch p", "rm f"),
    *("';'", "touch", "'BEGIN{system(\"touch p\")}'", "'$(touch p)'"),
    *("/usr/bin/../../bin/touch", "x=touch", "~", "..", "a.b c"),
)  # fmt: skip
BETWEEN = ("|", ";", "&&", "\n", " 2>&1 ", " >/dev/null ", " >out ", "\t", " & ")


def lines(chance: Random, count: int) -> list[str]:
    found: list[str] = []
    for number in itertools.count():
        words = [chance.choice(LOOKED_AT if chance.random() < 0.9 else PROGRAMS)]
        if words == ["git"]:
            words.append(chance.choice(GIT))
        kinds = [OPTIONS if chance.random() < 0.4 else OPERANDS for _ in range(2 + number % 2)]
        words += map(chance.choice, kinds)
        line = words[0]
        for word in words[1:]:
            line += (" " if chance.random() < 0.9 else chance.choice(BETWEEN)) + word
        if not change_in(line):
            found.append(line)
        if len(found) == count:
            break
    return found


def tree(place: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(place)): path.read_bytes() if path.is_file() else b""
        for path in place.rglob("*")
    }


CAGE = (
    *("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
    *("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
)


def caged(script: str, place: Path, environment: dict[str, str]) -> str:
    """What a shell prints that can write in `place` alone."""
    said = subprocess.run(
        [*CAGE, "--bind", place, place, "bash", "-c", script, place],
        env=environment,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return said.stdout.decode().strip()


def changed_by(tried: list[str], place: Path) -> list[str]:
    """Of these lines, those behind which something is not as it was."""
    home = {"HOME": str(place), "PATH": "/usr/bin:/bin", "GIT_OPTIONAL_LOCKS": "0", "PAGER": "cat"}
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(place)]
    for name in ("f", "d/f", "-o", "--output=out"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("b\na\n")
    subprocess.run(["git", "init", "-q", str(place)], check=True, env=home)
    subprocess.run([*git, "add", "-A"], check=True, env=home)
    subprocess.run([*git, "commit", "-qm", "x"], check=True, env=home)
    before = tree(place)
    lines = "".join(f'cd "$0"\n{line}\n' for line in tried)
    said = caged(f'exec 9>&1 >/dev/null 2>&1 </dev/null\n{lines}echo "$PATH" >&9\n', place, home)
    same = tree(place) == before and said == home["PATH"]
    return [] if same else tried


def narrowed(tried: list[str], place: Path) -> list[str]:
    """The first few lines that did it, each tried alone."""
    folders = iter(range(10_000))

    def room() -> Path:
        made = place / f"alone-{next(folders)}"
        made.mkdir()
        return made

    return [line for line in tried if changed_by([line], room())][:5]


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="tried only in a cage: bwrap is missing")
@pytest.mark.parametrize("rounds", [1, pytest.param(20, marks=pytest.mark.long)])
def test_commands_taken_for_reads_change_nothing(rounds: int, tmp_path: Path) -> None:
    """The cage is tried first: no privilege, and nothing to write to outside."""
    probe = "test -w / || test -w /etc || grep CapEff /proc/self/status"
    said = caged(probe, tmp_path, {"PATH": "/usr/bin:/bin"})
    if not said:
        pytest.skip("no cage can be made here")
    assert said.split()[1].strip("0") == ""
    for number in range(rounds):
        place = tmp_path / str(number)
        place.mkdir()
        tried = lines(Random(number), 200)
        assert not changed_by(tried, place) or not narrowed(tried, tmp_path)
