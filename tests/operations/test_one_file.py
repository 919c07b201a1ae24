"""An operation is one file: written in a scratch copy of the sources, it is on every face, with its
arguments, its guard and its undo; without its row, it is on none, and nothing else breaks."""

import json
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.daemon.served import Served
from tests.page.conftest import LAPTOP, browser  # noqa: F401 - a fixture
from tests.rigs.scratch import Scratch
from tests.tui.tmux import Tmux
from tools import api_page

ROOT = Path(__file__).resolve().parents[2]

GREET = '''"""Greetings: an operation of a test."""

from typing import Annotated, Literal

from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import SessionChange, change

Times = Annotated[int, Arg("How many greetings there are.", minimum=1, maximum=5)]
Tone = Annotated[Literal["warm", "cool"], Arg("The tone in which they are said.")]
Place = Annotated[str, Arg("Where they are said.", max_length=40)]


@change("Greet", guarded=True, undo="forget", done="Greeted {}.", examples=("3f2a --times 2",))
def greet(times: Times, tone: Tone = "warm", in_: Place = "town") -> SessionChange:
    """Write greetings into a session's title."""
    return SessionChange(title=f"{tone} greetings x{times} in {in_}")


@change("Forget the greetings", done="Forgot them in {}.")
def forget() -> SessionChange:
    """Take greetings out of a session's title."""
    return SessionChange(title="No greetings")
'''
SENTENCE = "Write greetings into a session's title."


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    made = Scratch(tmp_path)
    made.write("operations/aviary.py", GREET)
    return made


@pytest.fixture
def session(scratch: Scratch) -> Iterator[str]:
    made = scratch.run("new", "--agent", "demo", "--title", "Quiet").strip()
    yield made
    scratch.run("stop", made)


def title(scratch: Scratch, session: str) -> str:
    rows = map(json.loads, scratch.run("ps", "--all", "--json").splitlines())
    return next(str(row["title"]) for row in rows if row["id"] == session)


def test_an_operation_is_on_the_command_line_with_all_that_its_row_says(
    scratch: Scratch, session: str
) -> None:
    assert SENTENCE in scratch.run("help", "all")
    assert SENTENCE in scratch.run("help", "sessions")
    said = scratch.run("greet", "--help")
    for words in (SENTENCE, "How many greetings there are.", "1<=x<=5", "[warm|cool]", "--in "):
        assert words in said
    assert "rookery greet 3f2a --times 2" in said
    scratch.run("greet", session, "--times", "2")
    assert title(scratch, session) == "warm greetings x2 in town"
    line = ("greet", session, "--times", "3", "--tone", "cool", "--in", "the old mill", "--json")
    assert json.loads(scratch.run(*line))["update"]["title"] == title(scratch, session)
    assert title(scratch, session) == "cool greetings x3 in the old mill"
    assert "6 is not in the range" in scratch.run("greet", session, "--times", "6", status=2)
    assert "'--times'" in scratch.run("greet", session, status=2)
    scratch.run("forget", session)
    assert title(scratch, session) == "No greetings"


def completed(scratch: Scratch, line: str) -> list[str]:
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    code = "from rookery.cli import main; main()"
    return scratch.run(code=code, _ROOKERY_COMPLETE="bash_complete", **words).split()


def test_a_shell_completes_its_name_and_its_values(scratch: Scratch, session: str) -> None:
    assert completed(scratch, "rookery gree") == ["plain,greet"]
    assert completed(scratch, f"rookery greet {session[:4]}") == [f"plain,{session}"]
    assert completed(scratch, f"rookery greet {session} --tone w") == ["plain,warm"]
    assert "plain,--times" in completed(scratch, f"rookery greet {session} --t")


def test_the_page_of_the_api_names_it(scratch: Scratch) -> None:
    page = scratch.root / "api.md"
    page.write_text(api_page.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    code = f"import sys; sys.path.append({str(ROOT)!r}); sys.argv = ['', {str(page)!r}]; "
    scratch.run(code=f"{code}from tools import api_page; api_page.main()")
    assert f"| `greet` | `times`, `tone` (optional), `in` (optional) | {SENTENCE} |" in (
        page.read_text(encoding="utf-8")
    )


# --- the daemon --------------------------------------------------------------------------------


@pytest.fixture
def served(scratch: Scratch) -> Iterator[Served]:
    scratch.run("serve", "--port", "0", "--background")
    record = json.loads((scratch.home / "run" / "daemon.json").read_text())
    made = Served(scratch.home, record)
    yield made
    scratch.run("serve", "--stop")


def link(served: Served, role: str = "all") -> str:
    return str(served.own("POST", "/api/devices/link", {"role": role}).json()["link"])


def test_an_operation_has_an_address_with_a_schema_and_is_refused_to_a_device_that_looks(
    scratch: Scratch, session: str, served: Served
) -> None:
    document = served.ask("GET", "/api/openapi.json").json()
    said = document["paths"]["/api/v1/sessions/{session}/greet"]["post"]
    schema = said["requestBody"]["content"]["application/json"]["schema"]
    assert said["description"] == SENTENCE
    assert schema["properties"]["times"] == {
        "type": "integer",
        "title": "Times",
        "description": "How many greetings there are.",
        "minimum": 1,
        "maximum": 5,
    }
    assert schema["properties"]["tone"]["enum"] == ["warm", "cool"]
    assert list(schema["properties"]) == ["times", "tone", "in"]
    place = f"/api/v1/sessions/{session}/greet"
    for wrong in ({"times": 6}, {}, {"times": 1, "tone": "hot"}, {"times": 1, "loud": True}):
        answer = served.ask("POST", place, wrong)
        assert answer.status == 422
        assert set(answer.json()) >= {"error", "message", "remedy"}
    done = served.ask("POST", place, {"times": 4, "in": "Rome"})
    assert done.status == 200, done.body
    assert done.json()["update"]["title"] == title(scratch, session)
    looks = Served(scratch.home, served.record)
    looks._token = looks.log_in(code=link(served, "look").partition("code=")[2]).json()["token"]
    assert looks.ask("POST", place, {"times": 2}).status == 403
    assert title(scratch, session) == "warm greetings x4 in Rome"


def test_it_is_the_same_on_another_machine(
    scratch: Scratch, session: str, served: Served, tmp_path: Path
) -> None:
    other = {"ROOKERY_HOME": str(tmp_path / "other"), "ROOKERY_URL": served.address}
    scratch.run("login", served.address, text=link(served), **other)
    scratch.run("greet", session, "--times", "1", "--in", "far away", **other)
    assert title(scratch, session) == "warm greetings x1 in far away"
    assert "not in the range" in scratch.run("greet", session, "--times", "9", status=2, **other)


@pytest.mark.long
def test_it_is_in_the_menus_the_palette_and_the_prompt_box_of_the_page(
    scratch: Scratch,
    session: str,
    served: Served,
    browser: Browser,  # noqa: F811 - the fixture
) -> None:
    with entered(browser, served, session) as page:
        page.locator("#bar .acts").get_by_role("button", name="More actions").click()
        page.locator("dialog .row", has_text="Greet…").click()
        fill(page, "a browser")
        heading = page.locator("#bar h1")
        expect(heading).to_contain_text("cool greetings x2 in a browser")
        page.locator(".toast").get_by_role("button", name="Undo").click()
        expect(heading).to_contain_text("No greetings")
        page.get_by_label("Prompt", exact=True).click()
        page.keyboard.type("/greet 3 cool the prompt box")
        page.keyboard.press("Enter")
        expect(heading).to_contain_text("cool greetings x3 in the prompt box")
        page.keyboard.press("Control+k")
        expect(page.get_by_role("combobox", name="Search sessions")).to_be_focused()
        page.keyboard.type("write greetings")
        expect(page.get_by_role("option").first).to_contain_text("/greet")
        page.keyboard.press("Enter")
        fill(page, "the palette")
        expect(heading).to_contain_text("cool greetings x2 in the palette")
        page.goto(f"{served.address}/")
        row = page.locator(f"#s-{session}")
        row.hover()
        row.get_by_role("button", name="Actions").click()
        page.locator("dialog .row", has_text="Greet…").click()
        fill(page, "the list")
        expect(row).to_contain_text("cool greetings x2 in the list")


@contextmanager
def entered(browser: Browser, served: Served, session: str) -> Iterator[Page]:  # noqa: F811
    """A page of the session, by a browser that is logged in."""
    with closing(browser.new_context(viewport=LAPTOP)) as context:
        page = context.new_page()
        page.goto(link(served))
        with page.expect_navigation():
            page.get_by_role("button", name="Log in on this device").click()
        page.goto(f"{served.address}/sessions/{session}")
        yield page


def fill(page: Page, place: str) -> None:
    form = page.locator("dialog.sure form")
    form.get_by_label("Times").fill("2")
    form.get_by_label("Tone").select_option("cool")
    form.get_by_label("In", exact=True).fill(place)
    form.get_by_role("button", name="Greet", exact=True).click()


# --- the terminal ------------------------------------------------------------------------------


@pytest.mark.long
def test_it_is_in_the_menus_the_palette_and_the_prompt_box_of_the_terminal(
    scratch: Scratch, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in scratch.environment.items():
        monkeypatch.setenv(name, value)
    with Tmux(scratch.home, *scratch.line("open", session), size=(110, 40)) as screen:
        screen.wait_for("Quiet")
        screen.say("/greet 2 cool a terminal")
        screen.wait_for("cool greetings x2")
        screen.say("/greet 9")
        screen.wait_for("Times must be at most 5")
        screen.say("/greet")
        screen.wait_for("How many greetings there are.")
        screen.say("4")
        screen.wait_for("warm greetings x4")
        screen.press("C-p")
        screen.type("greetings into")
        screen.wait_for("/greet")
        screen.press("Enter")
        screen.wait_without("Commands and sessions")
        screen.press("Enter")
        screen.wait_for("How many greetings there are.")
        screen.say("5")
        screen.wait_for("warm greetings x5")
        screen.press("C-b")
        screen.press_until(".", "Forget the greetings")
        screen.wait_for(SENTENCE[1:20])  # in a list it begins small
        screen.press("Enter")
        screen.wait_for("How many greetings there are.")
        screen.say("1")
        screen.wait_for("warm greetings x1")


# --- an agent ----------------------------------------------------------------------------------


def test_what_is_guarded_is_refused_to_an_agent(scratch: Scratch, session: str) -> None:
    line = shlex.join(scratch.line("greet", session, "--times", "2"))
    script = scratch.root / "script.json"
    script.write_text(json.dumps({"turns": [[{"command": f"{line} 2>&1"}]]}))
    agent = shlex.join(scratch.line("play", str(script)))
    said = subprocess.run(
        scratch.line("run", "--cmd", agent, "--approve", "all", "--verbose", "greet"),
        env=scratch.environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=scratch.root,
    )
    assert "An agent cannot greet" in " ".join((said.stdout + said.stderr).split())
    assert title(scratch, session) == "Quiet"


# --- without its row ---------------------------------------------------------------------------


@pytest.fixture
def without_snooze(scratch: Scratch) -> None:
    path = scratch.root / "src" / "rookery" / "operations" / "sessions.py"
    text = path.read_text()
    start = text.index('@change(\n    "Snooze"')
    path.write_text(text[:start] + text[text.index('@change(\n    "Unsnooze"') :])


@pytest.mark.usefixtures("without_snooze")
def test_an_operation_whose_row_is_deleted_is_gone_and_nothing_else_breaks(
    scratch: Scratch, session: str
) -> None:
    assert "snooze " not in scratch.run("help", "all").replace("unsnooze ", "")
    refused = scratch.run("snooze", session, "--for", "2h", status=2)
    assert "No such command 'snooze'" in refused
    listed = "from rookery.tui.writing.commands import known; print(*known(None))"
    words = scratch.run(code=listed).split()
    assert "snooze" not in words
    assert "archive" in words
    scratch.run("pin", session)
    scratch.run("archive", session)
    rows = map(json.loads, scratch.run("ps", "--all", "--json").splitlines())
    assert next(row["archived"] for row in rows if row["id"] == session)


@pytest.mark.long
@pytest.mark.usefixtures("without_snooze")
def test_it_is_gone_from_the_page_and_the_api(
    session: str,
    served: Served,
    browser: Browser,  # noqa: F811
) -> None:
    document = served.ask("GET", "/api/openapi.json").json()
    assert not [place for place in document["paths"] if place.endswith("/snooze")]
    gone = served.ask("POST", f"/api/v1/sessions/{session}/snooze", {"until": 1})
    assert (gone.status, gone.json()["error"]) == (404, "unknown_operation")
    with entered(browser, served, session) as page:
        field, offers = page.get_by_label("Prompt", exact=True), page.locator("ul.offers li")
        field.press("/")
        expect(offers.filter(has_text="/archive")).to_be_visible()
        expect(offers.filter(has_text="/snooze")).to_have_count(0)
        field.fill("")
        page.locator("#bar .acts").get_by_role("button", name="More actions").click()
        labels = page.locator("dialog .row > span")
        expect(labels.filter(has_text="Archive")).to_be_visible()
        assert not [each for each in labels.all_inner_texts() if "nooze" in each]
        labels.get_by_text("Pin", exact=True).click()
        expect(page.locator(".toast")).to_contain_text("Pinned")
        page.keyboard.press("Control+k")
        expect(page.get_by_role("combobox", name="Search sessions")).to_be_focused()
        page.keyboard.type("a session from lists")
        options = page.get_by_role("option")
        expect(options.filter(has_text="/archive")).to_be_visible()
        expect(options.filter(has_text="/snooze")).to_have_count(0)


@pytest.mark.long
@pytest.mark.usefixtures("without_snooze")
def test_it_is_gone_from_the_terminal(
    scratch: Scratch, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in scratch.environment.items():
        monkeypatch.setenv(name, value)
    with Tmux(scratch.home, *scratch.line("open", session), size=(110, 44)) as screen:
        screen.wait_for("Quiet")
        screen.press("C-b")
        screen.press_until(".", "hide a session from lists")
        assert "nooze" not in screen.screen()
        screen.press("Escape")
        screen.wait_without("hide a session from lists")
        screen.press("C-p")
        screen.type("hide a session from lists")
        screen.wait_for("/archive")
        assert "/snooze" not in screen.screen()
