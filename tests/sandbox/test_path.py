"""An agent starts in bwrap whatever PATH names before the directory of its program, and no entry of
PATH opens what is hidden. With real bwrap."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from rookery.core.settings.sandbox import Sandbox
from rookery.sandbox.kinds import prepare
from rookery.sandbox.plan import Place, SandboxError
from tests.sandbox.cage import caged, configure, said
from tests.worker.aviary import Aviary, is_agent

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")

SYSTEM = ["/usr/bin", "/bin"]


class Booth:
    """A session's directory, a user's home and Rookery's, and a command in a sandbox."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("work", "user", "home", "scratch", "bin"):
            (root / name).mkdir()
        for secret in (self.user / "key", self.home / "key"):
            secret.write_text("a private key")

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def user(self) -> Path:
        return self.root / "user"

    @property
    def home(self) -> Path:
        return self.root / "home"

    def run(self, argv: list[str], path: list[str]) -> "subprocess.CompletedProcess[str]":
        place = Place(
            [str(self.work)],
            str(self.user),
            [str(self.home)],
            str(self.root / "scratch"),
            path=path,
        )
        made = prepare(Sandbox(kind="bwrap", network="off"), place)
        try:
            environment = {"PATH": ":".join(path), "HOME": str(self.user), "LC_ALL": "C"}
            spawn = made.spawn(argv, environment, str(self.work))
            done = subprocess.run(
                spawn.argv,
                env=spawn.environment,
                cwd=spawn.cwd,
                check=False,
                capture_output=True,
                text=True,
            )
            done.stderr += made.fault(done.returncode, done.stderr.splitlines())
            self.notes = made.notes
        finally:
            made.close()
        return done


@pytest.fixture
def booth(tmp_path: Path) -> Booth:
    return Booth(tmp_path)


def script(path: Path, text: str = "#!/bin/sh\necho of the entry\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def entries(booth: Booth) -> dict[str, str]:
    """By what is odd about them; none has a program `id` that can be run inside."""
    root = booth.root
    (root / "loop").symlink_to("loop")
    (root / "to-home").symlink_to(booth.home)
    (root / "to-user").symlink_to(booth.user)
    (root / "to-run").symlink_to("/run")
    (root / "to-nothing").symlink_to(root / "nothing")
    script(root / "closed" / "id").parent.chmod(0)
    (root / "dangling").mkdir()
    (root / "dangling" / "id").symlink_to(script(root / "secret" / "id"))
    (root / "plain").mkdir()
    (root / "plain" / "id").write_text("not a program")
    (root / "folder" / "id").mkdir(parents=True)
    script(booth.work / "bin" / "other")
    (booth.work / "led").symlink_to(booth.user)
    (root / "through").symlink_to(booth.work / "led")
    script(booth.home / "bin" / "id")
    return {
        "of fnm": f"/run/user/{os.getuid()}/fnm_multishells/1_2/bin",
        "of NixOS": "/run/wrappers/bin",
        "missing in /tmp": "/tmp/x",
        "/tmp itself": "/tmp",
        "/run itself": "/run",
        "/var/tmp itself": "/var/tmp",
        "the root of all": "/",
        "in /proc": "/proc/self/root/usr/lib",
        "in /sys": "/sys/kernel",
        "in /dev": "/dev/shm",
        "missing": "/no/such/place",
        "a file": "/etc/passwd",
        "below a file": "/etc/passwd/bin",
        "relative": "bin",
        "empty": "",
        "a dot": ".",
        "a tilde": "~/bin",
        "dots": "/tmp/../tmp/./x",
        "slashes": "//tmp//x//",
        "long": "/tmp/" + "x" * 300,
        "odd letters": "/tmp/\udcff \n'\"",
        "an option": "--bind",
        "the user's home": str(booth.user),
        "Rookery's home": str(booth.home),
        "in Rookery's home": str(booth.home / "bin"),
        "the session's directory": str(booth.work),
        "in the session's directory": str(booth.work / "bin"),
        "a link of the agent's": str(booth.work / "led"),
        "a link to a link of the agent's": str(root / "through"),
        "above all of them": str(root),
        "closed": str(root / "closed"),
        "a program that is a link to what is hidden": str(root / "dangling"),
        "no program": str(root / "plain"),
        "a directory instead of a program": str(root / "folder"),
        **{name: str(root / name) for name in ("loop", "to-home", "to-user", "to-run")},
        "a link to nothing": str(root / "to-nothing"),
    }


def test_a_program_starts_whatever_comes_before_it_on_path(booth: Booth) -> None:
    odd = entries(booth)
    for name, entry in odd.items():
        done = booth.run(["id", "-u"], [entry, *SYSTEM])
        assert (done.stdout, done.stderr) == (f"{os.getuid()}\n", ""), name
    done = booth.run(["id", "-u"], [*odd.values(), *SYSTEM])
    assert done.stdout == f"{os.getuid()}\n", done.stderr


def test_no_entry_of_path_opens_what_is_hidden(booth: Booth) -> None:
    outside = booth.root / "outside"
    outside.write_text("a private key")
    for name, entry in entries(booth).items():
        if name == "above all of them":
            continue  # the user named it: all of it may be read, but for the homes
        keys = f"'{entry}'/key {booth.user}/key {booth.home}/key {outside}"
        shown = f"cat {keys}; ls -A /run {booth.root} | grep -v user"
        done = booth.run(["/bin/sh", "-c", shown], [entry, *SYSTEM])
        assert "private key" not in done.stdout, name
        assert {"outside", *os.listdir("/run")}.isdisjoint(done.stdout.split()), name


def test_a_program_in_an_entry_of_path_runs_with_what_it_needs(booth: Booth) -> None:
    """As fnm has it: a link for each shell, under what a sandbox hides."""
    version = booth.user / ".local" / "share" / "versions" / "v1"
    script(version / "lib" / "tool" / "cli", '#!/bin/sh\ncat "$(dirname "$0")/../lib/tool/data"\n')
    (version / "lib" / "tool" / "data").write_text("of the library")
    (version / "bin").mkdir()
    (version / "bin" / "tool").symlink_to("../lib/tool/cli")
    shell = booth.root / "shells" / "1_2"
    shell.parent.mkdir()
    shell.symlink_to(version)
    done = booth.run(["tool"], ["/tmp/x", str(shell / "bin"), *SYSTEM])
    assert (done.stdout, done.stderr) == ("of the library", "")


def test_path_may_name_thousands_of_directories(booth: Booth) -> None:
    with TemporaryDirectory() as short:  # one variable has 128 KiB at most
        many = [f"{short}/{number}" for number in range(2000)]
        for each in many:
            os.mkdir(each)
        done = booth.run(["id", "-u"], [*many, *SYSTEM])
    assert done.stdout == f"{os.getuid()}\n", done.stderr
    assert any("PATH names more directories" in note for note in booth.notes)


def test_a_program_that_is_not_found_is_named(booth: Booth) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        booth.run(["nowhere"], ["/tmp/x", *SYSTEM])
    (booth.root / "dangling").mkdir()
    (booth.root / "dangling" / "tool").symlink_to(script(booth.root / "secret" / "tool"))
    with pytest.raises(SandboxError, match=r"tool is .*/dangling/tool, which is not visible"):
        booth.run(["tool"], [str(booth.root / "dangling"), *SYSTEM])
    script(booth.work / "agent", "#!/no/such/interpreter\n")
    done = booth.run([str(booth.work / "agent")], SYSTEM)
    assert f"{booth.work}/agent could not be run in the sandbox" in done.stderr
    assert "namespaces" not in done.stderr


async def test_a_session_starts_whatever_comes_first_on_path(aviary: Aviary) -> None:
    configure(aviary)
    path = ["/run/user/0/fnm_multishells/1_2/bin", "/run/wrappers/bin", "/tmp/x", *SYSTEM]
    environment = {**os.environ, "PATH": ":".join(path)}
    bird = caged(aviary, before=("env",), environment=environment)
    assert "inside" in await said(bird, "echo inside")
    lost = caged(aviary, before=("no-such-agent",), environment=environment)
    await lost.prompt("hello")
    event = await lost.until(lambda event: is_agent(event, "parked") or is_agent(event, "exited"))
    told = str(event.update) + str(lost.events())
    assert "'no-such-agent' is not on PATH" in told
    assert "namespaces" not in told
