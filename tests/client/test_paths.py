"""Where things lie: ids that stay in the home, short sockets, files that are never half-written."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from rookery.home import paths

SHORT = f"/tmp/rookery-{os.geteuid()}"


def mode(path: str | Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def test_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ROOKERY_HOME", raising=False)
    assert paths.home() == str(tmp_path / ".rookery")
    monkeypatch.setenv("ROOKERY_HOME", "")
    assert paths.home() == str(tmp_path / ".rookery")
    monkeypatch.setenv("ROOKERY_HOME", "~/other")
    assert paths.home() == str(tmp_path / "other")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROOKERY_HOME", "here")
    assert paths.home() == str(tmp_path / "here")


def test_home_is_for_its_owner_alone(tmp_path: Path) -> None:
    home = paths.ensure_home(str(tmp_path / "deep" / "home"))
    assert mode(home) == mode(paths.sessions(home)) == 0o700
    assert paths.ensure_home(home) == home


def test_home_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(paths.PathError, match="not a directory"):
        paths.ensure_home(str(tmp_path / "home"))


def test_new_sessions_differ(tmp_path: Path) -> None:
    made = {paths.claim_session(str(tmp_path)) for _ in range(20)}
    assert made == set(os.listdir(tmp_path / "sessions"))
    assert len(made) == 20
    for session in made:
        assert len(session) == 10
        assert int(session, 16) >= 0
        assert session == session.lower()
        assert mode(tmp_path / "sessions" / session) == 0o700


@pytest.mark.parametrize("text", ["", ".", "..", "a/b", "../a", "-a", "a\0", "a b", "é", "a" * 65])
def test_no_session_id(text: str) -> None:
    with pytest.raises(paths.PathError, match="not a session id"):
        paths.session_dir("/home", text)


@given(some.text())
def test_session_dir_stays_in_the_home(text: str) -> None:
    if paths.is_id(text):
        path = paths.session_dir("/home", text)
        assert os.path.normpath(path) == path
        assert os.path.dirname(path) == "/home/sessions"


def test_socket_is_in_the_home(tmp_path: Path) -> None:
    home = Path("/tmp/rk-h")
    path = paths.socket_path(str(home / "sessions" / "a1"))
    assert os.path.dirname(path) == "/tmp/rk-h/run"
    assert len(os.path.basename(path)) == 10
    assert path != paths.socket_path(str(home / "sessions" / "a2"))
    assert not home.exists()


@given(some.integers(min_value=1, max_value=200))
def test_socket_is_short_whatever_the_home(length: int) -> None:
    home = "/" + "h" * length
    path = paths.socket_path(f"{home}/sessions/a1")
    assert len(os.fsencode(path)) <= 100
    assert path.startswith((f"{home}/run/", f"{SHORT}/"))


def test_socket_is_the_same_by_every_name(tmp_path: Path) -> None:
    """Also where one spelling is short enough for the home and another is not."""
    real = tmp_path / ("h" * 100)
    (real / "sessions" / "a1").mkdir(parents=True)
    (tmp_path / "l").symlink_to(real)
    by_link = paths.socket_path(str(tmp_path / "l" / "sessions" / "a1"))
    assert by_link == paths.socket_path(str(real / "sessions" / "a1"))
    assert by_link.startswith(SHORT)


def test_socket_ignores_the_runtime_dir(monkeypatch: pytest.MonkeyPatch) -> None:
    before = paths.socket_path("/h/sessions/a1")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/1")
    monkeypatch.setenv("TMPDIR", "/elsewhere")
    assert paths.socket_path("/h/sessions/a1") == before
    assert paths.socket_path(f"/{'h' * 100}/sessions/a1").startswith(SHORT)


def test_socket_dir_is_made_private(tmp_path: Path) -> None:
    socket = str(tmp_path / "run" / "a.s")
    paths.make_socket_dir(socket)
    paths.make_socket_dir(socket)
    assert mode(tmp_path / "run") == 0o700
    paths.make_socket_dir(f"{SHORT}/a.s")
    assert mode(SHORT) == 0o700


def test_socket_dir_that_another_laid_out(tmp_path: Path) -> None:
    """Refused with a sentence."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").write_text("")
    with pytest.raises(paths.PathError, match="symbolic link"):
        paths.check_socket_dir(str(tmp_path / "link"))
    with pytest.raises(paths.PathError, match="not a directory"):
        paths.check_socket_dir(str(tmp_path / "file"))
    foreign = "/proc/1" if os.geteuid() else str(tmp_path / "real")
    if not os.geteuid():
        os.chown(foreign, 12345, -1)
    with pytest.raises(paths.PathError, match="another user"):
        paths.check_socket_dir(foreign)


def test_atomic_write(tmp_path: Path) -> None:
    path = tmp_path / "worker.json"
    paths.write_atomic(str(path), b"one")
    paths.write_atomic(str(path), b"two" * 100_000, sync=True)
    assert path.read_bytes() == b"two" * 100_000
    assert mode(path) == 0o600
    paths.write_atomic(str(path), b"", 0o644)
    assert mode(path) == 0o644
    assert os.listdir(tmp_path) == ["worker.json"]


def test_failed_write_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(IsADirectoryError):
        paths.write_atomic(str(tmp_path / "taken"), b"one")
    assert os.listdir(tmp_path) == ["taken"]
    with pytest.raises(FileNotFoundError):
        paths.write_atomic(str(tmp_path / "none" / "x"), b"one")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"1", b"\xff", b"[" * 100_000, b'{"a": 1} x'])
def test_json_that_cannot_be_read(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data)
    assert paths.read_json(str(tmp_path / "x")) is None


def test_json(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b'{"a": 1}')
    assert paths.read_json(str(tmp_path / "x")) == {"a": 1}
    assert paths.read_json(str(tmp_path / "none")) is None
