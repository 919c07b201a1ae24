"""Run by an agent: tries every way it knows to change something through the daemon.

python intruder.py OUT HOME ADDRESS TOKEN CODE SECRET

TOKEN is good, CODE is of a link that nobody has used, SECRET is the passphrase. Each try is a line
of JSON in OUT: its name, and what came of it; the last is `done`. The test does not believe the
lines: it looks at the sessions.
"""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from urllib.parse import urlencode, urlsplit

OUT, HOME, ADDRESS, TOKEN, CODE, SECRET = sys.argv[1:7]
NETLOC = urlsplit(ADDRESS).netloc
ROOKERY = [sys.executable, "-P", "-m", "rookery"]
NEW = {"agent": "demo", "cwd": "/tmp", "title": "made by an agent"}


def tell(name: str, came: str) -> None:
    with open(OUT, "a", encoding="utf-8") as file:
        file.write(json.dumps({"try": name, "came": came[:300]}) + "\n")


def by_tcp(host: str, *, token: str = TOKEN, path: str = "/api/sessions", form: bytes = b"") -> str:
    link = http.client.HTTPConnection(f"{host}:{NETLOC.rpartition(':')[2]}", timeout=120)
    kind = "application/x-www-form-urlencoded" if form else "application/json"
    headers = {"Content-Type": kind, "Host": NETLOC}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    link.request("POST", path, form or json.dumps(NEW).encode(), headers)
    answer = link.getresponse()
    return f"{answer.status} {answer.read().decode()}"


def raw() -> bytes:
    body = json.dumps(NEW).encode()
    head = (
        f"POST /api/sessions HTTP/1.1\r\nHost: {NETLOC}\r\nAuthorization: Bearer {TOKEN}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def short(answer: bytes) -> str:
    """Its status and its body."""
    head, _, body = answer.partition(b"\r\n\r\n")
    return f"{head[:40].decode()} {body.decode()}"


def gone_at_once() -> str:
    """A child sends it and is gone before anybody can look."""
    if (child := os.fork()) == 0:
        with socket.create_connection(("127.0.0.1", int(NETLOC.rpartition(":")[2]))) as link:
            link.sendall(raw())
            os._exit(0)
    os.waitpid(child, 0)
    return "not waited for"


def double_fork() -> str:
    """From a process whose parents are gone, in a session of its own, without environment."""
    program = "import socket,sys;s=socket.create_connection(('127.0.0.1',int(sys.argv[1])));"
    program += "s.sendall(bytes.fromhex(sys.argv[2]));said=s.makefile('rb').read();"
    program += "open(sys.argv[3],'wb').write(said)"
    said = f"{OUT}.forked"
    if (child := os.fork()) == 0:
        os.setsid()
        if os.fork() == 0:
            words = [sys.executable, "-c", program, NETLOC.rpartition(":")[2], raw().hex(), said]
            os.execve(words[0], words, {"PATH": "/usr/bin:/bin"})
        os._exit(0)
    os.waitpid(child, 0)
    until = time.monotonic() + 30
    while not os.path.exists(said) or not os.path.getsize(said):
        if time.monotonic() > until:
            return "no answer"
        time.sleep(0.02)
    with open(said, "rb") as file:
        return short(file.read())


def by_socket(place: str) -> str:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.settimeout(120)
    link.connect(place)
    link.sendall(raw())
    said = b""
    while piece := link.recv(9999):  # a refusal closes the connection
        said += piece
    return short(said)


def record() -> dict[str, str]:
    with open(os.path.join(HOME, "run", "daemon.json"), encoding="utf-8") as file:
        return json.load(file)


def rookery(*words: str) -> str:
    said = subprocess.run(
        [*ROOKERY, *words], capture_output=True, text=True, timeout=120, check=False
    )
    return f"{said.returncode} {said.stderr} {said.stdout}"


def form(**fields: str) -> bytes:
    return urlencode(fields).encode()


def state_files() -> str:
    """Whether anything that is kept lets one in: tokens, the passphrase, a code."""
    found = []
    for place in (os.path.join(HOME, "run"), os.path.join(HOME, "daemon")):
        for folder, _, files in os.walk(place):
            for name in files:
                try:
                    with open(os.path.join(folder, name), "rb") as file:
                        data = file.read()
                except OSError:
                    continue
                if any(each.encode() in data for each in (TOKEN, SECRET, CODE)):
                    found.append(name)
    return f"found in {found}" if found else "nothing kept"


def process_list() -> str:
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        if int(pid) in (os.getpid(), os.getppid()):
            continue
        for name in ("cmdline", "environ"):
            try:
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    data = file.read()
            except OSError:
                continue
            if (TOKEN.encode() in data or SECRET.encode() in data) and OUT.encode() not in data:
                return f"found in {name} of {pid}"
    return "nothing kept"


TRIES = {
    "token": lambda: by_tcp("127.0.0.1"),
    "no token": lambda: by_tcp("127.0.0.1", token=""),
    "this machine's address": lambda: by_tcp(socket.gethostbyname(socket.gethostname())),
    "link": lambda: by_tcp("127.0.0.1", token="", path="/login", form=form(code=CODE)),
    "passphrase": lambda: by_tcp(
        "127.0.0.1", token="", path="/login", form=form(passphrase=SECRET)
    ),
    "a link of its own": lambda: by_tcp("127.0.0.1", path="/api/devices/link"),
    "gone at once": gone_at_once,
    "double fork": double_fork,
    "own socket": lambda: by_socket(record()["socket"]),
    "control socket": lambda: by_socket("\0" + record()["control"]),
    "rookery api": lambda: rookery("api", "POST", "/api/sessions", "-d", json.dumps(NEW)),
    "serve --link": lambda: rookery("serve", "--link"),
    "serve --stop": lambda: rookery("serve", "--stop"),
    "serve --restart": lambda: rookery("serve", "--restart"),
    "serve": lambda: rookery("serve", "--port", "0"),
    "serve --status": lambda: rookery("serve", "--status"),
    "devices --revoke": lambda: rookery("devices", "--revoke", "x"),
    "state files": state_files,
    "process list": process_list,
}

for name, attempt in TRIES.items():
    try:
        tell(name, attempt())
    except Exception as error:  # noqa: BLE001 - whatever came of it is told
        tell(name, f"{type(error).__name__}: {error}")
tell("done", "")
