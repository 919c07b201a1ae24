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


def decoded(square: list[list[int]]) -> bytes:
    """Read as the standard says, by other code than the one that wrote it. Corrects nothing: the
    check words must be right as they are."""
    size = len(square)
    version = (size - 17) // 4
    word = 0
    for at, (row, column) in enumerate(
        [*((r, 8) for r in (0, 1, 2, 3, 4, 5, 7, 8)), *((8, c) for c in (7, 5, 4, 3, 2, 1, 0))]
    ):
        word |= square[row][column] << at
    word ^= 0x5412
    assert word >> 13 == 0b01  # level L
    mask = qr.MASKS[word >> 10 & 7]
    fixed = qr._fixed(version)
    qr._write_format(fixed, 0)
    if version >= 7:
        qr._write_version(fixed, version)
    bits = []
    for number, right in enumerate([*range(size - 1, 7, -2), *range(5, 0, -2)]):
        rows = range(size) if number % 2 else range(size - 1, -1, -1)
        for row in rows:
            both = [c for c in (right, right - 1) if fixed[row][c] == qr.FREE]
            bits += [square[row][column] ^ (mask(row, column) == 0) for column in both]
    words = [int("".join(map(str, bits[at : at + 8])), 2) for at in range(0, len(bits) - 7, 8)]
    correction, sizes = qr.CORRECTION[version - 1], qr._sizes(version)
    blocks: list[list[int]] = [[] for _ in sizes]
    left = iter(words)
    for n in range(max(sizes)):  # a word of each block, then the next; some have one more
        for block, size in zip(blocks, sizes, strict=True):
            block.extend([next(left)] if n < size else [])
    checked = [list(block) for block in blocks]
    for _ in range(correction):
        for block in checked:
            block.append(next(left))
    for block in checked:
        _check_syndromes(block, correction)
    stream = "".join(f"{each:08b}" for block in blocks for each in block)
    begin = 4 + (8 if version < 10 else 16)
    length = int(stream[4:begin], 2)
    return bytes(int(stream[begin + 8 * n : begin + 8 + 8 * n], 2) for n in range(length))


def _check_syndromes(block: list[int], count: int) -> None:
    """The block is a multiple of the generator: each of its roots is one of the block's."""
    root = 1
    for _ in range(count):
        value = 0
        for each in block:
            value = qr._times(value, root) ^ each
        assert value == 0
        root = qr._times(root, 2)


@pytest.mark.parametrize("length", [1, 17, 18, 60, 106, 134, 135, 192, 230, 271, 620])
def test_the_qr_code_holds_the_login_link(length: int) -> None:
    link = ("http://192.168.1.20:7433/login?code=" + "Ab3-_" * 120)[:length]
    assert decoded(qr.code(link.encode())) == link.encode()


def test_a_qr_code_fits_a_terminal_and_a_link_that_does_not_fit_says_so() -> None:
    lines = qr.drawn("http://127.0.0.1:7433/login?code=" + "x" * 32).splitlines()
    assert len(lines) <= 24
    assert {len(line) for line in lines} == {len(lines[0])}
    assert set("".join(lines)) <= set("█▀▄ ")
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
