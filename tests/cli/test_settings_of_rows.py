"""Every number of the rows is a setting with its default, clamped where the file is read."""

from pathlib import Path

import pytest

from rookery.core.limits import NUMBERS
from rookery.core.settings import definitions as settings
from rookery.home.config import load
from tests.cli.driving import rookery

HOUR = 3600.0
ROWS: list[tuple[str, str, object, object, object]] = [
    # row, key, default, and what the least and the greatest number become
    ("W4", "stop_grace", 2.0, 0.0, 60.0),
    ("W5", "abandoned_after", 48 * HOUR, HOUR, 720 * HOUR),
    ("W6", "idle_stop_secs", 1800.0, 0.0, 720 * HOUR),
    ("W6", "read_stop_secs", 600.0, 0.0, 720 * HOUR),
    ("W9", "max_workers", 20, 1, 1000),
    ("W9", "max_cold_starts", 4, 1, 20),
    ("A2", "start_timeout", 30.0, 1.0, 600.0),
    ("A2", "cold_start_timeout", 120.0, 1.0, HOUR),
    ("A6", "crash_within", 10.0, 0.1, 600.0),
    ("A6", "crash_most", 3, 1, 100),
    ("A6", "crash_window", 60.0, 1.0, 24 * HOUR),
    ("D5", "worker_crash_most", 5, 1, 1000),
    ("A7", "line_bytes", 64 * 1024 * 1024, 1024**2, 1024**3),
    ("T3", "queue_drain", "combined", None, None),
    ("T3", "queue_most", 100, 0, 1000),
    ("T3", "queue_bytes", 256 * 1024, 1024, 768 * 1024),
    ("T5", "cancel_grace", 10.0, 0.1, 600.0),
    ("T12", "budget_grace", 60.0, 0.0, 24 * HOUR),
    ("T6", "force_end_after", 30.0, 0.0, 24 * HOUR),
    ("T7", "silent_after", 120.0, 0.0, 24 * HOUR),
    ("T7", "silent_after_cost", 20.0, 1.0, 24 * HOUR),
    ("T8", "off_protocol_grace", 1800.0, 60.0, 24 * HOUR),
    ("T11", "rate_limit_auto_resume", False, None, None),
    ("T11", "rate_limit_grace", 15.0, 0.0, HOUR),
    ("T11", "rate_limit_least", 30.0, 1.0, 24 * HOUR),
    ("T11", "rate_limit_most", 5, 1, 100),
    ("P3", "ask_timeout", 0.0, 0.0, 24 * HOUR),
    ("P4", "confirm_destructive", True, None, None),
    ("F2", "terminal_keep", 4 * 1024 * 1024, 64 * 1024, 1024**3),
    ("S1", "switch_grace", 5.0, 0.0, 60.0),
    ("S3", "delete_grace", 2.0, 0.0, 60.0),
    ("", "keep_events", 0, 0, 10**9),
    ("S5", "snapshots", True, None, None),
    ("S5", "snapshot_file_bytes", 10 * 1024 * 1024, 1024, 1024**3),
    ("", "chunk_window", 0.03, 0.0, 1.0),
]
OTHERS: list[tuple[str, str, object]] = [
    ("P6", "session.approve_all", False),
    ("P6", "session.confirm", "every"),
    ("T12", "session.budget_turn", "off"),
    ("T12", "session.budget_session", "off"),
    ("T12", "session.budget_day", "off"),
    ("", "show_tool_durations", True),
    ("", "node_path", None),
    ("", "default_agent", None),
]


@pytest.mark.parametrize(("row", "key", "default", "least", "most"), ROWS)
def test_a_number_has_its_default_and_its_range(
    tmp_path: Path, row: str, key: str, default: object, least: object, most: object
) -> None:
    assert getattr(load(str(tmp_path)).policy, key) == default, row
    setting = settings.find(f"worker.{key}")
    assert setting is not None
    assert (setting.default, type(setting.default)) == (default, type(default))
    for written, becomes in (("0", least), ("1000000000000", most)):
        if becomes is not None:
            (tmp_path / "config.toml").write_text(f"[worker]\n{key} = {written}\n")
            assert getattr(load(str(tmp_path)).policy, key) == becomes, (row, written)


def test_the_table_has_every_number() -> None:
    assert {key for _, key, *_ in ROWS} == {each.name for each in NUMBERS}


def test_a_value_between_off_and_the_minimum_is_raised(tmp_path: Path) -> None:
    for written, becomes in ((1, 120.0), (119, 120.0), (120, 120.0), (121, 121.0)):
        (tmp_path / "config.toml").write_text(f"[worker]\nsilent_after = {written}\n")
        assert load(str(tmp_path)).policy.silent_after == becomes


@pytest.mark.parametrize(("row", "key", "default"), OTHERS)
def test_other_settings(row: str, key: str, default: object) -> None:
    setting = settings.find(key)
    assert setting is not None, row
    assert setting.default == default


def test_config_show_tells_each(home: Path) -> None:
    told = rookery("config", "show").out
    assert [key for _, key, *_ in ROWS if f"worker.{key} " not in told] == []
    assert [key for _, key, _ in OTHERS if f"{key} " not in told] == []
