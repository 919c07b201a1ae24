"""What config.toml was called before is understood, and told."""

from typing import Any

import pytest

from rookery.core.settings.definitions import FORMAT, RENAMED, Renamed, migrated

TABLE = (
    Renamed("grace", "worker.cancel_grace"),
    Renamed("session.yolo", "session.confirm", {True: "all", False: "every"}),
)


@pytest.mark.parametrize(
    ("given", "found", "said"),
    [
        ({}, {}, []),
        ({"grace": 3}, {"worker": {"cancel_grace": 3}}, ["is now called worker.cancel_grace"]),
        (
            {"grace": 3, "worker": {"cancel_grace": 5}},
            {"worker": {"cancel_grace": 5}},
            ["is the old name of worker.cancel_grace, which is also set"],
        ),
        ({"session": {"yolo": True}}, {"session": {"confirm": "all"}}, ["session.confirm"]),
        ({"session": {"yolo": "maybe"}}, {"session": {"yolo": "maybe"}}, []),
        ({"session": {"yolo": []}}, {"session": {"yolo": []}}, []),
        ({"session": 1}, {"session": 1}, []),
        ({"grace": 3, "worker": 1}, {"worker": 1}, ["worker.cancel_grace"]),
    ],
)
def test_an_old_key_is_understood_and_reported(given: Any, found: Any, said: list[str]) -> None:
    before = repr(given)
    tables, told = migrated(given, TABLE)
    assert tables == found
    assert len(told) == len(said)
    assert all(part in words for part, (_, words) in zip(said, told, strict=True))
    assert repr(given) == before, "what was given stays as it is"


def test_renamed_keys_belong_to_an_earlier_version() -> None:
    assert FORMAT > 1 or not RENAMED
