"""The conversations on disk, and what a kill leaves among their files."""

from pathlib import Path

from rookery.agent.storage.store import RECORD, Record, Store, new_id


def test_the_holder_of_a_conversation_removes_unfinished_writes(tmp_path: Path) -> None:
    """Ours, and the SDK's of the state and of an event; nobody else writes there."""
    store = Store(str(tmp_path))
    record = Record(new_id(), "/", prompted=True)
    store.make(record).release()
    folder = Path(store.folder(record.id))
    (folder / "events").mkdir()
    kept = {RECORD, "lock", "events", "event-00000.json"}
    (folder / "events" / "event-00000.json").write_text("{}")
    for name in (".base_state.json.3ucjfbys.tmp", f"{RECORD}.77.0badcafe.tmp", "events/.e.x.tmp"):
        (folder / name).write_text("{")
    store.hold(record.id).release()
    assert {path.name for path in folder.rglob("*")} == kept
