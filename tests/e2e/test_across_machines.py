"""Two homes and two daemons on two machines, a client on a third: a session at one whose agent is
the other, over a link that breaks."""

import http.client
import json
import os
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from rookery.core.json.events import Event
from rookery.daemon.process import lifecycle
from rookery.home import paths
from rookery.log.reader import Reader
from tests.acp.packages import NETWORK_SDK, python_with
from tests.cli.driving import ROOKERY
from tests.clients.programs import FIXTURES
from tests.conftest import temporary_home
from tests.daemon.served import PATIENCE, Served, awaited, serve
from tests.e2e.log_checks import check_asks, check_order
from tests.rigs.machines import Network, network
from tests.rigs.player import player
from tests.rigs.sockets import Certificate, certificate
from tests.worker.aviary import is_idle, kinds, text_of, trust

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="Only Linux has network namespaces."),
]

WIRE, OTHER = "10.83.0", "10.83.1"
CUT = 30.0
"""Seconds for which nothing passes."""
LATE = 120.0


def pieces(first: int, count: int) -> str:
    """All of one length, so that the player cuts between them."""
    return "".join(f"{number:05};" for number in range(first, first + count))


def destructive(*allowed: Any) -> Any:
    call = {"kind": "execute", "rawInput": {"command": "rm -rf build"}}
    return {"ask": "rm -rf build", **call, "allowed": list(allowed), "rejected": [{"text": "no"}]}


TURNS = [
    [{"text": pieces(0, 10)}, destructive({"text": pieces(10, 10)})],
    # All but the beginning of it happens while the link is cut.
    [
        {"text": pieces(20, 100), "chunks": 100, "every": 0.1},
        destructive({"text": pieces(120, 80), "chunks": 80, "every": 0.1}),
    ],
]
WHOLE = pieces(0, 200)


class Machine(Served):
    """A daemon on a machine; requests come from any other."""

    def __init__(self, net: Network, home: Path, name: str, at: str, proof: Certificate) -> None:
        self.net, self.name, self.proof = net, name, proof
        every, tls = "0.0.0.0", {"tls_cert": str(proof.file), "tls_key": str(proof.key)}  # noqa: S104
        super().__init__(home, net.on(name, lambda: serve(home, host=every, **tls).record))
        self.netloc = f"{at}:{self.netloc.rpartition(':')[2]}"
        self.key = net.on(name, lambda: self.token)

    def connection(self) -> http.client.HTTPConnection:
        trusts = ssl.create_default_context(cafile=str(self.proof.file))
        return http.client.HTTPSConnection(self.netloc, timeout=PATIENCE, context=trusts)

    def asked(self, machine: str, method: str, path: str, body: Any = None) -> Any:
        """From a machine, with a token."""
        answer = self.net.on(machine, lambda: self.ask(method, path, body))
        assert answer.status == 200, answer.body
        return answer.json()

    def allow(self, machine: str, session: str) -> None:
        """Answer the ask that comes next, of what cannot be undone."""

        def asks() -> Any:
            path = f"/api/sessions/{session}/document"
            return self.asked(machine, "GET", path)["header"]["asks"]

        ((ask, said),) = awaited(asks).items()
        assert "rm -rf" in said["danger"]
        answer = {"ask": ask, "option": "allow", "confirm": True}
        self.asked(machine, "POST", f"/api/sessions/{session}/answer", answer)

    def events(self, session: str) -> list[Event]:
        with Reader.open(paths.session_dir(self.home, session)) as log:
            return log.read(0)

    def notices(self, session: str) -> str:
        told = [event.update for event in self.events(session)]
        return "".join(each["text"] for each in told if each["sessionUpdate"] == "_notice")

    def sessions(self) -> list[str]:
        return os.listdir(paths.sessions(self.home))


@pytest.fixture
def net() -> Iterator[Network]:
    with network("near", "far", "desk") as found:
        yield found


@pytest.fixture
def start(net: Network, tmp_path: Path) -> Iterator[Callable[..., Machine]]:
    """A daemon with a home of its own: a machine's name, its address, the rest of its settings."""
    with ExitStack() as undo:

        def begin(name: str, at: str, *settings: str) -> Machine:
            patch = undo.enter_context(pytest.MonkeyPatch.context())
            homes = temporary_home(patch)
            home = next(homes)
            undo.callback(next, homes, None)
            home.joinpath("config.toml").write_text("\n".join(settings))
            trust(str(home))
            folder = tmp_path / name
            folder.mkdir()
            proof = certificate(folder, at)
            undo.callback(net.on, name, lambda: lifecycle.stop(str(home)))
            return Machine(net, home, name, at, proof)

        yield begin


class Desk:
    """The official SDK's client on a third machine, which leaves all asks to others."""

    def __init__(self, near: Machine, folder: Path) -> None:
        self._out = folder / "seen"
        python = python_with(NETWORK_SDK, "--pre", "uvicorn", "websockets")
        program = [str(python), "-P", str(FIXTURES / "python_sdk_watching.py")]
        own = {"TOKEN": near.key, "SSL_CERT_FILE": str(near.proof.file)}

        def begin() -> subprocess.Popen[bytes]:
            with self._out.open("wb") as file:
                return subprocess.Popen(
                    [*program, f"wss://{near.netloc}/acp", json.dumps(TURNS)],
                    stdin=subprocess.PIPE,
                    stdout=file,
                    cwd=folder,
                    env={**os.environ, **own},
                )

        self._process = near.net.on("desk", begin)

    def seen(self, key: str) -> list[Any]:
        lines = [json.loads(line) for line in self._out.read_text().split("\n")[:-1]]
        return [line[key] for line in lines if key in line]

    def text(self) -> str:
        return "".join(self.seen("text"))

    def leave(self) -> int:
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(PATIENCE)

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


class Owner:
    """Somebody at the third machine, who knows the other Rookery by its address."""

    def __init__(self, near: Machine, folder: Path) -> None:
        self._near, self._home = near, folder / "owner"
        self._url = f"https://{near.netloc}"
        pinned = f"sha256:{near.proof.fingerprint}"
        self.rookery("login", self._url, "--fingerprint", pinned, stdin=near.key)

    def rookery(self, *words: str, stdin: str = "") -> str:
        """What a command prints."""
        environment = {**os.environ, "ROOKERY_HOME": str(self._home)}

        def run() -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [*ROOKERY, *words],
                input=stdin,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                env=environment,
                check=False,
            )

        done = self._near.net.on("desk", run)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def there(self, *words: str) -> str:
        return self.rookery("--daemon", self._url, *words)

    def allow(self, session: str) -> None:
        awaited(lambda: session[:4] in self.there("asks"))
        assert session[:4] in self.there("ps")
        assert "rm -rf build" in self.there("answer", session)
        self.there("answer", session, "allow", "--confirm")


@pytest.fixture
def far(net: Network, start: Callable[..., Machine], tmp_path: Path) -> Machine:
    """Whose agent is a program."""
    script = tmp_path / "script.json"
    script.write_text("{}")
    words = json.dumps(player(str(script), "--state", str(tmp_path / "state")))
    _, at = net.wire("near", "far", WIRE)
    return start("far", at, 'default_agent = "bird"', "[agents.bird]", f"command = {words}")


@pytest.fixture
def near(net: Network, start: Callable[..., Machine], far: Machine, tmp_path: Path) -> Machine:
    """Whose agent is the other."""
    token = tmp_path / "token"
    token.touch(0o600)
    token.write_text(far.key)
    at, _ = net.wire("near", "desk", OTHER)
    return start(
        *("near", at, 'default_agent = "far"', "[agents.far]"),
        f'url = "wss://{far.netloc}/acp"',
        f'headers = {{ Authorization = {{ file = "{token}" }} }}',
        f'fingerprint = "sha256:{far.proof.fingerprint}"',
        f'cwd = "{tmp_path}"',
    )


@pytest.fixture
def desk(near: Machine, tmp_path: Path) -> Iterator[Desk]:
    found = Desk(near, tmp_path)
    yield found
    found.end()


def test_a_session_across_two_machines_loses_nothing(
    net: Network, near: Machine, far: Machine, desk: Desk, tmp_path: Path
) -> None:
    owner = Owner(near, tmp_path)
    (session,) = awaited(lambda: desk.seen("session"))
    owner.allow(session)
    awaited(lambda: len(desk.seen("end")) == 1)
    (there,) = far.sessions()
    awaited(lambda: pieces(20, 10) in desk.text())
    net.cut("far", WIRE)
    until = time.monotonic() + CUT
    far.allow("far", there)  # nobody else can know of this ask
    awaited(lambda: text_of(far.events(there)) == WHOLE)
    assert len(near.events(session)) < len(far.events(there))
    time.sleep(max(0.0, until - time.monotonic()))  # that long, whatever else happens
    awaited(lambda: "is interrupted" in near.notices(session), LATE)
    net.mend("far", WIRE)
    awaited(lambda: len(desk.seen("end")) == 2, LATE)
    awaited(lambda: desk.text() == WHOLE)
    assert desk.seen("end") == ["end_turn", "end_turn"]
    assert len(desk.seen("ask")) in (1, 2)  # the second was answered before it could be told
    assert pieces(190, 10) in owner.there("show", session)
    assert desk.leave() == 0
    assert "again; nothing was lost" in near.notices(session)
    assert (near.sessions(), far.sessions()) == ([session], [there])
    last = set[str]()
    for events in (near.events(session), far.events(there)):
        check_order(events)
        check_asks(events)
        assert text_of(events) == WHOLE
        assert [kinds(events).count(kind) for kind in ("_prompt", "tool_call")] == [2, 2]
        ends = [event.update for event in events if is_idle(event)]
        assert [(end["turn"], end["reason"]) for end in ends] == [(n, "end_turn") for n in (1, 2)]
        last.add(ends[-1]["last"])
    assert len(last) == 1
