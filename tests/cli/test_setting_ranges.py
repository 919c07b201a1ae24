"""Every number of `[worker]` is a setting with its default, clamped where the file is read."""

from pathlib import Path

import pytest

from rookery.core.limits import NUMBERS
from rookery.core.settings import definitions as settings
from rookery.home.config import load
from tests.cli.driving import rookery

HOUR = 3600.0
NUMBERED: list[tuple[str, object, object, object]] = [
    # key, default, and what the least and the greatest number become
    ("stop_grace", 2.0, 0.0, 60.0),
    ("abandoned_after", 48 * HOUR, HOUR, 720 * HOUR),
    ("idle_stop_secs", 1800.0, 0.0, 720 * HOUR),
    ("read_stop_secs", 600.0, 0.0, 720 * HOUR),
    ("max_workers", 20, 1, 1000),
    ("max_cold_starts", 4, 1, 20),
    ("start_timeout", 30.0, 1.0, 600.0),
    ("cold_start_timeout", 120.0, 1.0, HOUR),
    ("crash_within", 10.0, 0.1, 600.0),
    ("crash_most", 3, 1, 100),
    ("crash_window", 60.0, 1.0, 24 * HOUR),
    ("worker_crash_most", 5, 1, 1000),
    ("line_bytes", 64 * 1024 * 1024, 1024**2, 1024**3),
    ("queue_drain", "combined", None, None),
    ("queue_most", 100, 0, 1000),
    ("queue_bytes", 256 * 1024, 1024, 768 * 1024),
    ("cancel_grace", 10.0, 0.1, 600.0),
    ("budget_grace", 60.0, 0.0, 24 * HOUR),
    ("force_end_after", 30.0, 0.0, 24 * HOUR),
    ("silent_after", 120.0, 0.0, 24 * HOUR),
    ("silent_after_cost", 20.0, 1.0, 24 * HOUR),
    ("off_protocol_grace", 1800.0, 60.0, 24 * HOUR),
    ("rate_limit_auto_resume", False, None, None),
    ("rate_limit_grace", 15.0, 0.0, HOUR),
    ("rate_limit_least", 30.0, 1.0, 24 * HOUR),
    ("rate_limit_most", 5, 1, 100),
    ("ask_timeout", 0.0, 0.0, 24 * HOUR),
    ("confirm_destructive", True, None, None),
    ("terminal_keep", 4 * 1024 * 1024, 64 * 1024, 1024**3),
    ("switch_grace", 5.0, 0.0, 60.0),
    ("delete_grace", 2.0, 0.0, 60.0),
    ("keep_events", 0, 0, 10**9),
    ("snapshots", True, None, None),
    ("snapshot_file_bytes", 10 * 1024 * 1024, 1024, 1024**3),
    ("chunk_window", 0.03, 0.0, 1.0),
]
OTHERS: list[tuple[str, object]] = [
    ("session.approve_all", False),
    ("session.confirm", "every"),
    ("session.budget_turn", "off"),
    ("session.budget_session", "off"),
    ("session.budget_day", "off"),
    ("show_tool_durations", True),
    ("node_path", None),
    ("default_agent", None),
]


@pytest.mark.parametrize(("key", "default", "least", "most"), NUMBERED)
def test_a_number_has_its_default_and_its_range(
    tmp_path: Path, key: str, default: object, least: object, most: object
) -> None:
    assert getattr(load(str(tmp_path)).policy, key) == default
    setting = settings.find(f"worker.{key}")
    assert setting is not None
    assert (setting.default, type(setting.default)) == (default, type(default))
    for written, becomes in (("0", least), ("1000000000000", most)):
        if becomes is not None:
            (tmp_path / "config.toml").write_text(f"[worker]\n{key} = {written}\n")
            assert getattr(load(str(tmp_path)).policy, key) == becomes, written


def test_the_table_has_every_number() -> None:
    assert {key for key, *_ in NUMBERED} == {each.name for each in NUMBERS}


def test_a_value_between_off_and_the_minimum_is_raised(tmp_path: Path) -> None:
    for written, becomes in ((1, 120.0), (119, 120.0), (120, 120.0), (121, 121.0)):
        (tmp_path / "config.toml").write_text(f"[worker]\nsilent_after = {written}\n")
        assert load(str(tmp_path)).policy.silent_after == becomes


@pytest.mark.parametrize(("key", "default"), OTHERS)
def test_another_setting_has_its_default(key: str, default: object) -> None:
    setting = settings.find(key)
    assert setting is not None
    assert setting.default == default


def test_config_show_lists_each(home: Path) -> None:
    told = rookery("config", "show").out
    assert [key for key, *_ in NUMBERED if f"worker.{key} " not in told] == []
    assert [key for key, _ in OTHERS if f"{key} " not in told] == []
