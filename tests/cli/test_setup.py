"""`setup`: a model by flags or by questions, tested by one call, saved for this user alone."""

import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from rookery.agent.scripted.server import ScriptedModel, serving
from rookery.client import warm_agent
from rookery.core.settings.web import Web
from rookery.home import config
from rookery.models import profiles
from tests.agent.test_web import HERE
from tests.agent.test_web import serving as serving_site
from tests.cli.driving import Result, Running, Terminal, rookery
from tests.daemon.served import awaited

KEY = "sk-right-key-1234"
SCRIPT = {"key": KEY, "models": ["good", "better"]}


@pytest.fixture(autouse=True)
def bare(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key and no model of the person who runs the tests; nothing is loaded ahead."""
    (home / "config.toml").write_text("[agent]\nwarm = false\n")
    for name in list(os.environ):
        if name.startswith("LLM_") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)


def setup(*arguments: str, text: str = "") -> Result:
    done = rookery("setup", *arguments, text=text)
    assert KEY not in done.out + done.err
    assert "Traceback" not in done.err
    return done


def good(it: ScriptedModel, *more: str, name: str = "good") -> tuple[str, ...]:
    return ("--model", f"openai/{name}", "--base-url", it.url, *more)


def saved(home: Path) -> dict[str, Any]:
    return json.loads((home / profiles.FILE).read_text())["profiles"]


# ---------------------------------------------------------------- by flags


def test_a_model_that_answers_is_saved_for_this_user_alone(home: Path) -> None:
    with serving(SCRIPT) as it:
        done = setup(*good(it, "--key-stdin"), text=KEY + "\n")
        assert done.code == 0, done.err
        assert len(it.asked) == 1
    assert "Saved good (openai/good)" in done.out
    assert "answered" in done.err
    assert saved(home) == {
        "good": {"model": "openai/good", "api_key": KEY, "base_url": it.url, "timeout": None}
    }
    assert (home / profiles.FILE).stat().st_mode & 0o777 == 0o600


def test_the_agent_loads_ahead_of_the_first_session(home: Path) -> None:
    (home / "config.toml").unlink()
    warm = warm_agent.socket_path(str(home))
    with serving({}) as it:
        assert setup("--no-test", *good(it, "--key", KEY)).code == 0
        assert warm_agent.is_held(warm)
        warm_agent.end(str(home))
        awaited(lambda: not warm_agent.is_held(warm))
        other = setup("--no-test", *good(it, "--key", KEY, name="better"))
    assert "New sessions use good" in other.err
    assert not warm_agent.is_held(warm)


def test_the_key_from_the_environment_and_from_a_flag(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    with serving(SCRIPT) as it:
        assert setup(*good(it, "--key-env", "MY_KEY", "--name", "one")).code == 0
        assert setup(*good(it, "--key", KEY, "--name", "two")).code == 0
    assert {name: each["api_key"] for name, each in saved(home).items()} == {"one": KEY, "two": KEY}


@pytest.mark.parametrize(
    ("key", "model", "words"),
    [
        ("sk-wrong-key-99", "good", ["does not accept the key", "401"]),
        (KEY, "bad", ["does not know the model 'bad'"]),
    ],
)
def test_one_that_does_not_answer_is_not_saved(
    home: Path, key: str, model: str, words: list[str]
) -> None:
    with serving(SCRIPT) as it:
        done = setup(*good(it, "--key-stdin", name=model), text=key)
        assert done.code == 1
        assert all(word in done.err for word in words), done.err
        assert "sk-wrong" not in done.out + done.err
        assert not (home / profiles.FILE).exists()
        assert setup(*good(it, "--key-stdin", "--no-test", name=model), text=key).code == 0
    assert list(saved(home)) == [model]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("forbidden", "does not accept"),
        ("quota", "for billing reasons"),
        ("rate_limit", "limiting your requests"),
        ("overloaded", "503"),
    ],
)
def test_what_is_wrong_is_said(home: Path, error: str, words: str) -> None:
    with serving({"aside": {"error": error}}) as it:
        done = setup(*good(it))
        assert (done.code, words in done.err) == (1, True), done.err


def test_nobody_listens(home: Path) -> None:
    with serving([]) as it:
        url = it.url
    done = setup("--model", "openai/x", "--base-url", url)
    assert done.code == 1
    assert "cannot be reached: nothing is listening there" in done.err
    assert "--no-test" in done.err


def test_an_address_without_the_api(home: Path) -> None:
    with serving([]) as it:
        done = setup("--model", "openai/x", "--base-url", f"{it.url}/else")
    assert done.code == 1
    assert "no such API" in done.err


@pytest.mark.long
def test_anothers_provider_is_asked_by_the_agents_own_library(home: Path) -> None:
    """litellm, in a process of its own."""
    with serving([]) as it:
        done = setup("--model", "nonsense/x", "--key", "k-made-up-1", "--base-url", it.url)
        assert done.code == 0  # an unknown prefix with an address: OpenAI's API is meant
        assert saved(home)["x"]["model"] == "openai/nonsense/x"
    done = setup("--model", "nonsense/x", "--key", "k-made-up-1")
    assert (done.code, "Unknown provider 'nonsense'" in done.err) == (1, True), done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "run it in a terminal"),
        (("--provider", "nix", "--model", "x"), "anthropic, openai"),
        (("--provider", "anthropic"), "--model"),
        (("--model", "llama"), "the provider of 'llama' is not known"),
        (("--model", "anthropic/x"), "needs a key"),
        (("--model", "openai/x", "--base-url", "ftp://x"), "not an address"),
        (("--model", "openai/x", "--base-url", "http://[::1"), "not an address"),
        (("--model", "openai/x", "--key", "a", "--key-stdin"), "cannot be combined"),
        (("--model", "openai/x", "--key-env", "NOT_SET"), "NOT_SET is not set"),
        (("--model", "openai/x", "--key-stdin"), "no key on stdin"),
        (("--model", "ollama/x", "--name", "a b"), "--name"),
        (("--name", "gone"), "there is no saved model"),
        (("--provider", "openai-compatible", "--model", "x"), "--base-url"),
        (("--remove", "gone"), "there are none"),
        (("--json",), "nothing to set up"),
        (("--timeout", "-1"), "--timeout"),
    ],
)
def test_bad_input_is_told_and_changes_nothing(
    home: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = setup(*arguments)
    assert done.code == 2
    assert words in done.err
    assert not (home / profiles.FILE).exists()


def test_a_broken_file_is_named_and_left(home: Path) -> None:
    (home / profiles.FILE).write_text('{\n"profiles": [')
    done = setup("--model", "ollama/x", "--no-test")
    assert done.code == 1
    assert "line 2, column 14" in done.err
    assert (home / profiles.FILE).read_text() == '{\n"profiles": ['


# ---------------------------------------------------------------- several


def test_several_models_and_the_default(home: Path) -> None:
    assert setup("--model", "ollama_chat/a", "--no-test").code == 0
    done = setup("--provider", "ollama", "--model", "b", "--no-test")
    assert "New sessions use a" in done.err
    assert setup("--name", "ollama", "--default").code == 0
    rows = setup("--list", "--json").events
    assert [(row["name"], row["model"], row["default"]) for row in rows] == [
        ("a", "ollama_chat/a", False),
        ("ollama", "ollama_chat/b", True),
    ]
    assert "no key needed  default" in setup("--list").out
    assert "New sessions use a" in setup("--remove", "ollama").err
    assert [row["name"] for row in setup("--list", "--json").events] == ["a"]
    assert "rookery setup" in setup("--remove", "a").err + setup("--list").err


def test_a_fallback_is_set_changed_and_removed(home: Path) -> None:
    for name in ("a", "b"):
        assert setup("--model", f"ollama_chat/{name}", "--no-test").code == 0
    assert "there is no saved model 'c'; saved: a, b" in setup("--name", "a", "--fallback", "c").err
    assert "cannot be its own fallback" in setup("--name", "a", "--fallback", "a").err
    done = setup("--name", "a", "--fallback", "b")  # needs no test: nothing is asked
    assert done.out == "When a cannot answer, b does.\n"
    assert saved(home)["a"]["fallback"] == "b"
    assert "then b" in setup("list").out
    assert [row["fallback"] for row in setup("list", "--json").events] == ["b", None]
    assert setup("--name", "a", "--timeout", "5", "--no-test").code == 0
    assert saved(home)["a"]["fallback"] == "b"
    told = setup("--name", "a", "--fallback", "none", "--json", "--default").events[0]
    assert told["words"].startswith("a has no fallback. New sessions use a")
    assert setup("--name", "a", "--fallback", "b").code == 0
    assert setup("remove", "b").code == 0
    assert "fallback" not in saved(home)["a"]
    bad = {"profiles": {"a": {"model": "x/y", "fallback": 1}}}
    (home / profiles.FILE).write_text(json.dumps(bad))
    assert "fallback must be the name of a saved model" in setup("list").err


def test_a_part_of_a_saved_one_can_be_changed(home: Path) -> None:
    with serving(SCRIPT) as it:
        assert setup(*good(it, "--key", KEY, "--name", "mine")).code == 0
        raw = json.loads((home / profiles.FILE).read_text())
        raw["profiles"]["mine"]["num_retries"] = 3
        (home / profiles.FILE).write_text(json.dumps(raw))
        assert setup("--name", "mine", "--timeout", "60").code == 0
        mine = saved(home)["mine"]
        assert (mine["timeout"], mine["api_key"], mine["num_retries"]) == (60, KEY, 3)


def test_a_saved_key_does_not_go_along_to_another_server(home: Path) -> None:
    with serving(SCRIPT) as it, serving([]) as other:
        assert setup(*good(it, "--key", KEY, "--name", "mine")).code == 0
        done = setup("--name", "mine", "--base-url", other.url)
        assert done.code == 0
        assert [asked.key for asked in other.asked] != [KEY]
    assert saved(home)["mine"]["api_key"] is None


# ---------------------------------------------------------------- by questions


def test_questions_in_a_terminal(home: Path) -> None:
    with serving(SCRIPT) as it, Terminal("setup") as terminal:
        terminal.read_until("Which provider?")
        for wrong in ("nonsense", "17"):
            terminal.type(f"{wrong}\n")
            terminal.read_until("Type a number from 1 to 10, or a name.\r\nWhich provider?")
        terminal.type("openai-c\n")
        terminal.read_until("API address")
        terminal.type("\n")
        terminal.read_until("the address is required")
        terminal.type("nonsense\n")
        terminal.read_until("https://host/v1.\r\nAPI address")
        terminal.type(f"{it.url}\n")
        terminal.read_until("not shown")
        terminal.type(f"{KEY}\n")
        terminal.read_until("Which model?")
        terminal.type("2\n")
        terminal.read_until("Name")
        terminal.type("mine\n")
        done = terminal.end()
    assert done.code == 0, done.out
    assert KEY not in done.out
    assert "rookery setup search" in done.out
    assert saved(home)["mine"]["model"] == "openai/better"


def test_one_that_fails_is_saved_only_when_you_say_so(home: Path) -> None:
    with serving({"aside": {"error": 401}}) as it:
        for answer, code in (("n", 1), ("y", 0)):
            with Terminal("setup", *good(it)) as terminal:
                terminal.read_until("Another key")
                terminal.type("\n")
                terminal.read_until("Save it anyway?")
                terminal.type(f"{answer}\n")
                assert terminal.end().code == code
            assert (home / profiles.FILE).exists() == (answer == "y")


def test_a_wrong_key_and_a_wrong_model_are_mended_without_beginning_again(home: Path) -> None:
    with serving(SCRIPT) as it, Terminal("setup", *good(it, name="goood")) as terminal:
        terminal.read_until("Another key")
        terminal.type(f"{KEY}\n")
        terminal.read_until("Another model")
        terminal.type("better\n")
        done = terminal.end()
    assert (done.code, KEY in done.out) == (0, False), done.out
    [kept] = saved(home).values()
    assert (kept["model"], kept["api_key"]) == ("openai/better", KEY)


def test_a_missing_key_is_asked_for(home: Path) -> None:
    with Terminal("setup", "--model", "anthropic/x", "--no-test") as terminal:
        terminal.read_until("Key for anthropic/x")
        terminal.type("\n")
        terminal.read_until("leaves without saving.\r\nKey for anthropic/x")
        terminal.type(f"{KEY}\n")
        done = terminal.end()
    assert (done.code, KEY in done.out) == (0, False)
    assert saved(home)["x"]["api_key"] == KEY


def test_ctrl_c_saves_nothing(home: Path) -> None:
    with Terminal("setup") as terminal:
        terminal.read_until("[1]: ")
        # Python misses one that comes while its line editor begins: a person presses it again.
        while terminal.process.poll() is None:
            with suppress(OSError, subprocess.TimeoutExpired):
                terminal.type("\x03")
                terminal.process.wait(0.5)
        done = terminal.end()
    assert (done.code, "Traceback" in done.out) == (130, False)
    assert "\nNothing was saved." in done.out
    assert not (home / profiles.FILE).exists()


def test_ctrl_c_during_the_test_saves_nothing(home: Path) -> None:
    with serving({"aside": {"hang": True}}) as it, Running("setup", *good(it)) as running:
        it.wait(1)
        running.signal()
        done = running.end()
    assert "Traceback" not in done.err, done.err
    assert done.code == 130
    assert not (home / profiles.FILE).exists()


# ---------------------------------------------------------------- for programs, and the condenser


def test_setup_json_reports_how_it_ended(home: Path) -> None:
    with serving(SCRIPT) as it:
        tried = setup(*good(it, "--key-stdin", "--json", "--test"), text=KEY + "\n")
        assert tried.events == [{"ok": True, "words": "openai/good answered.", "option": ""}]
        assert not (home / profiles.FILE).exists()
        wrong = setup(*good(it, "--key-stdin", "--json"), text="sk-wrong\n")
        assert (wrong.code, wrong.events[0]["ok"]) == (1, False)
        assert "does not accept the key" in wrong.events[0]["words"]
        kept = setup(*good(it, "--key-stdin", "--json"), text=KEY + "\n")
        assert kept.events[0]["words"] == "Saved good (openai/good)."
    bad = setup("--json", "--model", "openai/x", "--base-url", "nonsense")
    assert (bad.code, bad.events[0]["option"]) == (2, "--base-url")
    assert (tried.err, wrong.err, kept.err, bad.err) == ("", "", "", "")


def test_an_address_and_a_timeout_can_be_reset(home: Path) -> None:
    words = ("--model", "m", "--name", "a", "--base-url", "http://127.0.0.1:1/v1", "--no-test")
    assert setup(*words, "--timeout", "5").code == 0
    done = setup("--name", "a", "--model", "ollama_chat/m", "--base-url", "none", "--no-test")
    assert done.code == 0, done.err
    assert (saved(home)["a"]["base_url"], saved(home)["a"]["timeout"]) == (None, 5)
    assert setup("--name", "a", "--timeout", "0", "--no-test").code == 0
    assert saved(home)["a"]["timeout"] is None


def test_the_condenser_is_shown_and_changed(home: Path) -> None:
    assert (
        "summarised when 75 % of the context is used, except for the first 4"
        in setup("condenser").out
    )
    assert setup("condenser", "--max-size", "120", "--keep-first", "6").code == 0
    kept = json.loads((home / profiles.FILE).read_text())["condenser"]
    assert (kept["share"], kept["max_size"], kept["keep_first"]) == (75, 120, 6)
    assert (
        "when 60 % of the context is used or after 120" in setup("condenser", "--share", "60").out
    )
    bad = setup("condenser", "--keep-first", "60")
    assert bad.code == 2
    assert "less than half of max_size" in bad.err
    assert "there is no saved model" in setup("condenser", "--profile", "x").err
    assert setup("condenser", "--off").out == "Long conversations are never summarised.\n"


def test_the_judge_is_told_and_changed(home: Path) -> None:
    """Critic, sources: a judge model."""
    assert "OpenHands' critic" in setup("critic").out
    assert "there is no saved model 'big'" in setup("critic", "--judge", "big").err
    assert setup("--model", "ollama_chat/m", "--name", "big", "--no-test").code == 0
    assert setup("critic", "--judge", "big").out == "Turns are judged by the model big.\n"
    kept = json.loads((home / profiles.FILE).read_text())
    assert kept["critic"] == {"judge": "big"}
    assert setup("critic", "--off").out == "The critic of Rookery's own agent is off.\n"
    assert setup("critic", "--on").out == "Turns are judged by the model big.\n"
    (home / profiles.FILE).write_text(json.dumps(kept | {"profiles": {}}))
    assert "the model big no longer exists" in setup("critic").out
    (home / profiles.FILE).write_text(json.dumps(kept))
    assert setup("--remove", "big").code == 0
    assert "critic" not in json.loads((home / profiles.FILE).read_text())


# ---------------------------------------------------------------- who searches the web


def test_a_search_provider_is_tested_saved_and_told(home: Path) -> None:
    with serving_site() as site:
        url = f"http://{HERE}:{site.server_port}"
        assert "No search provider" in setup("search").out
        done = setup("search", "--provider", "brave", "--url", url, "--key-stdin", text=f"{KEY}\n")
        assert (done.code, done.out) == (0, f"New sessions search the web with brave at {url}.\n")
        assert config.load(str(home)).web == Web(search="brave", search_key=KEY, search_url=url)
        assert [each[2]["X-Subscription-Token"] for each in site.asked] == [KEY]
        again = setup("search", "--provider", "brave")  # with its key and address
        assert again.out == done.out
        with Terminal("setup", "search") as terminal:
            terminal.read_until("Who searches the web?")
            terminal.type("searx\n")
            terminal.read_until("Its address [http://localhost:8888]")
            terminal.type(f"{url}\n")
            done = terminal.end()
        assert done.code == 0, done.out
        assert config.load(str(home)).web == Web(search="searxng", search_url=url)
    failed = setup("search")
    assert (failed.code, failed.out) == (0, f"New sessions search the web with searxng at {url}.\n")
    failed = setup("search", "--provider", "searxng")
    assert failed.code == 1
    assert "--no-test" in failed.err
    assert setup("search", "--provider", "tavily").code == 2
    assert setup("search", "--provider", "searxng", "--url", "here").code == 2
    assert config.load(str(home)).web == Web(search="searxng", search_url=url)
    assert "No search provider" in setup("search", "--provider", "none").out
    assert config.load(str(home)).web == Web()
