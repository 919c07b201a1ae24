"""The guard against self-approval from the other side: a person is never refused; what an older
client is told; what is shown of it; what sudo's failure says."""

import asyncio
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rookery.client import guard
from rookery.core.json.events import Event, kind_of
from rookery.home import config
from rookery.processes import ancestry, landlock, roots, tree
from rookery.wire import frames
from rookery.wire.frames import WorkerRefused
from rookery.worker.clients import Connection
from tests.worker.aviary import Aviary, Bird, Steps, is_idle

type Json = dict[str, Any]

CALM: Steps = [{"ask": "Go on?", "allowed": [{"text": "went"}], "rejected": [{"text": "stayed"}]}]
ROOKERY = [sys.executable, "-P", "-m", "rookery"]
linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc and namespaces")
scoped = pytest.mark.skipif(not landlock.available(), reason="this kernel has no scopes")


async def said(argv: list[str], **environment: str) -> str:
    done = await asyncio.to_thread(
        subprocess.run,
        argv,
        capture_output=True,
        text=True,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return f"{done.returncode} {done.stdout}{done.stderr}"


def ways(session: str, home: str) -> dict[str, list[str]]:
    """How a person comes to run `rookery answer`."""
    answer = shlex.join([*ROOKERY, "answer", session, "1"])
    found = {
        "nested shells": ["sh", "-c", f"sh -c {shlex.quote(f'{answer}; true')}; true"],
        "cron": ["env", "-i", f"ROOKERY_HOME={home}", *["setsid", "-w", "sh", "-c", answer]],
    }
    if os.geteuid() == 0 and shutil.which("unshare"):
        hidden = f"mount -t tmpfs none /proc && {answer}"
        found["no /proc"] = ["unshare", "--mount", "sh", "-c", hidden]
        found["a container"] = ["unshare", "--fork", "--pid", "--mount-proc", "sh", "-c", answer]
    return found


@linux
async def test_a_user_is_never_refused(aviary: Aviary) -> None:
    """Nested shells, a cron job, a container with and without /proc; tmux is below."""
    bird = aviary.hatch()
    found = ways(bird.id, aviary.home)
    begun = await bird.prompt(CALM * len(found))
    for way in found.values():
        ask = await bird.ask(begun)
        told = await said(way)
        assert told.startswith("0 "), told
        begun = await bird.until(lambda event, ask=ask: _closes(event, ask), begun.seq)
    await bird.until(is_idle, begun.seq)


def _closes(event: Event, ask: Json) -> bool:
    update = event.update
    return kind_of(update) == "_ask" and update["state"] != "asked" and update["id"] == ask["id"]


@linux
async def test_a_user_is_not_refused_in_tmux_or_behind_a_link(aviary: Aviary) -> None:
    """Settings and a session that sleeps: there the client judges itself."""
    bird = aviary.hatch()
    link = aviary.root / "link"
    link.symlink_to(aviary.home)
    server, out = str(aviary.root / "tmux"), aviary.root / "out"
    lines = [
        shlex.join([*ROOKERY, "set", bird.id, "confirm", "risky"]),
        shlex.join([*ROOKERY, "policy", "add", "allow", "--command", "git status"]),
    ]
    line = f"export ROOKERY_HOME={link}; ({' && '.join(lines)}) 2>{out}; tmux wait-for -S done"
    argv = ["tmux", "-S", server, "-f", "/dev/null", "new-session", "-d", "sh", "-c", line]
    assert (await said(argv)).startswith("0")
    await said(["tmux", "-S", server, "wait-for", "done"])
    assert "Rule 1" in out.read_text()
    assert bird.header().confirm == "risky"


# ---------------------------------------------------------------- the two sockets


async def raw(bird: Bird, address: str, command: Json) -> Json:
    """The outcome of a command that is sent as a client of an earlier build does."""
    reader, writer = await asyncio.open_unix_connection(address)
    hello = {"protocol": 1, "build": "x", "client": "test", "from": 0}
    for frame in ({"hello": hello}, {"command": {"id": os.urandom(8).hex(), **command}}):
        writer.write(json.dumps(frame).encode() + b"\n")
    while line := await reader.readline():
        match json.loads(line):
            case {"event": {"update": dict(update), "cause": str()}}:
                writer.close()
                return update
    raise AssertionError(bird.id)


@scoped
async def test_guarded_commands_come_by_the_control_socket(aviary: Aviary) -> None:
    """A person by the other one is told to update the client; where the agent is not confined, both
    are open, as to any client of before."""
    bird = aviary.hatch()
    begun = await bird.prompt(CALM)
    ask = await bird.ask(begun)
    answer = {"do": "answer", "ask": ask["id"], "nonce": ask["nonce"], "option": "allow"}
    told = await raw(bird, bird.socket, answer)
    assert (told["sessionUpdate"], told["reason"]) == ("_rejected", "wrong_socket")
    assert "update" in told["message"]
    for do in ({"do": "set", "option": "confirm", "value": "all"}, _prompt("/confirm all")):
        assert (await raw(bird, bird.socket, do))["reason"] == "wrong_socket"
    assert (await raw(bird, bird.socket, {"do": "rename", "title": "Free"}))["title"] == "Free"
    told = await raw(bird, f"\0{bird.record['control']}", answer)
    assert told["outcome"]["optionId"] == "allow"
    Path(aviary.home, "config.toml").write_text("[agents.player]\nconfined = false\n")
    aviary.trust()
    other = aviary.hatch()
    begun = await other.prompt(CALM)
    ask = await other.ask(begun)
    answer |= {"ask": ask["id"], "nonce": ask["nonce"]}
    assert (await raw(other, other.socket, answer))["outcome"]["optionId"] == "allow"


def _prompt(text: str) -> Json:
    return {"do": "prompt", "prompt": [{"type": "text", "text": text}]}


@scoped
async def test_an_answer_never_goes_to_an_impostors_socket(aviary: Aviary) -> None:
    """Somebody put a socket of his own in the worker's place, and names the worker's other one."""
    bird = aviary.hatch()
    begun = await bird.prompt(CALM)
    ask = await bird.ask(begun)
    welcome = {"protocol": 1, "build": "x", "session": bird.id, "seq": 1}
    welcome["control"] = bird.record["control"]
    code = (
        "import json, os, socket, sys\n"
        "os.unlink(sys.argv[1])\n"
        "s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()\n"
        "print('there', flush=True)\n"
        "c, _ = s.accept(); c.sendall(sys.argv[2].encode() + b'\\n')\n"
        "print(c.recv(65536).decode() + c.recv(65536).decode(), flush=True)\n"
    )
    line = json.dumps({"welcome": welcome})
    fake = await asyncio.create_subprocess_exec(
        *[sys.executable, "-c", code, bird.socket, line], stdout=asyncio.subprocess.PIPE
    )
    assert fake.stdout is not None
    assert await fake.stdout.readline() == b"there\n"
    with pytest.raises(WorkerRefused):
        await bird.answer(ask, "allow")
    heard = await fake.stdout.read()
    await fake.wait()
    assert b"hello" in heard
    assert ask["nonce"].encode() not in heard
    assert len(bird.header().asks) == 1


# ---------------------------------------------------------------- what is shown


@scoped
async def test_a_failing_sudo_names_the_setting(aviary: Aviary) -> None:
    """In a terminal of ours, and in what a tool of the agent's says; once a start."""
    said = 'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.'
    command = f"printf '%s\\n' {shlex.quote(said)}"
    bird = aviary.hatch()
    content = [{"type": "content", "content": {"type": "text", "text": said}}]
    tool = {"tool": "sudo ls", "content": content, "status": "failed"}
    for play in ([{"command": command}], [tool]):
        events = await bird.turn(play)
        [told] = [event.update for event in events if kind_of(event.update) == "_notice"]
        assert "[agents.player]" in told["text"]
        assert "confined = false" in told["text"]
        again = await bird.turn(play)
        assert "_notice" not in [kind_of(event.update) for event in again]
        await bird.send("restart")


@scoped
@pytest.mark.parametrize("user", [0, 65534])
def test_confinement_is_permanent_and_inherited(user: int) -> None:
    """Unless root, it comes with `no_new_privs`; what is started inside is inside."""
    if os.geteuid():
        pytest.skip("only root can be somebody else")
    code = (
        "import os, socket, subprocess, sys\n"
        "from rookery.processes import landlock\n"
        "landlock.abi()\n"
        "name = '\\0rookery-test-%d' % os.getpid()\n"
        "outside = socket.socket(socket.AF_UNIX); outside.bind(name); outside.listen()\n"
        "parent = os.getpid()\n"
        "if os.fork():\n"
        "    os.wait(); sys.exit()\n"
        "user = int(sys.argv[1])\n"
        "os.setgid(user); os.setuid(user)\n"
        "landlock.enter_now()\n"
        "status = open('/proc/self/status').read()\n"
        "print(status.partition('NoNewPrivs:')[2].split()[0])\n"
        "if os.fork():\n"
        "    os.wait(); os._exit(0)\n"
        "os.setsid()\n"
        "for act in (lambda: socket.socket(socket.AF_UNIX).connect(name),\n"
        "            lambda: os.kill(parent, 0), lambda: os.readlink(f'/proc/{parent}/exe')):\n"
        "    try:\n"
        "        act(); print('done')\n"
        "    except PermissionError:\n"
        "        print('no')\n"
        "sys.stdout.flush(); os._exit(0)\n"
    )
    argv = [sys.executable, "-P", "-u", "-c", code, str(user)]
    told = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
    assert told == ["1" if user else "0", "no", "no", "no"]


async def test_whether_an_agent_is_confined_is_shown(aviary: Aviary) -> None:
    bird = aviary.hatch(agent="free")
    Path(aviary.home, "config.toml").write_text("[agents.free]\nconfined = false\n")
    await bird.turn("hello")
    assert bird.header().process["guard"] == "lineage"
    assert "not confined" in await said([*ROOKERY, "ps"])
    assert "free is not confined" in await said([*ROOKERY, "show", bird.id])
    doctor = await said([*ROOKERY, "doctor"])
    assert "guard" in doctor
    assert ("but not free" in doctor) == landlock.available()


# ---------------------------------------------------------------- the parts


def test_every_agent_of_a_home_is_one_whatever_its_record(aviary: Aviary) -> None:
    """By the record; by nothing else here: pytest is no agent's."""
    own = tree.process(os.getpid())
    assert own is not None
    assert not guard.of_an_agent(aviary.home)
    roots.record(aviary.home, own.pid, own.start)
    assert guard.of_an_agent(aviary.home)
    with pytest.raises(guard.FromAgent, match="An agent cannot change it"):
        guard.require_person(aviary.home, "change it")
    roots.forget(aviary.home, own.pid, own.start)
    assert not guard.of_an_agent(aviary.home)
    roots.record(aviary.home, 2**22 + 1, "1@nobody")
    roots.clean(aviary.home)
    assert os.listdir(roots.directory(aviary.home)) == []


@linux
def test_the_line_of_a_process_goes_up_to_the_first() -> None:
    line = list(ancestry.line_of(os.getpid()))
    assert [row.pid for row in line[:2]] == [os.getpid(), os.getppid()]
    assert line[-1].parent == 0
    with pytest.raises(ancestry.Gone):
        list(ancestry.line_of(2**22 + 1))


@linux
def test_nobody_hides_behind_many_parents(aviary: Aviary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ancestry, "DEEPEST", 1)
    assert guard.is_agents(os.getpid(), aviary.home)


def test_a_mark_of_this_home_is_enough_for_an_orphan(aviary: Aviary) -> None:
    """Also where the process itself cleared its environment, and only a parent has it."""
    bird = aviary.hatch()
    code = "import sys; from rookery.client import guard; print(guard.of_an_agent(sys.argv[1]))"
    asking = [sys.executable, "-P", "-c", code, aviary.home]
    for mark, wanted in ((f"{bird.id}.1", "True"), ("another.1", "False"), ("", "False")):
        below = ["sh", "-c", f"env -u ROOKERY_MARK {shlex.join(asking)}; true"]
        for argv in (asking, below):
            given = os.environ | {"ROOKERY_MARK": mark}
            told = subprocess.run(argv, env=given, capture_output=True, text=True, check=True)
            assert told.stdout.strip() == wanted


@linux
def test_a_peer_that_is_gone_counts_as_an_agents(aviary: Aviary) -> None:
    """Both while nobody has waited for it, and after."""
    path = str(aviary.root / "s")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen()
        code = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])"
        gone = subprocess.Popen([sys.executable, "-c", code, path])
        theirs, _ = listener.accept()
        os.waitid(os.P_PID, gone.pid, os.WEXITED | os.WNOWAIT)
        with theirs:
            assert guard.peer_is_agents(theirs, aviary.home)
            gone.wait()
            assert guard.peer_is_agents(theirs, aviary.home)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as ours:
            ours.connect(path)
            theirs, _ = listener.accept()
            with theirs:
                assert not guard.peer_is_agents(theirs, aviary.home)


@linux
async def test_a_client_is_looked_at_once_and_a_probe_is_not(
    aviary: Aviary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list asks every worker whether it lives. A client that says nothing is looked at, too: it
    may be gone when it speaks."""
    looked: list[bool] = []
    again = asyncio.Event()
    judge = guard.peer_is_agents

    def told(connection: socket.socket, home: str) -> bool:
        looked.append(judge(connection, home))
        if len(looked) > 1:
            again.set()
        return looked[-1]

    monkeypatch.setattr(guard, "peer_is_agents", told)
    known = SimpleNamespace(session=SimpleNamespace(home=aviary.home))
    known.welcome, known.drop = dict, lambda _: None
    known.add = lambda connection: vars(known).update(last=connection)
    path = str(aviary.root / "s")
    server = await asyncio.get_running_loop().create_unix_server(lambda: Connection(known), path)
    async with server:
        for hello, kind in (({"protocol": 0}, "refused"), ({"protocol": 1}, "welcome")):
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(frames.encode("hello", {**hello, "offers": ["x"]}))
            assert kind in json.loads(await reader.readline())
            assert looked == [False] * (kind == "welcome")
            writer.close()
        assert known.last.offers == {"x"}
        _, writer = await asyncio.open_unix_connection(path)
        await again.wait()
        writer.close()
    assert looked == [False, False]


@pytest.mark.parametrize("is_agents", [False, True])
async def test_an_agents_process_cannot_pass_for_a_device(
    aviary: Aviary, monkeypatch: pytest.MonkeyPatch, is_agents: bool
) -> None:
    monkeypatch.setattr(guard, "peer_is_agents", lambda *_: is_agents)
    known = SimpleNamespace(session=SimpleNamespace(home=aviary.home))
    known.welcome, known.drop = dict, lambda _: None
    known.add = lambda connection: vars(known).update(last=connection)
    path = str(aviary.root / "s")
    server = await asyncio.get_running_loop().create_unix_server(lambda: Connection(known), path)
    found = []
    async with server:
        for name in ("web:3fa94c01 Anna's phone | Anna", "web:- | Anna", "cli:4711", "plug"):
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(frames.encode("hello", {"protocol": 1, "client": name}))
            assert "welcome" in json.loads(await reader.readline())
            found.append(known.last.name)
            writer.close()
    own = ["cli:4711", "plug"]
    devices = ["web:3fa94c01 Anna's phone | Anna", "web:- | Anna"]
    assert found == (["agent", "agent", *own] if is_agents else [*devices, *own])


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[agents.x]\nconfined = 1\n", "agents.x.confined must be true or false"),
        ("[agents.x]\n", "command"),
    ],
)
def test_the_setting_is_read_whole(text: str, wrong: str) -> None:
    good = config.parse(b'[agents.a]\nconfined = false\n[agents.b]\ncommand = ["b"]\n', "")
    assert (dict(good.agents), good.unconfined) == ({"b": ["b"]}, frozenset({"a"}))
    with pytest.raises(config.ConfigError, match=wrong):
        config.parse(text.encode(), "")


def test_a_misspelt_setting_confines_all_the_same() -> None:
    found = config.parse(b"[agents.x]\nconfine = false\n", "")
    assert found.unconfined == frozenset()
    assert "agents.x.confine is not a setting" in found.warnings[0]


@pytest.mark.parametrize(
    ("argv", "ours"),
    [
        (["python", "-P", "-m", "rookery", "agent"], True),
        (["python", "/usr/bin/rookery", "agent", "--last"], True),
        (["python", "-P", "-m", "rookery.agent.warm", "10.0"], True),
        (["python", "-m", "rookery", "agents"], False),
        (["vi", "rookery", "agent"], False),
        ([], False),
        (["python", "/usr/bin/rookery", "run", "rookery", "agent"], False),
        (["grep", "--home", "x", "--session", "y", "--ready-fd"], False),
    ],
)
def test_which_command_lines_are_ours(argv: list[str], ours: bool, aviary: Aviary) -> None:
    started = ancestry.environment(os.getpid()) or {}
    home = started.get("ROOKERY_HOME") or os.path.join(started["HOME"], ".rookery")
    assert guard._is_ours(os.getpid(), argv, home) == ours
    flags = ["--home", aviary.home, "--session", "x", "--ready-fd", "3"]
    assert guard._is_ours(os.getpid(), ["python", "w.py", *flags], aviary.home)
    flags[1] = str(aviary.root)
    assert not guard._is_ours(os.getpid(), ["python", "w.py", *flags], aviary.home)
