"""What the window before a rewind offers."""

from rookery.core.turn.rewind_preview import Preview
from rookery.tui.windows.rewind import command, is_moot, ways


def test_a_rewind_offers_only_what_would_change() -> None:
    still = Preview(2, False, 2, target="x")
    assert is_moot(still)
    later = still._replace(hides=1)
    assert not is_moot(later)
    assert [row.name for row in ways(later)] == ["both"]
    changed = still._replace(totals={"own": 1, "hand": 1})
    assert [row.name for row in ways(changed)] == ["files", "all"]
    assert command(changed, "all")["conversation"] is False
    assert command(later, "both")["conversation"] is True
