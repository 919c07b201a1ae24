"""The page in WebKit: it opens, a turn streams, and an ask is answered."""

from pathlib import Path

import pytest

from tests.daemon.served import Served
from tests.page.conftest import Place
from tests.page.webkit import webkit


def shows(words: str) -> str:
    return f"document.querySelector('#transcript')?.textContent.includes({words!r})"


@pytest.mark.long
def test_a_turn_streams_and_its_ask_is_answered(served: Served, tmp_path: Path) -> None:
    place = Place(served, tmp_path)
    turns = [
        [{"text": "A first word. " * 50, "chunks": 20}, {"ask": "Go on?"}, {"text": "It went on."}]
    ]
    name = place.session({"turns": turns}, title="In WebKit")
    with webkit(tmp_path / "webkit") as window:
        window.go(place.link())
        window.click("form button")
        window.until("location.pathname === '/' && document.querySelector('#list')")
        window.go(f"{served.address}/sessions/{name}")
        window.type("#prompt", "Go on, please.\ue007")
        window.until(shows("A first word."))
        window.click("#transcript .ask .answers button")
        window.until(shows("It went on."))
        window.until("!/running/.test(document.querySelector('#bar .now').textContent)")
