"""`agents login` and `agents logout`: an agent that wants a login, in real processes; the prompt
that waited for it goes on, once."""

import json
import os
import sys
from pathlib import Path

import pytest

from rookery.client.login import status
from tests.cli.driving import Running, Terminal, play, rookery

pytestmark = pytest.mark.usefixtures("home")

AGENT = Path(__file__).parents[1] / "rigs" / "login_agent.py"


class Nest:
    """An agent called `nest`, and what it was told."""

    def __init__(self, *words: str) -> None:
        self.state = Path.cwd() / "nest"
        self.argv = [sys.executable, "-P", str(AGENT), str(self.state), *words]
        place = Path(os.environ["ROOKERY_HOME"])
        place.mkdir(parents=True, exist_ok=True)
        (place / "config.toml").write_text(f"[agents.nest]\ncommand = {json.dumps(self.argv)}\n")

    def calls(self, word: str) -> list[str]:
        path = Path(f"{self.state}.calls")
        said = path.read_text().splitlines() if path.exists() else []
        return [line for line in said if line.startswith(word)]

    def known(self) -> status.Known:
        return status.read(os.environ["ROOKERY_HOME"], "nest", self.argv)

    def refuse(self) -> str:
        """A session whose prompt waits for a login; its id."""
        done = rookery("run", "--agent", "nest", "--json", "hello")
        assert done.code == 1
        return str(done.events[0]["update"]["id"])


def follow(session: str) -> None:
    """Until the agent has answered."""
    with Running("tail", session) as tail:
        tail.read_until("Tweet: hello")
        tail.signal()


def test_a_prompt_that_waited_for_the_log_in_goes_on_once() -> None:
    nest = Nest("status")
    session = nest.refuse()
    assert nest.known().is_out
    shown = rookery("show", session).out
    assert "Log in to nest, and the prompt is sent again: rookery agents login nest" in shown
    done = rookery("agents", "login", "nest", "--method", "browser")
    assert done.code == 0, done.err
    assert f"Its prompt is sent again: rookery tail {session}" in done.err
    follow(session)
    again = rookery("agents", "login", "nest")
    assert (again.code, "nest is logged in: Nest Pro" in again.err) == (0, True)
    assert rookery("prompt", session, "--wait", "more").code == 0
    assert nest.calls("prompt") == ["prompt hello", "prompt more"]
    place = Path(os.environ["ROOKERY_HOME"])
    kept = [path for path in place.rglob("*") if path.is_file()]
    assert not [path for path in kept if b"bird@nest.example" in path.read_bytes()]


def test_a_script_is_told_which_methods_there_are() -> None:
    nest = Nest()
    several = rookery("agents", "login", "nest")
    assert several.code == 2
    assert "--method browser   In a browser" in several.err
    wrong = rookery("agents", "login", "nest", "--method", "eggs")
    assert wrong.code == 2
    assert "Its methods: browser, key, tty, env" in wrong.err
    terminal = rookery("agents", "login", "nest", "--method", "tty")
    assert terminal.code == 1
    assert f"Run there: {' '.join(nest.argv)} --login" in " ".join(terminal.err.split())
    variable = rookery("agents", "login", "nest", "--method", "env")
    assert variable.code == 1
    assert "NEST_KEY is not set." in variable.err
    assert rookery("agents", "login", "nest", "--method", "env", NEST_KEY="k").code == 0
    unknown = rookery("agents", "login", "nset")
    assert (unknown.code, "Did you mean nest?" in unknown.err) == (2, True)
    assert nest.calls("authenticate") == []


def test_a_key_is_shown_nowhere() -> None:
    nest = Nest()
    wrong = rookery("agents", "login", "nest", "--method", "key", "--key-stdin", text="wrong\n")
    assert wrong.code == 1
    assert "nest says: The key … is not valid" in wrong.err
    right = rookery("agents", "login", "nest", "--method", "key", "--key-env", "N", N="s3cret")
    assert (right.code, nest.state.read_text()) == (0, "s3cret")
    place = Path(os.environ["ROOKERY_HOME"])
    kept = [path for path in place.rglob("*") if path.is_file()]
    assert not [path for path in kept if b"s3cret" in path.read_bytes()]


def test_a_terminal_chooses_and_runs_the_agents_own_log_in() -> None:
    nest = Nest("late")
    session = nest.refuse()
    with Terminal("agents", "login", "nest") as terminal:
        terminal.read_until("Number")
        terminal.type("3\n")
        terminal.read_until("Password:")
        terminal.type("worm\n")
        done = terminal.end()
    assert done.code == 0
    assert "Welcome to the nest." in done.out
    assert nest.known().state == "authenticated"
    follow(session)
    assert nest.calls("prompt") == ["prompt hello"]


def test_ctrl_c_ends_a_log_in_and_the_agent() -> None:
    nest = Nest("deaf")
    with Terminal("agents", "login", "nest", "--method", "browser") as terminal:
        terminal.read_until("Logging in to nest")
        terminal.type("\x03")
        assert terminal.end().code == 130
    assert not nest.state.exists()


def test_a_page_to_open_is_shown() -> None:
    nest = Nest("link")
    done = rookery("agents", "login", "nest", "--method", "browser")
    assert done.code == 0
    assert "Code: 42\nhttps://nest.example/device" in done.err
    assert nest.calls("link") == ["link {'action': 'accept'}"]


def test_a_page_on_a_site_that_imitates_another_is_shown_with_a_warning() -> None:
    Nest("link", "http://bank.example@n\u0435st.example/device")
    done = rookery("agents", "login", "nest", "--method", "browser")
    assert done.code == 0
    assert "http://bank.example@xn--nst-rdd.example/device" in done.err
    assert "not the site" in done.err
    assert "may look like another" in done.err
    assert "Not encrypted" in done.err


def test_a_page_that_no_browser_opens_is_declined_in_words() -> None:
    nest = Nest("link", "javascript:alert(1)")
    done = rookery("agents", "login", "nest", "--method", "browser")
    assert done.code == 0
    words = " ".join(done.err.split())
    assert "refused: only http and https addresses are opened" in words
    assert nest.calls("link") == ["link {'action': 'decline'}"]


def test_logging_out_and_what_is_known_then() -> None:
    nest = Nest("pushes")
    assert rookery("agents", "login", "nest", "--method", "browser").code == 0
    assert nest.known()[:2] == ("authenticated", "Nest Pro")
    out = rookery("agents", "logout", "nest")
    assert (out.code, "Logged out of nest." in out.err) == (0, True)
    assert nest.known().is_out
    assert not nest.state.exists()


def test_a_log_in_that_holds_for_one_connection_is_repeated_there() -> None:
    nest = Nest("connection")
    session = nest.refuse()
    assert nest.calls("authenticate") == []
    assert rookery("agents", "login", "nest", "--method", "browser").code == 0
    follow(session)
    assert nest.calls("prompt") == ["prompt hello"]
    assert len(nest.calls("authenticate")) == 2


def test_an_agent_cannot_log_in_by_itself() -> None:
    nest = Nest()
    line = f"{sys.executable} -m rookery agents login nest --method browser 2>&1"
    done = rookery("run", "--agent", "demo", play({"command": line}, {"text": "$output"}))
    assert "An agent cannot log in to agents" in " ".join(done.out.split())
    assert nest.calls("authenticate") == []


@pytest.mark.parametrize("verb", ["login", "logout"])
def test_help_names_both(verb: str) -> None:
    assert f"rookery agents {verb}" in rookery("agents", verb, "--help").out


def test_an_agent_that_speaks_only_the_draft() -> None:
    nest = Nest("draft")
    done = rookery("agents", "login", "nest")
    assert done.code == 0, done.err
    assert nest.calls("auth/login") == ["auth/login browser"]
    assert rookery("agents", "logout", "nest").code == 0
    assert nest.calls("auth/logout") == ["auth/logout"]
