"""What leads to a daemon: a QR code for a phone, a service that starts it."""

import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from rookery.core.refusals import Refused
from rookery.daemon.options import Options
from rookery.daemon.process import units
from rookery.processes.lineage import LINUX
from rookery.render import qr


def test_a_qr_code_is_light_on_dark_and_fits_a_terminal() -> None:
    lines = qr.drawn("http://127.0.0.1:7433/login?code=" + "x" * 32).splitlines()
    assert len(lines) <= 24
    assert {len(line) for line in lines} == {len(lines[0])}
    corner = ("█████████", "██ ▄▄▄▄▄ ", "██ █   █ ", "██ █▄▄▄█ ", "██▄▄▄▄▄▄▄")
    assert tuple(line[:9] for line in lines[:5]) == corner


def test_a_qr_code_holds_every_byte_of_a_long_link() -> None:
    link = "http://192.168.1.20:7433/login?code=" + "Ab3-é" * 100
    rows = qr.code(link, border=4)
    assert len(rows) == len(rows[0]) == 4 * 17 + 17 + 8  # version 16 is too small for 636 bytes
    assert not any(rows[0])
    assert not any(row[3] for row in rows)
    with pytest.raises(qr.TooLong):
        qr.drawn("x" * 2954)


OPTIONS = Options(
    port=7500,
    read_only=True,
    allowed_hosts=("a.example",),
    tls_cert='/a "b"/100%.pem',
    tls_key="/k",
)


@pytest.mark.skipif(not LINUX, reason="systemd is Linux's")
def test_the_systemd_unit_is_valid(tmp_path: Path) -> None:
    text = units.systemd("/home/ann/my $rookery", OPTIONS)
    assert "KillMode=process" in text  # sessions live on
    assert "--allowed-host" in text
    assert "passphrase" not in text
    assert '"ROOKERY_HOME=/home/ann/my $rookery" "PATH=/' in text
    settings = {line.partition("=")[0] for line in text.splitlines() if line[:1] not in ("#", "[")}
    bind = ("Private", "Protect", "Restrict", "SystemCall", "NoNew", "Memory", "Limit", "Capab")
    assert not [name for name in settings if name.startswith(bind)], "agents inherit it"
    assert {"OOMPolicy", "TasksMax"} <= settings
    if shutil.which("systemd-analyze") is None:
        pytest.fail("systemd-analyze is missing: scripts/tools installs it")
    path = tmp_path / units.UNIT
    path.write_text(text)
    said = subprocess.run(
        ["systemd-analyze", "verify", "--user", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    complaints = [line for line in said.stderr.splitlines() if units.UNIT in line]
    assert not complaints, said.stderr


def test_the_launchd_plist_is_valid() -> None:
    found = plistlib.loads(units.launchd("/Users/ann/.rookery", OPTIONS).encode())
    assert found["ProgramArguments"][1:5] == ["-P", "-m", "rookery", "serve"]
    assert found["EnvironmentVariables"]["ROOKERY_HOME"] == "/Users/ann/.rookery"
    assert found["AbandonProcessGroup"]


def test_without_a_service_manager_the_unit_is_printed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Refused) as refused:
        units.install(str(home), Options(), print)
    assert refused.value.reason in ("no_systemd", "no_launchd")
    assert "serve" in str(refused.value)
    with pytest.raises(Refused) as refused:
        units.install(str(home), Options(auth="passphrase", passphrase="x"), print)
    assert refused.value.reason == "passphrase_unit"
