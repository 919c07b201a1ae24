"""Over HTTP, a rewind is shown first and done with the fingerprint of what was shown; the addresses
from before say what they said."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.test_rewind import session, tree  # noqa: F401 - fixtures
from tests.client.work_tree.trees import Tree
from tests.daemon.served import Served, serve


@pytest.fixture
def served(home: Path) -> Iterator[Served]:
    daemon = serve(home)
    yield daemon
    daemon.stop()


def test_a_rewind_is_shown_first_and_done_once_with_the_fingerprint(
    session: str,  # noqa: F811 - the fixture
    tree: Tree,  # noqa: F811 - the fixture
    served: Served,
) -> None:
    place = f"/api/v1/sessions/{session}/rewind"
    assert served.ask("POST", place, {}).json()["error"] == "no_turn"
    asked = served.ask("POST", place, {"turn": 0})
    assert (asked.status, asked.json()["error"]) == (409, "preview")
    assert "  - b.txt" in asked.json()["shown"]
    assert "mine.txt, left alone" not in asked.json()["shown"]
    every = served.ask("POST", place, {"turn": 0, "all": True}).json()
    assert every["fingerprint"] != asked.json()["fingerprint"]

    tree.put({"b.txt": "by hand meanwhile\n"})
    late = served.ask("POST", place, {"turn": 0, "fingerprint": asked.json()["fingerprint"]})
    assert (late.status, late.json()["error"]) == (409, "changed")
    assert tree.read("a.txt") == b"two\n"

    yes = {"turn": 0, "fingerprint": late.json()["fingerprint"]}
    done = served.ask("POST", place, yes, Idempotency_Key="once")
    assert done.status == 200, done.body
    assert done.json()["update"]["state"] == "done"
    assert (tree.read("a.txt"), tree.read("mine.txt")) == (b"one\n", b"precious\n")
    again = served.ask("POST", place, yes, Idempotency_Key="once")
    assert again.json() == done.json()


def test_the_addresses_from_before_say_the_same(
    session: str,  # noqa: F811 - the fixture
    served: Served,
) -> None:
    before, now = f"/api/sessions/{session}/rewind", f"/api/v1/sessions/{session}/rewind"
    turns = served.ask("GET", f"{now}s").json()
    assert [turn["turn"] for turn in turns["turns"]] == [0, 1]
    assert served.ask("GET", before).json() == turns
    assert served.ask("GET", now).json() == turns
    preview = served.ask("GET", f"{now}-preview?turn=0").json()
    assert preview["totals"] == {"own": 2, "hand": 1}
    assert served.ask("GET", f"{before}/0").json() == preview
    without = served.ask("GET", f"{before}/0?files=false&more=1").json()
    assert without["changes"] == []
    undo = served.ask("GET", f"{before}/undo")
    assert (undo.status, undo.json()["error"]) == (409, "nothing_to_undo")
    assert served.ask("GET", f"{before}/some").status == 422
