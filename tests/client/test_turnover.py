"""A log of words is turned over at 5 MiB, and two files are all there is."""

from pathlib import Path

from rookery.home.log_rotation import LOG_BYTES, turn_over


def test_a_log_is_rotated_one_byte_over_its_limit(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_bytes(b"a" * LOG_BYTES)
    assert not turn_over(str(log))
    assert not (tmp_path / "worker.log.1").exists()
    with log.open("ab") as file:
        file.write(b"b")
    assert turn_over(str(log))
    assert log.read_bytes() == b""
    before = (tmp_path / "worker.log.1").read_bytes()
    assert (len(before), before[-2:]) == (LOG_BYTES, b"ab")


def test_an_open_log_goes_on_in_the_same_file(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    with log.open("ab", buffering=0) as file:
        for sign in (b"1", b"2", b"3"):
            file.write(sign * (LOG_BYTES + 1))
            assert turn_over(str(log))
        file.write(b"last words")
    assert log.read_bytes() == b"last words"
    assert (tmp_path / "worker.log.1").read_bytes() == b"3" * LOG_BYTES
    assert len(list(tmp_path.iterdir())) == 2


def test_a_missing_log_is_not_rotated(tmp_path: Path) -> None:
    assert not turn_over(str(tmp_path / "worker.log"))
