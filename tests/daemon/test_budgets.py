"""Through the daemon a budget that is reached is seen, answered and notified of; an agent raises
none."""

import shlex
import sys
from pathlib import Path
from typing import Any

from rookery.core.header import Header
from rookery.daemon.notify import events
from tests.cli.driving import play
from tests.daemon.served import Served, awaited

SPENDS = play({"usage": 900}, {"text": "spent"}, {"until": "cancel"})
PAUSED = "This turn has used 900 of 500 tokens."


def row(served: Served, session: str) -> Any:
    return served.ask("GET", f"/api/sessions/{session}").json()


def test_a_budgets_pause_is_notified_and_answered(served: Served, tmp_path: Path) -> None:
    session = served.create(cwd=str(tmp_path), budget={"turn": "500 tokens"})
    place = f"/api/sessions/{session}"
    served.ask("POST", f"{place}/prompt", {"text": SPENDS})
    awaited(lambda: row(served, session)["paused"] == "turn")
    assert row(served, session)["status"] == "needs-you"
    assert row(served, session)["doing"] == f"budget reached: {PAUSED}"
    document = served.ask("GET", f"{place}/document").json()
    header = Header(document["header"])
    (ask,) = header.asks.values()
    head = {**row(served, session), "awake": True, "news": 1}
    news = events.news_of(head, header)
    assert (news.kind, news.text) == (events.ASK, f"Budget reached. {PAUSED} Continue?")
    assert "budget reached" in served.ask("GET", f"/sessions/{session}").body.decode()
    awaited(lambda: PAUSED in served.ask("GET", "/inbox").body.decode())
    answer = {"ask": ask["id"], "nonce": ask["nonce"], "option": "raise"}
    assert served.ask("POST", f"{place}/answer", answer).status == 200
    awaited(lambda: row(served, session)["turn"] == 2 and row(served, session)["state"] == "idle")
    assert row(served, session)["paused"] == ""


def test_an_agent_cannot_raise_a_budget_through_the_daemon(served: Served, tmp_path: Path) -> None:
    session = served.create(cwd=str(tmp_path), budget={"turn": "500k tokens"})
    own = f"{shlex.quote(sys.executable)} -P -m rookery api"
    raised = """'{"do": "set", "option": "budget_turn", "value": "off"}'"""
    free = """'{"agent": "demo", "cwd": "/tmp", "budget": {"turn": "9 USD"}}'"""
    tries = [
        f"{own} POST /api/sessions/{session}/commands -d {raised}",
        f"{own} POST /api/sessions -d {free}",
    ]
    line = "; ".join(f"{each} >>came 2>&1; echo $? >>codes" for each in tries)
    served.ask("POST", f"/api/sessions/{session}/prompt", {"text": play({"command": line})})
    awaited(lambda: row(served, session)["turn"] == 1 and row(served, session)["state"] == "idle")
    assert (tmp_path / "codes").read_text().split() == ["1", "1"], (tmp_path / "came").read_text()
    header = served.ask("GET", f"/api/sessions/{session}/document").json()["header"]
    assert header["budget"] == {"turn": "500k tokens"}
