"""Logging in to another machine's daemon: what is kept, what is trusted, who may use it."""

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rookery.client.daemon import local, logins
from rookery.client.daemon.errors import NotLoggedIn, OtherVersion, ReadOnly, Untrusted
from rookery.client.daemon.logins import BadUrl, Login, normal
from rookery.client.daemon.remote import Door
from rookery.operations.calling.reaching import rookery_at
from rookery.operations.calling.remote import RemoteRookery
from rookery.processes.lineage import MARK, home_tag
from tests.cli.driving import Result, rookery
from tests.daemon.served import Served, serve
from tests.rigs.sockets import certificate
from tests.transport.conftest import distant


@pytest.fixture
def mine(tmp_path: Path) -> str:
    """The home of the one who logs in: another than the daemon's."""
    return str(tmp_path / "mine")


def link_of(served: Served) -> str:
    return str(local.request(served.home, "POST", "/api/devices/link", {}).json()["link"])


def log_in(served: Served, home: str, *more: str, text: str = "") -> Result:
    given = text or link_of(served)
    return rookery("login", served.address, *more, text=given, ROOKERY_HOME=home)


def test_login_by_a_link_keeps_the_token_private(daemon: Served, mine: str) -> None:
    done = log_in(daemon, mine, "--name", "laptop")
    assert done.code == 0, done.err
    path = Path(mine) / logins.FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    token = json.loads(path.read_text())["logins"][0]["token"]
    assert token.startswith("rk_")
    assert token not in done.out + done.err
    assert [each["name"] for each in daemon.own("GET", "/api/devices").json()] == ["laptop"]
    listed = rookery("login", ROOKERY_HOME=mine)
    assert listed.out == f"{daemon.address}\n"
    for command in (["ps"], ["api", "GET", "/api/about"], ["--daemon", daemon.address, "ps"]):
        found = rookery(*command, ROOKERY_HOME=mine, ROOKERY_URL=daemon.address)
        assert found.code == 0, found.err
        assert token not in found.out + found.err


def test_logout_ends_the_login_on_both_machines(daemon: Served, mine: str) -> None:
    log_in(daemon, mine)
    kept = logins.load(mine, daemon.address)
    done = rookery("logout", daemon.address, ROOKERY_HOME=mine)
    assert done.code == 0, done.err
    assert logins.urls(mine) == []
    with closing(RemoteRookery(Door(kept))) as found, pytest.raises(NotLoggedIn):
        found.heads()


def test_a_link_is_used_once_and_kept_off_the_command_line(daemon: Served, mine: str) -> None:
    link = link_of(daemon)
    done = rookery("login", link, ROOKERY_HOME=mine)
    assert done.code == 2
    assert "does not belong on a command line" in done.err
    assert log_in(daemon, mine, text=link).code == 0
    again = log_in(daemon, mine, text=link)
    assert again.code == 1
    assert "expired or was used" in again.err


def test_a_revoked_login_says_how_to_log_in_again(daemon: Served, mine: str) -> None:
    log_in(daemon, mine)
    (device,) = daemon.own("GET", "/api/devices").json()
    daemon.own("DELETE", f"/api/devices/{device['id']}")
    done = rookery("ps", ROOKERY_HOME=mine, ROOKERY_URL=daemon.address)
    assert done.code == 1
    assert f"rookery login {daemon.address}" in done.err


def test_a_file_that_others_can_read_is_refused(daemon: Served, mine: str) -> None:
    log_in(daemon, mine)
    path = os.path.join(mine, logins.FILE)
    os.chmod(path, 0o644)
    done = rookery("ps", ROOKERY_HOME=mine, ROOKERY_URL=daemon.address)
    assert done.code == 1
    assert f"chmod 600 {path}" in done.err


def test_an_unreachable_daemon_is_one_sentence(daemon: Served, mine: str) -> None:
    log_in(daemon, mine)
    daemon.stop()
    done = rookery("ps", ROOKERY_HOME=mine, ROOKERY_URL=daemon.address)
    assert done.code == 1
    assert done.err.startswith(f"rookery: {daemon.address} cannot be reached")


def test_a_read_only_daemon_refuses_with_its_reason(
    serving: Callable[..., Served], mine: str
) -> None:
    served = serving(read_only=True)
    with closing(distant(served)) as found:
        assert found.heads() == []
        with pytest.raises(ReadOnly):
            found.create(agent="demo", cwd="/tmp")


def test_an_unknown_route_is_explained_by_the_daemons_version(daemon: Served) -> None:
    with closing(distant(daemon)) as found, pytest.raises(OtherVersion):
        found.door.json("GET", "/api/tomorrow")


# --- certificates --------------------------------------------------------------------------------


@pytest.fixture
def secured(home: Path, tmp_path: Path) -> Iterator[tuple[Served, Any, str]]:
    """A daemon with a certificate of its own, a login there, and its address."""
    proof = certificate(tmp_path)
    served = serve(home, tls_cert=str(proof.file), tls_key=str(proof.key))
    yield served, proof, f"https://localhost:{served.netloc.rpartition(':')[2]}"
    served.stop()


def test_a_certificate_is_trusted_by_its_file_or_its_fingerprint(
    secured: tuple[Served, Any, str], mine: str
) -> None:
    served, proof, url = secured
    unknown = rookery("login", url, text=link_of(served), ROOKERY_HOME=mine)
    assert unknown.code == 1
    assert f"--fingerprint sha256:{proof.fingerprint}" in unknown.err
    for trust in (["--ca", str(proof.file)], ["--fingerprint", f"sha256:{proof.fingerprint}"]):
        done = rookery("login", url, *trust, text=link_of(served), ROOKERY_HOME=mine)
        assert done.code == 0, done.err
        found = rookery("ps", ROOKERY_HOME=mine, ROOKERY_URL=url)
        assert found.code == 0, found.err


async def test_a_changed_certificate_is_refused_before_anything_is_sent(
    secured: tuple[Served, Any, str],
) -> None:
    _, _, url = secured
    other = Login(url, "rk_" + "x" * 43, fingerprint="0" * 64)
    with pytest.raises(Untrusted) as refused:
        RemoteRookery(Door(other)).heads()
    assert "has changed" in str(refused.value)
    assert "rookery login" in str(refused.value)
    with pytest.raises(Untrusted):
        async for _ in RemoteRookery(Door(other)).open("0123456789").follow():
            pass


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("HTTPS://Box.Example.Org:7433/", "https://box.example.org:7433"),
        ("wss://box", "https://box"),
        ("https://box:443", "https://box"),
        ("http://[::1]:7433", "http://[::1]:7433"),
    ],
)
def test_an_address_has_one_spelling(url: str, written: str) -> None:
    assert normal(url) == written


@pytest.mark.parametrize(
    "url",
    ["box:7433", "ftp://box", "https://", "https://me:word@box", "https://box/api", "https://b x"],
)
def test_an_invalid_address_is_refused(url: str) -> None:
    with pytest.raises(BadUrl):
        normal(url)


def test_plain_http_to_another_machine_needs_the_users_consent(mine: str) -> None:
    done = rookery("login", "http://192.0.2.7:7433", text="code", ROOKERY_HOME=mine)
    assert done.code == 1
    assert "--allow-http" in done.err
    Door(Login("http://192.0.2.7:7433", "rk_x", http=True))


# --- agents --------------------------------------------------------------------------------------


def test_an_agent_cannot_use_the_users_login(daemon: Served, mine: str) -> None:
    """What descends from an agent of this home gets no saved login, and makes none."""
    log_in(daemon, mine)
    mark = f"{home_tag(mine)}.1"
    for command in (["ps"], ["login", daemon.address], ["logout", daemon.address]):
        done = rookery(
            *command,
            text=link_of(daemon),
            ROOKERY_HOME=mine,
            ROOKERY_URL=daemon.address,
            **{MARK: mark},
        )
        assert done.code == 1, done.out
        assert "An agent cannot" in done.err
    with closing(rookery_at(mine, daemon.address)) as found:
        assert found.heads() == []


def test_the_token_is_in_no_process_list(daemon: Served, mine: str) -> None:
    log_in(daemon, mine)
    token = logins.load(mine, daemon.address).token
    session = daemon.create()
    words = [sys.executable, "-m", "rookery", "--daemon", daemon.address, "tail", session]
    environment = os.environ | {"ROOKERY_HOME": mine}
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as following:
        assert following.stdout is not None
        daemon.ask("POST", f"/api/sessions/{session}/prompt", {"text": '{"play": [{"text": "x"}]}'})
        following.stdout.readline()
        for name in ("cmdline", "environ"):
            assert token.encode() not in Path(f"/proc/{following.pid}/{name}").read_bytes()
        following.send_signal(signal.SIGINT)


def test_commands_about_this_machine_refuse_another(mine: str) -> None:
    url = "https://192.0.2.7:7433"
    for command in (["config", "list"], ["mcp", "list"]):
        done = rookery(*command, ROOKERY_HOME=mine, ROOKERY_URL=url)
        assert done.code == 2
        assert "names another" in done.err
    done = rookery("--daemon", url, "serve", "--status", ROOKERY_HOME=mine)
    assert done.code == 2
    assert rookery("serve", "--status", ROOKERY_HOME=mine, ROOKERY_URL=url).code == 1
