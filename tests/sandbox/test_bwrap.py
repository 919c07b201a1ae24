"""An agent in bwrap, and its terminals, in a real worker."""

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from rookery.client.create import create_session
from rookery.log.reader import Reader
from rookery.processes import tree
from tests.sandbox.cage import ROOT, caged, configure, said
from tests.worker.aviary import Aviary, Bird, is_agent, text_of


def python(code: str) -> str:
    return f"{shlex.quote(os.path.realpath(sys.executable))} -c {shlex.quote(code)}"


@contextmanager
def greeter() -> Iterator[int]:
    """A server of this machine's, on loopback, that says hello; its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(b"hello from outside")

        Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


GIT = ("git", "-c", "user.name=R", "-c", "user.email=r@example.org")


def git(place: Path, *words: str) -> str:
    return subprocess.run(
        [*GIT, *words], cwd=place, check=True, capture_output=True, text=True
    ).stdout


def inside(bird: Bird) -> list[tree.Process]:
    """The processes of the agent, without bwrap's own."""
    return tree.descendants(bird.agent.pid)[1:]


def namespace(pid: int, kind: str) -> str:
    return os.readlink(f"/proc/{pid}/ns/{kind}")


async def test_it_writes_in_its_directories_only(aviary: Aviary) -> None:
    configure(aviary)
    elsewhere = aviary.root / "elsewhere"
    more = aviary.root / "more"
    elsewhere.mkdir()
    more.mkdir()
    bird = caged(aviary, roots=[str(more)])
    tried = [str(elsewhere / "x"), "/usr/x", "/etc/x", str(Path(aviary.home) / "x")]
    words = " ".join(map(shlex.quote, tried))
    told = await said(
        bird, f"touch mine {more}/too; for f in {words}; do touch $f && echo MADE; done"
    )
    assert (aviary.work / "mine").exists()
    assert (more / "too").exists()
    assert told.count("MADE") <= 1  # a place of the same name as Rookery's home, which is empty
    assert not any(os.path.exists(path) for path in tried)


async def test_the_home_is_hidden_but_for_what_is_named(aviary: Aviary) -> None:
    user = aviary.root / "user"
    (user / ".ssh").mkdir(parents=True)
    (user / ".ssh" / "id_ed25519").write_text("a private key")
    (user / ".gitconfig").write_text("[user]\nname = Robin\n")
    configure(aviary, read=f"~/.gitconfig {shlex.quote(str(Path(__file__).parents[1]))}")
    bird = caged(aviary, environment={**os.environ, "HOME": str(user)})
    told = await said(
        bird, "cat ~/.ssh/id_ed25519; cat ~/.gitconfig; echo >> ~/.gitconfig; ls -A ~"
    )
    assert "private key" not in told
    assert "Robin" in told
    assert told.split()[-1] == ".gitconfig"
    assert (user / ".gitconfig").read_text().endswith("Robin\n")


async def test_a_terminals_path_opens_no_directory(aviary: Aviary) -> None:
    """What is visible follows from how the session was made, never from what the agent says."""
    configure(aviary)
    secret = aviary.root / "secret"
    secret.mkdir()
    (secret / "key").write_text("a private key")
    (secret / "run").write_text("#!/bin/sh\ncat $(dirname $0)/key\n")
    (secret / "run").chmod(0o755)
    bird = caged(aviary)
    path = [{"name": "PATH", "value": f"{secret}:/usr/bin:/bin"}]
    for command in (f"cat {shlex.quote(str(secret))}/key", "run", str(secret / "run")):
        events = await bird.turn([{"command": command, "env": path}, {"text": "$output"}])
        assert "private key" not in text_of(events), command


async def test_no_socket_and_no_log_of_ours_is_inside(aviary: Aviary) -> None:
    """Neither by a path nor, with the network on, by an abstract name."""
    configure(aviary)
    bird = caged(aviary)
    await bird.turn("hello")
    name = bird.record["control"]
    told = await said(
        bird,
        f"ls -A {shlex.quote(aviary.home)}; ls {shlex.quote(bird.socket)}; "
        + python(
            "import socket\n"
            f"for name in ({bird.socket!r}, '\\0' + {name!r}):\n"
            "  try: socket.socket(socket.AF_UNIX).connect(name); print('CONNECTED')\n"
            "  except OSError as error: print(type(error).__name__)"
        ),
    )
    assert "CONNECTED" not in told
    assert "log.db" not in told
    assert "sessions" not in told.replace(bird.socket, "")


async def test_rookerys_home_is_hidden_whatever_is_readable(aviary: Aviary) -> None:
    configure(aviary, read=f"{shlex.quote(str(aviary.root))} {shlex.quote(str(ROOT / 'tests'))}")
    (aviary.root / "seen").touch()
    told = await said(caged(aviary), f"ls {shlex.quote(str(aviary.root))}; cat {aviary.home}/*")
    assert "seen" in told
    assert "[sandbox]" not in told


async def test_the_agent_itself_is_inside(aviary: Aviary) -> None:
    """It has namespaces of its own, sees no process of ours, and has no privileges."""
    configure(aviary)
    bird = caged(aviary)
    await bird.turn("hello")
    [agent] = inside(bird)[:1]
    for kind in ("mnt", "pid", "ipc", "uts", "user"):
        assert namespace(agent.pid, kind) != namespace(os.getpid(), kind), kind
    status = Path(f"/proc/{agent.pid}/status").read_text()
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert {int(fields[key], 16) for key in ("CapEff", "CapPrm", "CapBnd", "CapInh")} == {0}
    assert fields["NoNewPrivs"] == "1"
    assert "rookery/worker" not in await said(bird, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")


async def test_the_network_is_off(aviary: Aviary) -> None:
    configure(aviary, network="off")
    bird = caged(aviary)
    with greeter() as port:
        code = f"import socket; print(socket.create_connection(('127.0.0.1', {port})).recv(99))"
        told = await said(bird, python(code))
    assert "hello from outside" not in told
    assert "ConnectionRefusedError" in told


VISIT = """
import os, socket
place, path = os.environ["HTTPS_PROXY"].removeprefix("http://").split(":"), {targets!r}
for target in path:
    with socket.create_connection((place[0], int(place[1]))) as link:
        link.sendall(f"CONNECT {{target}} HTTP/1.1\\r\\nHost: {{target}}\\r\\n\\r\\n".encode())
        said = b""
        while piece := link.recv(4096):
            said += piece
        print(target, said)
try:
    print(socket.create_connection(("127.0.0.1", {port})).recv(99))
except OSError as error:
    print("directly:", error)
"""


async def test_listed_hosts_alone_are_reached_through_the_proxy(aviary: Aviary) -> None:
    with greeter() as port, greeter() as other:
        configure(aviary, network="listed", allow=f"127.0.0.1:{port} api.example.com")
        bird = caged(aviary)
        targets = [f"127.0.0.1:{port}", f"127.0.0.1:{other}", f"localhost:{port}"]
        targets += ["example.com:443", "api.example.com:22", "metadata.internal:80"]
        told = await said(bird, python(VISIT.format(targets=targets, port=port)))
    lines = dict(line.split(" ", 1) for line in told.splitlines() if " " in line)
    assert "200" in lines[targets[0]]
    assert "hello from outside" in lines[targets[0]]
    for target in targets[1:]:
        assert "403 Forbidden" in lines[target], target
    assert told.count("hello from outside") == 1
    assert "directly: " in told


async def test_processes_are_limited(aviary: Aviary) -> None:
    configure(aviary, pids=48)
    bird = caged(aviary)
    code = (
        "import os, signal, time\n"
        "made = []\n"
        "try:\n"
        "  for _ in range(200):\n"
        "    child = os.fork()\n"
        "    if not child: time.sleep(60); os._exit(0)\n"
        "    made.append(child)\n"
        "except BlockingIOError: print('no more')\n"
        "print(len(made))\n"
        "for child in made: os.kill(child, 9)"
    )
    told = await said(bird, python(code))
    if "no more" not in told:  # where it cannot be limited, the session says so
        assert any("processes" in str(event.update.get("text")) for event in bird.events())
    else:
        assert int(told.split()[-1]) < 48


async def test_a_killed_worker_wakes_in_the_same_sandbox(aviary: Aviary) -> None:
    configure(aviary, network="off")
    bird = caged(aviary)
    await bird.turn([{"command": "echo $$ > first"}])
    before, worker = bird.agent, bird.worker
    within = inside(bird)
    tree.kill([worker])
    await bird.gone(worker, before, *within)
    configure(aviary, kind="none", network="off")  # which is for new sessions
    told = await said(bird, "cat first; cat /etc/shadow; touch /usr/x || echo still inside")
    assert "still inside" in told
    assert bird.header().sandbox == "bwrap"
    assert namespace(inside(bird)[0].pid, "mnt") != namespace(os.getpid(), "mnt")


async def test_an_agent_is_asked_to_end_before_its_sandbox_does(aviary: Aviary) -> None:
    """TERM reaches what runs inside, which has the time to answer it."""
    configure(aviary, more="[worker]\nstop_grace = 60\n")
    script = "trap 'touch asked; exit' TERM; exec 3<&0; \"$@\" <&3 & wait"
    bird = caged(aviary, before=("/bin/sh", "-c", script, "sh"))
    await bird.turn("hello")
    agent, within = bird.agent, inside(bird)
    await bird.send("restart")
    await bird.gone(agent, *within)
    assert (aviary.work / "asked").exists()


async def test_without_bwrap_nothing_runs(
    aviary: Aviary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clear start error with the install line, and never a silent fall back."""
    configure(aviary)
    bird = caged(aviary)
    monkeypatch.setenv("PATH", str(tmp_path))
    await bird.prompt([{"command": "touch ran"}])
    event = await bird.until(lambda event: is_agent(event, "parked") or is_agent(event, "exited"))
    told = str(event.update) + str(bird.events())
    assert "apt install bubblewrap" in told
    assert not (aviary.work / "ran").exists()


async def test_a_directory_around_rookerys_own_is_refused(aviary: Aviary) -> None:
    configure(aviary)
    bird = caged(aviary, cwd=str(aviary.root))
    await bird.prompt("hello")
    event = await bird.until(lambda event: is_agent(event, "parked") or is_agent(event, "exited"))
    assert "A sandbox cannot be around" in str(event.update) + str(bird.events())


async def test_a_link_in_a_root_leads_nowhere_else(aviary: Aviary) -> None:
    """The agent may replace a root that lies in another one: what it leads to then is no root."""
    configure(aviary)
    secret = aviary.root / "secret"
    (aviary.work / "sub").mkdir()
    secret.mkdir()
    (secret / "key").write_text("a private key")
    bird = caged(aviary, roots=[str(aviary.work / "sub")])
    await said(bird, f"rmdir sub; ln -s {shlex.quote(str(secret))} sub")
    assert (aviary.work / "sub").is_symlink()
    worker = bird.worker
    tree.kill([worker])
    await bird.gone(worker)
    assert "private key" not in await said(bird, "cat sub/key")
    told = text_of(await bird.turn([{"read": "sub/key"}, {"text": "$content"}]))
    assert "outside the session's directories" in told


async def test_a_work_tree_can_be_committed_to(aviary: Aviary) -> None:
    """Its repository lies elsewhere; what an agent writes there opens no other place."""
    configure(aviary)
    main, secret = aviary.root / "main", aviary.root / "secret"
    secret.mkdir()
    (secret / "key").write_text("a private key")
    own, where = main / ".git" / "worktrees" / "tree", aviary.root / "tree"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "-q", str(where))
    bird = caged(aviary, cwd=str(where))
    made = shlex.join([*GIT, "commit", "-q", "--allow-empty", "-m", "inside"])
    forged = f"echo {shlex.quote(str(secret))} > {shlex.quote(str(own))}/commondir"
    told = await said(bird, f"{made}; {forged}")
    assert "inside" in git(main, "log", "--format=%s", "tree"), told
    await bird.send("restart")
    assert "private key" not in await said(bird, f"cat {shlex.quote(str(secret))}/key")


async def test_files_are_read_and_written_as_before(aviary: Aviary) -> None:
    configure(aviary)
    (aviary.work / "a.txt").write_text("from disk")
    bird = caged(aviary)
    events = await bird.turn(
        [{"read": "a.txt"}, {"text": "$content"}, {"write": "b", "content": "x"}]
    )
    assert "from disk" in text_of(events)
    assert (aviary.work / "b").read_text() == "x"
    told = text_of(await bird.turn([{"read": "/etc/passwd"}, {"text": "$content"}]))
    assert "outside the session's directories" in told


def test_new_sessions_run_in_what_the_settings_say(aviary: Aviary) -> None:
    configure(aviary, kind="bwrap")
    with open(Path(aviary.home, "config.toml"), "a") as file:
        file.write('[agents.free]\ncommand = ["free"]\nsandbox = "none"\n')
        file.write('[agents.far]\nurl = "wss://build.example/acp"\n')

    def kind(**given: str) -> str:
        made = create_session(
            aviary.home, argv=[], cwd=str(aviary.work), **{"agent": "demo", **given}
        )
        with Reader.open(str(Path(aviary.home, "sessions", made))) as log:
            return str(log.header_before(1).sandbox or "none")

    assert kind() == "bwrap"
    assert kind(sandbox="none") == "none"
    assert kind(agent="free") == "none"
    assert kind(agent="free", sandbox="bwrap") == "bwrap"
    assert kind(agent="far") == "none"
