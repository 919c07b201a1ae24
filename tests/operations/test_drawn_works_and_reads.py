"""A work and a read that are one file are in the menus, the palette and the prompt box of the
terminal and of the page: asked for what is missing, followed while they run, agreed to as shown."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.daemon.served import Served
from tests.operations.test_one_file import entered, served, session  # noqa: F401 - fixtures
from tests.page.conftest import browser  # noqa: F401 - a fixture
from tests.rigs.scratch import Scratch
from tests.tui.tmux import Tmux

VERBS = '''"""Greetings in a file: operations of a test."""

import os
from typing import Annotated, Literal, TypedDict

from rookery.operations.calling.carrying import preview_of
from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, Preview, read, work

Times = Annotated[int, Arg("How many greetings there are.", minimum=1, maximum=5)]
Tone = Annotated[Literal["warm", "cool"], Arg("The tone in which they are said.")]
Place = Annotated[str, Arg("Where they are said.", max_length=40)]


class Written(TypedDict):
    summary: str


class Greetings(TypedDict):
    greetings: list[str]


def known(at: At) -> list[str]:
    path = os.path.join(at.home, f"greetings-{at.session}")
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return file.read().splitlines()


def keep(at: At, lines: list[str]) -> None:
    with open(os.path.join(at.home, f"greetings-{at.session}"), "w") as file:
        file.write("".join(f"{each}\\n" for each in lines))


def shown(at: At, times: Times, tone: Tone = "warm", in_: Place = "town") -> Preview | None:
    old = known(at)
    words = f"{len(old)} greetings are replaced by {times} in {in_}."
    return preview_of(words, tone) if old else None


@work("Greet", on="session", preview=shown, person="greet", undo="forget", examples=("3f2a",))
def greet(at: At, times: Times, tone: Tone = "warm", in_: Place = "town") -> Written:
    """Write greetings about a session."""
    gate = os.path.join(at.home, "gate")
    lines = []
    for number in range(times):
        at.report(f"Greeting {number + 1} of {times}")
        lines.append(f"{tone} greeting {number + 1} in {in_}")
        if number == 0 and os.path.exists(gate):
            with open(gate) as file:  # a pipe: until the test writes to it
                file.read()
    keep(at, lines)
    return {"summary": f"Wrote {times} {tone} greetings in {in_}."}


@work("Forget the greetings", on="session", once="harmless", listed=False, examples=("3f2a",))
def forget(at: At) -> Written:
    """Take the greetings about a session back."""
    keep(at, [])
    return {"summary": "The greetings are gone."}


@read("Greetings", on="session", examples=("3f2a",))
def greetings(at: At, times: Times, tone: Tone = "warm", in_: Place = "town") -> Greetings:
    """List the greetings about a session."""
    wanted = [each for each in known(at) if each.startswith(tone) and each.endswith(in_)]
    return {"greetings": wanted[:times]}


@read("Homes of greetings", on="rookery", role="all", examples=("",))
def homes(at: At) -> Greetings:
    """List where greetings are kept."""
    return {"greetings": sorted(each for each in os.listdir(at.home) if "greetings" in each)}


@work("Count greetings", on="session", typed=False, listed=False)
def count(at: At) -> Written:
    """Say how many greetings there are."""
    return {"summary": str(len(known(at)))}
'''


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    made = Scratch(tmp_path)
    made.write("operations/aviary.py", VERBS)
    return made


class Gate:
    """Holds one work at its first greeting until it is opened."""

    def __init__(self, home: Path) -> None:
        self._pipe = home / "gate"
        os.mkfifo(self._pipe)

    def open(self) -> None:
        with self._pipe.open("w"):
            self._pipe.unlink()


def kept(scratch: Scratch, session: str) -> list[str]:  # noqa: F811
    return (scratch.home / f"greetings-{session}").read_text().splitlines()


# --- the terminal ------------------------------------------------------------------------------


@pytest.mark.long
def test_the_terminal_follows_a_work_and_asks_for_what_it_would_do(
    scratch: Scratch,
    session: str,  # noqa: F811 - the fixture
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in scratch.environment.items():
        monkeypatch.setenv(name, value)
    gate = Gate(scratch.home)
    with Tmux(scratch.home, *scratch.line("open", session), size=(110, 40)) as screen:
        screen.wait_for("Quiet")
        screen.say("/greet 2 cool a terminal")
        screen.wait_for("Greeting 1 of 2")
        screen.type("usable meanwhile")
        screen.wait_for("usable meanwhile")
        screen.press("C-u")
        screen.wait_without("usable meanwhile")
        gate.open()
        screen.wait_for("Wrote 2 cool greetings in a terminal.")
        screen.wait_without("Greeting 2 of 2")
        assert len(kept(scratch, session)) == 2
        screen.say("/greet 6")
        screen.wait_for("Times must be at most 5")
        screen.say("/greet")
        screen.wait_for("How many greetings there are.")
        screen.say("3")
        screen.wait_for("Greet: “Quiet”?", "2 greetings are replaced by 3 in town.")
        scratch.run("forget", session)
        scratch.run("greet", session, "--times", "1")
        screen.press("y")
        screen.wait_for("It is no longer as it was shown.", "1 greetings are replaced by 3")
        screen.press("y")
        screen.wait_for("Wrote 3 warm greetings in town.")
        assert len(kept(scratch, session)) == 3


@pytest.mark.long
def test_the_terminal_opens_what_is_read_and_offers_what_may_be_typed_and_listed(
    scratch: Scratch,
    session: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in scratch.environment.items():
        monkeypatch.setenv(name, value)
    scratch.run("greet", session, "--times", "5", "--in", "a list")
    words = scratch.run(
        code="from rookery.tui.writing.commands import known; print(*known(None))"
    ).split()
    assert {"greet", "forget", "greetings", "homes"} <= set(words)
    assert "count" not in words
    with Tmux(scratch.home, *scratch.line("open", session), size=(110, 44)) as screen:
        screen.wait_for("Quiet")
        screen.say("/greetings 2 warm a list")
        screen.wait_for("Greetings: “Quiet”", "- warm greeting 2 in a list")
        assert "greeting 3" not in screen.screen()
        screen.press("Escape")
        screen.wait_without("- warm greeting 2")
        screen.press("C-p")
        screen.type("where greetings")
        screen.wait_for("/homes")
        screen.press("Enter")
        screen.wait_for("Homes of greetings", f"- greetings-{session}")
        screen.press("Escape")
        screen.wait_without(f"- greetings-{session}")
        screen.press("C-b")
        screen.press_until(".", "write greetings about a session")
        shown = screen.screen()
        assert "list the greetings about a session" in shown
        for hidden in ("Forget the greetings", "Count greetings", "Homes of greetings"):
            assert hidden not in shown
        screen.press("Enter")
        screen.wait_for("Greet: “Quiet”", "How many greetings there are.")


# --- the page ----------------------------------------------------------------------------------


@pytest.fixture
def page(browser: Browser, served: Served, session: str) -> Iterator[Page]:  # noqa: F811
    """Of the session, by a browser that is logged in."""
    with entered(browser, served, session) as made:
        yield made


def say(page: Page, words: str) -> None:
    field = page.get_by_label("Prompt", exact=True)
    field.fill(words)
    field.press("Enter")


def choose(page: Page, name: str) -> None:
    page.locator("#bar .acts").get_by_role("button", name="More actions").click()
    page.locator("dialog .row", has_text=name).click()


@pytest.mark.long
def test_the_page_follows_a_work_and_asks_for_what_it_would_do(
    scratch: Scratch,
    session: str,  # noqa: F811
    page: Page,
) -> None:
    gate = Gate(scratch.home)
    toast, shown = page.locator(".toast"), page.locator("dialog .shown")
    say(page, "/greet 2 cool a browser")
    expect(toast).to_have_count(1)
    expect(toast).to_contain_text("Greeting 1 of 2")
    gate.open()
    expect(toast).to_contain_text("Wrote 2 cool greetings in a browser.")
    expect(toast).to_have_count(1)
    assert len(kept(scratch, session)) == 2
    say(page, "/greet 6")
    expect(page.locator(".toast.failed")).to_contain_text("Times must be at most 5")
    say(page, "/greet 1")
    dialog = page.get_by_role("dialog", name="Greet: “Quiet”?")
    expect(shown).to_have_text("2 greetings are replaced by 1 in town.")
    expect(dialog.get_by_label("Times")).to_have_count(0)
    dialog.get_by_label("In", exact=True).fill("a dialog")
    expect(shown).to_have_text("2 greetings are replaced by 1 in a dialog.")
    dialog.get_by_role("button", name="Greet").click()
    expect(toast.last).to_contain_text("Wrote 1 warm greetings in a dialog.")
    choose(page, "Greet…")
    form = page.get_by_role("dialog", name="Greet: “Quiet”")
    expect(form).to_contain_text("Write greetings about a session.")
    form.get_by_label("Times").fill("3")
    form.get_by_role("button", name="Greet").click()
    expect(shown).to_have_text("1 greetings are replaced by 3 in town.")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    scratch.run("forget", session)
    scratch.run("greet", session, "--times", "2")
    dialog.get_by_role("button", name="Greet").click()
    expect(shown).to_have_text(
        "It is no longer as it was shown.\n2 greetings are replaced by 3 in town."
    )
    dialog.get_by_role("button", name="Cancel").click()
    assert len(kept(scratch, session)) == 2
    choose(page, "Greet…")
    form.get_by_label("Times").fill("3")
    form.get_by_role("button", name="Greet").click()
    dialog.get_by_role("button", name="Greet").click()
    expect(toast.last).to_contain_text("Wrote 3 warm greetings in town.")
    assert len(kept(scratch, session)) == 3


@pytest.mark.long
def test_the_page_opens_what_is_read_and_offers_what_may_be_typed_and_listed(
    scratch: Scratch,
    session: str,  # noqa: F811
    served: Served,  # noqa: F811
    page: Page,
) -> None:
    scratch.run("greet", session, "--times", "5", "--in", "a list")
    say(page, "/greetings 2 warm a list")
    dialog = page.get_by_role("dialog", name="Greetings: “Quiet”")
    expect(dialog.locator("pre")).to_be_focused()
    expect(dialog.locator("pre")).to_contain_text("- warm greeting 2 in a list")
    expect(dialog).not_to_contain_text("greeting 3")
    dialog.get_by_role("button", name="Close").click()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search sessions")).to_be_focused()
    page.keyboard.type("where greetings")
    expect(page.get_by_role("option").first).to_contain_text("/homes")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Homes of greetings")
    expect(dialog).to_contain_text(f"- greetings-{session}")
    page.keyboard.press("Escape")
    page.goto(f"{served.address}/")
    row = page.locator(f"#s-{session}")
    row.hover()
    row.get_by_role("button", name="Actions").click()
    listed = page.locator("dialog .row > span")
    expect(listed.filter(has_text="Greet…")).to_be_visible()
    assert {"Greet…", "Greetings…"} <= set(listed.all_inner_texts())
    for hidden in ("Forget the greetings", "Count greetings", "Homes of greetings"):
        expect(listed.filter(has_text=hidden)).to_have_count(0)
