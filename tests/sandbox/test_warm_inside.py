"""Our own agent in a sandbox is forked from the warm process, and two that are see nothing of each
other, nor of the process that they come from; also where their network is a list of hosts."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rookery.agent.scripted.server import serving
from rookery.client import warm_agent
from rookery.processes import tree
from tests.agent.conftest import ARGV, SCRIPT, write_settings
from tests.agent.driving import run
from tests.worker.aviary import Aviary, Bird, text_of

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(600),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]
START = (
    "from rookery.home import paths; from rookery.client import warm_agent; "
    "warm_agent.start(paths.home())"
)
SECRET = "xyzzy-of-"
MEMORY = f"""
import re, sys
word = bytes(reversed(b"{SECRET[::-1]}"))
found = set()
agent = "/proc/" + sys.argv[1]
with open(agent + "/maps") as maps, open(agent + "/mem", "rb") as memory:
    for line in maps:
        span = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
        if span:
            begin, end = (int(each, 16) for each in span.groups())
            try:
                memory.seek(begin)
                data = memory.read(end - begin)
            except OSError:
                continue
            found |= set(re.findall(word + rb"[a-z]+", data))
print("memory", sorted(found))
"""
LOOK = """
echo exe $(readlink /proc/$1/exe)
grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/$1/status
( : >>/proc/$1/exe ) 2>/dev/null && echo WRITTEN
echo descriptors; ls -l /proc/$1/fd | sed 's/.*-> //'
echo environments; cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -o 'yzzy-of-.*'
echo processes; cat /proc/[0-9]*/cmdline | tr '\\0' ' '
echo; echo files; ls /tmp; cat {other}/file 2>&1
"""


LISTEN = """
import socket, sys, threading
def greet(listener):
    while True:
        listener.accept()[0].sendall(b"hello")
listeners = [socket.create_server(("127.0.0.1", 4711))]
for name in ("\\0of-one", "/tmp/of-one.s", "of-one.s"):
    listeners.append(socket.socket(socket.AF_UNIX))
    listeners[-1].bind(name)
    listeners[-1].listen()
for each in listeners:
    threading.Thread(target=greet, args=(each,)).start()
open("listening", "w").close()
"""
CONNECT = """
import socket, sys
for family, place in (
    (socket.AF_INET, ("127.0.0.1", 4711)),
    (socket.AF_UNIX, "\\0of-one"),
    (socket.AF_UNIX, "/tmp/of-one.s"),
    (socket.AF_UNIX, sys.argv[1] + "/of-one.s"),
):
    try:
        with socket.socket(family) as there:
            there.connect(place)
            print("reached", there.recv(9))
    except OSError as error:
        print("refused", error)
print(open("/proc/net/unix").read())
"""
PYTHON = os.path.realpath(sys.executable)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    (tmp_path / "person").mkdir()
    return {
        **os.environ,
        "HOME": str(tmp_path / "person"),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def warm_up(home: str, environment: dict[str, str]) -> int:
    """As a shell with a secret in it would; the pid of what listens."""
    given = {**environment, "OF_SHELL": f"{SECRET}shell"}
    subprocess.run([sys.executable, "-P", "-c", START], env=given, check=True, timeout=120)
    deadline = time.monotonic() + 300
    while not (found := list(Path(home, "run").glob("warm-*.s"))):
        assert time.monotonic() < deadline, "no warm process came up"
        time.sleep(0.05)
    return int(Path(f"{found[0]}.lock").read_text())


def words_in_memory(pid: int) -> set[bytes]:
    """What begins with SECRET there."""
    ran = subprocess.run(
        [sys.executable, "-c", MEMORY, str(pid)], capture_output=True, text=True, check=True
    )
    return set(re.findall(rb"xyzzy-of-[a-z]+", ran.stdout.encode()))


def forks_of(pid: int) -> set[int]:
    """The agents that it forked into sandboxes."""
    rows = tree.table()
    children = [row.pid for row in rows if row.parent == pid]
    return {row.pid for row in rows if row.parent in children}


async def told(bird: Bird, command: str) -> str:
    events = await bird.turn([run(command), {"text": "Done."}])
    assert "Done." in text_of(events), [event.update for event in events[-4:]]
    outputs = [event.update.get("rawOutput") or {} for event in events]
    return "\n".join(str(each.get("output", "")) for each in outputs)


async def test_agents_in_two_sandboxes_are_forked_and_see_nothing_of_each_other(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    aviary = Aviary(tmp_path)
    with serving(SCRIPT) as model:
        write_settings(Path(aviary.home), model)
        Path(aviary.home, "config.toml").write_text('[sandbox]\nnetwork = "listed"\n')
        aviary.trust()
        birds: dict[str, Bird] = {}
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            birds[name] = aviary.hatch(
                argv=list(ARGV),
                agent="rookery",
                confirm="all",
                sandbox="bwrap",
                cwd=str(tmp_path / name),
                environment={**environment, f"OF_{name}": f"{SECRET}{name}"},
            )
        try:
            warm = warm_up(aviary.home, environment)
            own = "echo mine >file; echo mine >/tmp/of-one; sleep 4711 & echo $OF_one"
            assert f"{SECRET}one" in await told(birds["one"], own)
            assert len(forks_of(warm)) == 1
            (tmp_path / "two" / "look.sh").write_text(LOOK.format(other=tmp_path / "one"))
            seen = await told(birds["two"], "sh look.sh $PPID")
            assert len(forks_of(warm)) == 2
            check(seen)
            await check_sockets(birds, tmp_path)
            (tmp_path / "two" / "memory.py").write_text(MEMORY)
            memory = await told(birds["two"], f"{sys.executable} memory.py $PPID 2>&1")
            assert f"{SECRET}two" in memory, memory  # the look itself works
            assert f"{SECRET}one" not in memory
            assert f"{SECRET}shell" not in memory
            assert not words_in_memory(warm), "what the warm process has, all its agents have"
        finally:
            warm_agent.end(aviary.home)
            aviary.end()


async def check_sockets(birds: dict[str, Bird], root: Path) -> None:
    """What listens in one sandbox is reached there, and from the other not at all."""
    (root / "one" / "listen.py").write_text(LISTEN)
    begun = f"{PYTHON} listen.py >/dev/null 2>&1 & until [ -e listening ]; do sleep 0.05; done"
    await told(birds["one"], begun)
    for name in birds:
        (root / name / "connect.py").write_text(CONNECT)
    command = f"{PYTHON} connect.py {root / 'one'}"
    own, others = [await told(birds[name], command) for name in ("one", "two")]
    assert own.count("reached") == 4, own
    assert "@of-one" in own, own
    assert others.count("refused [Errno") == 4, others
    assert "of-one" not in others, others


def check(seen: str) -> None:
    """What an agent and its commands see from within."""
    assert "exe /memfd:python" in seen, seen
    assert "WRITTEN" not in seen, seen
    assert seen.count("0000000000000000") == 2, seen
    assert "NoNewPrivs:\t1" in seen, seen
    descriptors = seen.partition("descriptors")[2].partition("environments")[0].split()
    assert not [each for each in descriptors if "warm" in each or "log.db" in each], seen
    environments = seen.partition("environments")[2].partition("processes")[0]
    assert "of-one" not in environments, seen
    assert "of-shell" not in environments, seen
    assert "4711" not in seen.partition("processes")[2], seen
    files = seen.partition("files")[2]
    assert "of-one" not in files, seen
    assert "mine" not in files, seen
