"""Run by an agent: tries every way it knows to answer an ask, or to loosen what a person decides.

python burglar.py OUT HOME OWN OTHER ASLEEP [NAME…]      only these tries; `takes`: all of TAKES

OWN: the session of the agent that runs this, OTHER: another one, both with an open ask; ASLEEP: one
that sleeps. Each try is a line of JSON in OUT: its name, and what came of it. The last line is
`done`. The tests do not believe the lines: they look at the sessions.
"""

import ctypes
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

from rookery.client.trash import store
from rookery.home import paths
from rookery.log.reader import Reader

OUT, HOME, OWN, OTHER, ASLEEP = sys.argv[1:6]
ONLY = sys.argv[6:]
ROOKERY = [sys.executable, "-P", "-m", "rookery"]
SECONDS = 120.0
CLONE_PARENT = 0x8000
CLONE = {"x86_64": 56, "aarch64": 220}.get(os.uname().machine, 56)

type Json = dict[str, Any]


def tell(name: str, came: str) -> None:
    with open(OUT, "a", encoding="utf-8") as file:
        file.write(json.dumps({"try": name, "came": came[:300]}) + "\n")


# ---------------------------------------------------------------- what is tried


def socket_of(session: str) -> str:
    return paths.socket_path(paths.session_dir(HOME, session))


def asked(session: str) -> Json:
    """What is asked there, when something is: what this was started by may come before its ask."""
    until = time.monotonic() + SECONDS
    while True:
        with Reader.open(paths.session_dir(HOME, session)) as log:
            asks: Json = log.header_before(log.turns() + 1).asks
        if asks or time.monotonic() > until:
            return asks
        time.sleep(0.02)


def answer_to(session: str) -> Json:
    """Yes, to whatever is asked there."""
    name, ask = next(iter(asked(session).items()))
    option = next(each["optionId"] for each in ask["options"] if "allow" in each["kind"])
    return {"do": "answer", "ask": name, "nonce": ask["nonce"], "option": option}


LOOSEN: Json = {"do": "set", "option": "confirm", "value": "all"}
SLASH: Json = {"do": "prompt", "prompt": [{"type": "text", "text": " /confirm all"}]}


def frames(name: str, *commands: Json) -> tuple[bytes, list[str]]:
    hello: Json = {"protocol": 1, "build": "x", "client": name, "from": 0}
    sent = [{"id": os.urandom(8).hex(), **command} for command in commands]
    lines: list[Json] = [{"hello": hello}, *({"command": command} for command in sent)]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines), [s["id"] for s in sent]


def connected(address: str) -> socket.socket:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.settimeout(SECONDS)
    link.connect(address)
    return link


def raw(address: str, command: Json) -> str:
    """What a worker says to a command that comes without a client of ours."""
    try:
        with connected(address) as link, link.makefile("rb") as lines:
            data, [wanted] = frames("burglar", command)
            link.sendall(data)
            for line in lines:
                match json.loads(line):
                    case {"event": {"cause": cause, "update": update}} if cause == wanted:
                        return f"{update['sessionUpdate']} {update.get('reason')}"
                    case {"refused": why}:
                        return f"refused {why}"
    except OSError as error:
        return f"{type(error).__name__} {error}"
    return "closed"


def control_of(session: str) -> str:
    with connected(socket_of(session)) as link, link.makefile("rb") as lines:
        link.sendall(frames("burglar")[0])
        for line in lines:
            match json.loads(line):
                case {"welcome": body}:
                    return str(body.get("control", ""))
    return ""


def cli(*words: str, **environment: str) -> str:
    given = {**os.environ, **environment}
    done = subprocess.run(
        [*ROOKERY, *words],
        capture_output=True,
        check=False,
        text=True,
        env=given,
        stdin=subprocess.DEVNULL,
    )
    return f"{done.returncode} {done.stdout}{done.stderr}"


# ---------------------------------------------------------------- how it hides


def in_child(act: Callable[[], str], *, fork: Callable[[], int] = os.fork) -> str:
    """What it said, from a process below."""
    reading, writing = os.pipe()
    if not fork():
        finish(writing, act)
    os.close(writing)
    with open(reading, encoding="utf-8") as file:
        return file.read() or "nothing"


def finish(writing: int, act: Callable[[], str]) -> NoReturn:
    try:
        os.write(writing, act().encode()[:300])
    except (OSError, ValueError) as error:
        os.write(writing, repr(error).encode()[:300])
    finally:
        os._exit(0)


def daemonized(act: Callable[[], str]) -> str:
    """A session of its own, and a parent that is gone."""

    def leave() -> str:
        os.setsid()
        reading, writing = os.pipe()
        middle = os.getpid()
        if not os.fork():
            while os.getppid() == middle:
                time.sleep(0.01)
            finish(writing, act)
        os.close(writing)
        pid = os.fork()
        if pid:  # the one in the middle ends; a third brings what was said
            os._exit(0)
        with open(reading, encoding="utf-8") as file:
            return file.read()

    return in_child(leave)


def clone_parent() -> int:
    """A sibling instead of a child: its parent is the one that we have."""
    libc = ctypes.CDLL(None, use_errno=True)
    return int(libc.syscall(CLONE, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0))


def hit_and_run(address: str, *commands: Json) -> str:
    """Gone before anybody can look."""

    def act() -> str:
        data, _ = frames("runner", *commands)
        connected(address).sendall(data)
        os._exit(0)

    return in_child(act) + " (not waited for)"


def without_records() -> str:
    for name in os.listdir(os.path.join(HOME, "run", "roots")):
        with suppress(OSError):
            os.unlink(os.path.join(HOME, "run", "roots", name))
    return " | ".join(raw(socket_of(each), answer_to(each)) for each in (OWN, OTHER))


def other_namespace(*words: str) -> str:
    """Its parents are out of its own sight."""
    argv = ["unshare", "--fork", "--pid", "--mount-proc", *ROOKERY, *words]
    done = subprocess.run(argv, capture_output=True, check=False, text=True)
    return f"{done.returncode} {done.stdout}{done.stderr}"


def linked_home() -> str:
    link = f"{OUT}.home"
    os.symlink(HOME, link)
    return cli("policy", "add", "allow", "--command", "*", ROOKERY_HOME=link, ROOKERY_MARK="")


def edited() -> str:
    """As a person would, in an editor that is a program."""
    code = "import sys; open(sys.argv[1], 'a').write('[session]\\napprove_all = true\\n')"
    line = shlex.join([sys.executable, "-c", code])
    return cli("config", "edit", EDITOR=f"{line}", VISUAL="")


def after_the_parents_end() -> str:
    """The job of a command that has ended."""
    code = (
        f"import os, sys; sys.argv = {['x', f'{OUT}.job', HOME, OWN, OTHER, ASLEEP, 'never']!r}; "
        f"exec(open({__file__!r}).read()); tell('job', raw(socket_of(OTHER), answer_to(OTHER)))"
    )
    subprocess.run(["/bin/sh", "-c", '"$0" -c "$1" & exit 0', sys.executable, code], check=True)
    until, told = time.monotonic() + SECONDS, ""
    while not told and time.monotonic() < until:
        time.sleep(0.02)
        with suppress(FileNotFoundError), open(f"{OUT}.job", encoding="utf-8") as file:
            told = file.read()
    return told


def after_the_agents_end() -> str:
    """Only where it is asked for: somebody has to end the agent."""
    root = agent_of(OWN)

    def act() -> str:
        with open(f"{OUT}.waits", "w", encoding="utf-8") as file:
            file.write(str(os.getpid()))
        with suppress(FileNotFoundError):
            while os.stat(f"/proc/{root}") and b") Z " not in stat_of(root):
                time.sleep(0.01)
        return raw(socket_of(OTHER), answer_to(OTHER)) + raw(socket_of(OTHER), LOOSEN)

    return daemonized(act)


def agent_of(session: str) -> int:
    with open(os.path.join(paths.session_dir(HOME, session), paths.WORKER), "rb") as file:
        return int(json.loads(file.read())["agentPid"])


def stat_of(pid: int) -> bytes:
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read()


CLEAR = {"ROOKERY_HOME": HOME, "PATH": "/usr/bin:/bin"}


def answered() -> str:
    asked(OWN)
    return cli("answer", OWN, "1")


def cleared() -> str:
    def act() -> str:
        argv = [*ROOKERY, "answer", OTHER, "1"]
        done = subprocess.run(argv, env=CLEAR, capture_output=True, check=False, text=True)
        return f"{done.returncode} {done.stderr}"

    return daemonized(act)


END = "after the agent's end"

TRIES: dict[str, Callable[[], str]] = {
    "answer": answered,
    "answer another's": lambda: cli("answer", OTHER, "1"),
    "set": lambda: cli("set", OWN, "confirm", "all"),
    "set another's": lambda: raw(socket_of(OTHER), LOOSEN),
    "slash command": lambda: raw(socket_of(OTHER), SLASH),
    "mode": lambda: raw(socket_of(OTHER), {"do": "set", "option": "mode", "value": "yolo"}),
    "switch": lambda: raw(socket_of(OTHER), {"do": "switch", "agent": "x", "argv": ["true"]}),
    "path socket": lambda: raw(socket_of(OWN), answer_to(OWN)),
    "control socket": lambda: raw(f"\0{control_of(OTHER)}", answer_to(OTHER)),
    "own control socket": lambda: raw(f"\0{control_of(OWN)}", answer_to(OWN)),
    "double fork": lambda: daemonized(lambda: raw(socket_of(OTHER), answer_to(OTHER))),
    "double fork, control": lambda: daemonized(
        lambda: raw(f"\0{control_of(OTHER)}", answer_to(OTHER))
    ),
    "cleared environment": cleared,
    "sibling": lambda: in_child(lambda: raw(socket_of(OTHER), answer_to(OTHER)), fork=clone_parent),
    "job of an ended command": after_the_parents_end,
    "gone at once": lambda: hit_and_run(socket_of(OTHER), answer_to(OTHER), LOOSEN),
    "gone at once, control": lambda: hit_and_run(
        f"\0{control_of(OTHER)}", answer_to(OTHER), LOOSEN
    ),
    "asleep": lambda: cli("set", ASLEEP, "confirm", "all"),
    "asleep, mode": lambda: cli("set", ASLEEP, "mode", "yolo"),
    "rule": lambda: cli("policy", "add", "allow", "--command", "*", ROOKERY_MARK=""),
    "rule by another name of the home": linked_home,
    "settings": edited,
    "a session that asks less": lambda: cli("run", "--agent", "demo", "--llm-approve", "hello"),
    "no record": without_records,
    "namespace": lambda: other_namespace("answer", OTHER, "1"),
    "asleep, namespace": lambda: other_namespace("set", ASLEEP, "confirm", "all"),
}

COMMANDS = ("cancel", "force_end", "stop", "restart", "archive", "unpin", "clear", "delete")
TAKES: dict[str, Callable[[], str]] = {
    "remove": lambda: cli("remove", "--yes", "--force", OTHER, ASLEEP),
    "remove a sleeping one": lambda: cli("remove", "--yes", "--force", ASLEEP),
    "remove, marks cleared": lambda: daemonized(
        lambda: cli("remove", "--yes", "--force", ASLEEP, ROOKERY_MARK="")
    ),
    "remove, namespace": lambda: other_namespace("remove", "--yes", "--force", ASLEEP),
    "prune": lambda: cli("prune", "--older-than", "0s", "--yes"),
    "uninstall": lambda: cli("uninstall", "--yes"),
    "remove permanently": lambda: cli("remove", "--yes", "--force", "--permanently", ASLEEP),
    "what is in the trash": lambda: cli("remove", "--yes", "--permanently", trashed()),
    "empty the trash": lambda: cli("trash", "--empty", "--yes"),
    "restore": lambda: cli("restore", trashed()),
    "restore, marks cleared": lambda: daemonized(
        lambda: cli("restore", trashed(), ROOKERY_MARK="")
    ),
    "stop at once": lambda: cli("stop", "--now", OTHER),
    "an editor's delete": lambda: bridge("session/delete"),
    **{f"{do} a sleeping one": partial(cli, do, ASLEEP) for do in ("clear", "archive", "unpin")},
    **{do: partial(cli, do, OTHER) for do in ("clear", "archive", "stop", "cancel", "restart")},
    "snooze": lambda: cli("snooze", ASLEEP, "--for", "3d"),
    "a queued prompt": lambda: cli("queue", OTHER, "remove", "1"),
    **{f"raw {do}": partial(lambda do: raw(socket_of(OTHER), {"do": do}), do) for do in COMMANDS},
    "raw queue": lambda: raw(socket_of(OTHER), {"do": "queue", "op": "remove", "item": queued()}),
    "raw snooze": lambda: raw(socket_of(OTHER), {"do": "snooze", "until": 4102444800000}),
    "stop, gone at once": lambda: hit_and_run(socket_of(OTHER), *({"do": do} for do in COMMANDS)),
    "stop, double fork": lambda: daemonized(lambda: raw(socket_of(OTHER), {"do": "stop"})),
    "stop, control": lambda: raw(f"\0{control_of(OTHER)}", {"do": "stop"}),
}
"""What takes away, hides, empties or ends what another session has."""


def trashed() -> str:
    return store.entries(HOME)[0].session


def queued() -> str:
    with Reader.open(paths.session_dir(HOME, OTHER)) as log:
        return str(log.header().queue[0]["id"])


def bridge(method: str) -> str:
    """As an editor would."""
    calls = [("initialize", {"protocolVersion": 1}), (method, {"sessionId": ASLEEP})]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": n, "method": name, "params": given})
        for n, (name, given) in enumerate(calls)
    ]
    argv = [*ROOKERY, "acp"]
    done = subprocess.run(
        argv, input="\n".join(lines) + "\n", capture_output=True, check=False, text=True
    )
    return f"{done.returncode} {done.stdout.splitlines()[-1:]} {done.stderr}"


OWN_WORK = "its own session"


def own_session() -> str:
    """What it began itself, it may end."""
    made = cli("new", "--agent", "demo").split()[1]
    came = [cli("prompt", made, "hello"), cli("cancel", made), cli("stop", made)]
    return " | ".join([*came, cli("remove", "--yes", made)])


def main() -> None:
    with open(OUT, "a", encoding="utf-8"):
        pass  # it is there: who waits for it may end
    wanted = TRIES | ({END: after_the_agents_end, OWN_WORK: own_session} if ONLY else {})
    if ONLY == ["takes"]:
        wanted = TAKES
    for name, act in wanted.items():
        if not ONLY or wanted is TAKES or name in ONLY:
            try:
                tell(name, act())
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                tell(name, repr(error))
    tell("done", "")


if "never" not in ONLY:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    main()
