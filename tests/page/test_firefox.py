"""The transcript in Firefox: it follows, and only the reader ends that."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.served import Served
from tests.page.conftest import Place
from tests.page.firefox import Firefox, firefox
from tests.page.test_live import LEFT, LONG, TURNS

pytestmark = pytest.mark.long


@pytest.fixture
def place(served: Served, tmp_path: Path) -> Place:
    return Place(served, tmp_path)


@pytest.fixture
def window(place: Place) -> Iterator[Firefox]:
    """Logged in."""
    with firefox(place.directory / "firefox") as found:
        found.resize(1280, 800)
        found.go(place.link())
        found.until("document.querySelector('form button')")
        found.value("document.querySelector('form button').click()")
        found.until("location.pathname === '/' && document.querySelector('#list')")
        yield found
        assert found.faults == []


def ends_with(words: str) -> str:
    """The last words of the transcript are whole and in sight."""
    return (
        "(() => { const all = [...document.querySelectorAll('#transcript p')].filter("
        f"(each) => each.textContent === {words!r}); const last = all.at(-1);"
        " return last && last.getBoundingClientRect().bottom <= innerHeight"
        " && !/running/.test(document.querySelector('#bar .now').textContent); })()"
    )


def sends(window: Firefox, text: str) -> None:
    """With the keyboard. Enter is for the page's script, which fills in the hint beside the
    buttons when it is there; what is written before stays."""
    window.until("document.querySelector('#prompt')")
    window.value("document.querySelector('#prompt').focus()")
    window.press(*text)
    window.until(f"document.querySelector('#prompt').value === {text!r}")
    window.until("document.querySelector('#prompt').style.height")
    window.press("Enter")
    window.until("!document.querySelector('#prompt').value")


def test_it_follows_through_twenty_prompts_with_answers_longer_than_the_screen(
    place: Place, window: Firefox
) -> None:
    name = place.session({"turns": TURNS}, title="Follows")
    window.go(f"{place.served.address}/sessions/{name}")
    for number in range(len(TURNS)):
        sends(window, "Go on, please.")
        window.until(ends_with(f"End {number}."))
        window.until(f"{LEFT} === 0")


def test_the_reader_alone_ends_the_following_and_sending_goes_back_to_the_end(
    place: Place, window: Firefox
) -> None:
    turns = [[{"text": f"{LONG}\n\n{which} end.", "chunks": 25}] for which in ("1st", "2nd", "3rd")]
    name = place.session({"turns": turns}, title="Reads")
    window.go(f"{place.served.address}/sessions/{name}")
    sends(window, "go")
    window.until(ends_with("1st end."))
    window.value("document.querySelector('#scroll').scrollTop -= 300")  # as a clamp does
    sends(window, "go")
    window.until(ends_with("2nd end."))
    window.until(f"{LEFT} === 0")

    window.wheel("#scroll", -900)
    window.until(f"{LEFT} > 300")
    at = window.value("document.querySelector('#scroll').scrollTop")
    place.say(name, "go")
    window.until("document.querySelector('#transcript').textContent.includes('3rd end.')")
    window.until("!document.querySelector('#below').hidden")
    assert window.value("document.querySelector('#scroll').scrollTop") == at
    window.value("document.querySelector('#below').click()")
    window.until(ends_with("3rd end."))
    window.until(f"{LEFT} === 0")
