"""What the windows do: every form is checked, every change is the one that was meant."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Checkbox, Input, Label, OptionList, Select, Static

from rookery.client.config import edit
from rookery.core.blocks import failures
from rookery.core.policy.unattended import Order
from rookery.forms.servers import HIDDEN
from rookery.home import config, mcp
from rookery.models import saved_models
from rookery.models.draft import Draft
from rookery.models.secrets import Secret
from rookery.processes.lineage import MARK, home_tag
from rookery.search.query import Hit
from rookery.search.snippets import Snippet
from rookery.tui.messages import Made, SetUpFound
from rookery.tui.widgets.status import Status
from rookery.tui.windows.model import ModelForm
from rookery.tui.windows.parts.fields import Ticks
from rookery.tui.windows.parts.form import FormScreen, SavedForm
from rookery.tui.windows.parts.rows import RowsScreen
from rookery.tui.windows.rule import RulesScreen
from rookery.tui.windows.search_all import row_of
from tests.tui import gallery
from tests.tui.homes import furnish
from tests.tui.still import Still

type Showing = Callable[..., Any]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return furnish(tmp_path, monkeypatch)


@asynccontextmanager
async def showing(
    home: str, updates: list[dict[str, Any]] | None = None, size: tuple[int, int] = (100, 40)
) -> AsyncIterator[tuple[Still, Pilot[str]]]:
    app = Still(gallery.opened(updates) if updates else None, home=home)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app, pilot


def told(app: Still) -> str:
    return str(app.screen.query_one("#told", Static).content)


def title(app: Still) -> str:
    return str(app.screen.query_one(".title", Label).content)


def titles(app: Still) -> list[str]:
    assert isinstance(app.screen, RowsScreen)
    return [row.title for row in app.screen.rows]


async def open_section(app: Still, pilot: Pilot[str], wanted: str) -> None:
    """Open a section of the settings from their list."""
    await pilot.press("f6")
    await pilot.press(*["down"] * titles(app).index(wanted), "enter")
    await pilot.pause()


def put(app: Still, name: str, value: Any) -> None:
    assert isinstance(app.screen, FormScreen)
    control = app.screen.control(name)
    if isinstance(control, Ticks):
        for tick, each in zip(control.query(Checkbox), control._choices, strict=True):
            tick.value = each.value in value
    else:
        assert isinstance(control, Input | Select | Checkbox)
        control.value = value


def wrong(app: Still) -> dict[str, str]:
    """What the form says is wrong, by field."""
    assert isinstance(app.screen, FormScreen)
    lines = [app.screen.query_one(f"#wrong{n}", Static) for n in range(len(app.screen.fields))]
    pairs = zip(app.screen.fields, lines, strict=True)
    return {field.name: str(line.content) for field, line in pairs if line.display}


# --- settings ----------------------------------------------------------------------------------


async def test_the_settings_list_says_what_is_set_up(home: str) -> None:
    async with showing(home) as (app, pilot):
        await pilot.press("f6")
        assert titles(app)[:4] == ["Models", "MCP servers", "Agents", "Rules"]
        assert isinstance(app.screen, RowsScreen)
        assert app.screen.rows[0].more == "anthropic/claude-sonnet-5-5 (work)"
        assert app.screen.rows[1].more == "2 of 3 on"


@pytest.mark.long
async def test_every_setting_has_a_field_and_wrong_values_are_named(home: str) -> None:
    async with showing(home) as (app, pilot):
        await open_section(app, pilot, "Times and limits")
        assert isinstance(app.screen, FormScreen)
        own = {f"worker.{name}" for name in config.Policy._fields}
        assert {field.name for field in app.screen.fields} == {*own, "devices.idle_days"}
        put(app, "worker.silent_after", "60")
        put(app, "worker.queue_most", "1.5")
        put(app, "worker.stop_grace", "soon")
        await pilot.press("ctrl+s")
        assert wrong(app) == {
            "worker.silent_after": "✗ Silence timeout must be 0 (off) or 120 to 86,400 seconds",
            "worker.queue_most": "✗ Queue length must be a whole number (0 to 1,000 prompts)",
            "worker.stop_grace": "✗ Stop timeout must be a number (0 to 60 seconds)",
        }
    assert config.load(home).policy.cancel_grace == 5


async def test_a_setting_is_found_by_what_it_does(home: str) -> None:
    async with showing(home) as (app, pilot):
        await pilot.press("f6", "slash", *"cancelled killed", "enter")
        await pilot.pause()
        assert title(app) == "Times and limits"
        assert app.focused is app.screen.control("worker.cancel_grace")  # type: ignore[attr-defined]


@pytest.mark.long
async def test_settings_are_saved_and_comments_stay(home: str) -> None:
    async with showing(home) as (app, pilot):
        await open_section(app, pilot, "Times and limits")
        put(app, "worker.silent_after", "180")
        put(app, "worker.cancel_grace", "")
        put(app, "worker.queue_drain", "serial")
        await pilot.press("ctrl+s")
        assert told(app) == "Saved: Cancel timeout, Silence timeout, Queued prompts."
    found = config.load(home).policy
    assert (found.silent_after, found.cancel_grace, found.queue_drain) == (180, 10, "serial")
    assert Path(home, "config.toml").read_text().startswith("# mine\n[worker]\n")


async def test_the_condenser_is_checked_and_saved(home: str) -> None:
    async with showing(home) as (app, pilot):
        await open_section(app, pilot, "Long conversations")
        put(app, "max_size", "80")
        put(app, "keep_first", "40")
        await pilot.press("ctrl+s")
        assert wrong(app) == {
            "keep_first": "✗ First events must be less than half of the number above"
        }
        put(app, "keep_first", "6")
        await pilot.press("ctrl+s")
        assert told(app).startswith(
            "Conversations are summarised when 75 % of the context is used or after 80 events, "
            "except for the first 6"
        )
    saved = json.loads(Path(home, "agent_settings.json").read_text())
    assert saved["condenser"]["keep_first"] == 6
    assert saved["profiles"]["work"]["api_key"] == "sk-hidden"


@pytest.mark.long
async def test_the_judge_is_chosen_checked_and_saved(home: str) -> None:
    """In the form of the critic, with what stands in config.toml; one that is gone is said so."""
    file = Path(home, "agent_settings.json")
    async with showing(home) as (app, pilot):
        await open_section(app, pilot, "Critic")
        put(app, "judge", "model:local")
        put(app, "critic.score_below", "7")
        await pilot.press("ctrl+s")
        assert wrong(app) == {"critic.score_below": "✗ Minimum score must be 0 to 1"}
        assert "critic" not in json.loads(file.read_text()), "nothing was saved yet"
        put(app, "critic.score_below", "0.7")
        await pilot.press("ctrl+s")
        assert told(app) == "Saved: Judge, Minimum score."
        assert row(app, "Critic") == "Judged by local, no automatic retry"
        saved = json.loads(file.read_text())
        assert saved["critic"] == {"judge": "local"}
        assert saved["profiles"]["work"]["api_key"] == "sk-hidden"
        assert config.load(home).critic.score_below == 0.7
        await pilot.press("enter", "ctrl+s")
        assert told(app) == "Nothing was changed."
        await pilot.press("enter")
        put(app, "judge", "off")
        await pilot.press("ctrl+s")
        assert told(app) == "Saved: Judge."
        assert json.loads(file.read_text())["critic"] == {"enabled": False, "judge": "local"}
        await pilot.press("enter")
        put(app, "judge", "model:work")
        file.write_text(json.dumps(saved | {"profiles": {}}))
        await pilot.press("ctrl+s")
        assert "there is no saved model 'work'" in wrong(app)["judge"]
        await pilot.press("escape", "up", "down", "enter")
        assert isinstance(app.screen, FormScreen)
        assert app.screen.answers()["judge"] == "model:local"
        assert "(removed)" in app.export_screenshot().replace("&#160;", " ")


def row(app: Still, title: str) -> str:
    assert isinstance(app.screen, RowsScreen)
    [found] = [row.more for row in app.screen.rows if row.title == title]
    return found


async def test_keys_of_the_screen_below_a_window_do_nothing(home: str) -> None:
    async with showing(home, gallery.CHOICES) as (app, pilot):
        await pilot.press("f6", "f7", "f6", "ctrl+n", "f4")
        assert len(app.screen_stack) == 2
        assert app.session == "a1b2c3"
        await pilot.press("down", "down", "enter")  # from here, the agents are opened
        await pilot.pause()
        await pilot.pause()
        assert (len(app.screen_stack), titles(app)[0]) == (2, "rookery")


async def test_notifications_have_a_window(home: str) -> None:
    async with showing(home) as (app, pilot):
        await open_section(app, pilot, "Notifications")
        put(app, "notify.webhook", "https://ntfy.invalid/rookery")
        await pilot.press("ctrl+s")
        assert told(app) == "Saved: Webhook."
    assert config.load(home).notify.webhook == "https://ntfy.invalid/rookery"


# --- models ------------------------------------------------------------------------------------


@pytest.mark.long
async def test_a_key_is_never_shown_and_an_untouched_one_is_kept(home: str) -> None:
    file = Path(home, "config.toml")
    file.write_text(f"{file.read_text()}\n[agent]\nwarm = false\n")  # it would outlive the test
    async with showing(home) as (app, pilot):
        await pilot.press("f6", "enter", "enter")
        assert isinstance(app.screen, ModelForm)
        assert "sk-hidden" not in app.export_screenshot()
        key = app.screen.control("key")
        assert isinstance(key, Input)
        assert (key.value, key.password) == ("", True)
        put(app, "model", "claude-opus-5-5")
        await pilot.press("ctrl+o")
        assert told(app) == "Saved work (anthropic/claude-opus-5-5)."
    saved = json.loads(Path(home, "agent_settings.json").read_text())["profiles"]["work"]
    assert (saved["model"], saved["api_key"]) == ("anthropic/claude-opus-5-5", "sk-hidden")
    assert saved["timeout"] == 300


@pytest.mark.long
async def test_a_models_mistakes_are_shown_at_their_fields(home: str) -> None:
    async with showing(home) as (app, pilot):
        await pilot.press("f6", "enter", "n")
        await pilot.press("ctrl+s")
        assert wrong(app) == {"model": "✗ Required"}
        put(app, "model", "m")
        put(app, "base_url", "nonsense")
        await pilot.press("ctrl+s")
        assert "lacks http:// or https://" in wrong(app)["base_url"]
        put(app, "base_url", "")
        put(app, "provider", "openai-compatible")
        await pilot.press("ctrl+s")
        assert wrong(app) == {"base_url": "✗ Required"}


@pytest.mark.long
async def test_a_model_that_does_not_answer_is_not_saved(home: str) -> None:
    before = Path(home, "agent_settings.json").read_text()
    async with showing(home) as (app, pilot):
        await pilot.press("f6", "enter", "n")
        put(app, "provider", "openai-compatible")
        put(app, "model", "m")
        put(app, "key", "sk-new")
        put(app, "base_url", "http://127.0.0.1:9/v1")
        await pilot.press("ctrl+s")
        assert "nothing is listening there" in told(app)
        assert "Ctrl+O saves it untested" in told(app)
    assert Path(home, "agent_settings.json").read_text() == before


async def test_a_model_can_become_the_default_and_be_removed(home: str) -> None:
    async with showing(home) as (app, pilot):
        await pilot.press("f6", "enter", "down", "d")
        assert isinstance(app.screen, RowsScreen)
        assert [row.tag for row in app.screen.rows] == ["", "default"]
        await pilot.press("x", "escape", "x", "y")
        await pilot.pause()
        assert titles(app) == ["work"]


async def test_saved_models_are_changed_without_another_process(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other process in between: here none could be started."""
    monkeypatch.setattr("sys.executable", "/nonexistent")
    file = Path(home, "agent_settings.json")
    async with showing(home) as (app, pilot):
        await pilot.press("f6", "enter", "enter")
        put(app, "base_url", "http://127.0.0.1:9/v1")
        put(app, "key", "sk-new")
        await pilot.press("ctrl+s")
        assert "nothing is listening there" in told(app)
        put(app, "timeout", "")
        await pilot.press("ctrl+o")
        assert told(app) == "Saved work (anthropic/claude-sonnet-5-5)."
        saved = json.loads(file.read_text())["profiles"]["work"]
        assert (saved["base_url"], saved["timeout"]) == ("http://127.0.0.1:9/v1", None)
        assert saved["api_key"] == "sk-new"
        await pilot.press("n")
        put(app, "provider", "other")
        put(app, "model", "m")
        await pilot.press("ctrl+o")
        assert "the provider of 'm' is not known" in wrong(app)["model"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_an_agent_cannot_change_saved_models(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever face it calls: the file itself is kept from it."""
    before = Path(home, "agent_settings.json").read_text()
    monkeypatch.setenv(MARK, f"{home_tag(home)}.0")
    for work in (
        lambda: saved_models.use(home, "local"),
        lambda: saved_models.forget(home, "work"),
        lambda: saved_models.condense(home, {"enabled": False}),
        lambda: saved_models.judge(home, {"enabled": False}),
    ):
        outcome = saved_models.outcome(work)
        assert (outcome.ok, "An agent cannot set up models" in outcome.message) == (False, True)
    draft = Draft(model="openai/x", base_url="http://127.0.0.1:9/v1", key=Secret("sk-1"))
    assert not saved_models.attempt(home, draft, test=False).ok
    assert Path(home, "agent_settings.json").read_text() == before


def test_what_fails_says_why_and_about_which_field(home: str) -> None:
    outcome = saved_models.outcome(lambda: saved_models.forget(home, "none"))
    assert outcome == (False, "there is no saved model 'none'; saved: work, local.", "remove")
    outcome = saved_models.attempt(home, Draft(model="anthropic/x"), test=False)
    assert outcome == (False, "anthropic/x needs a key.", "key")


# --- MCP servers -------------------------------------------------------------------------------


async def test_servers_are_listed_turned_off_and_removed(home: str) -> None:
    async with showing(home) as (app, pilot):
        await pilot.press("f10")
        assert isinstance(app.screen, RowsScreen)
        assert [row.sign for row in app.screen.rows] == ["on", "off", "bad"]
        await pilot.press("space")
        assert "files is off" in told(app)
        assert not mcp.find(home, "files").enabled
        await pilot.press("end", "x", "y")
        await pilot.pause()
        assert titles(app) == ["files", "docs"]


async def test_a_server_is_changed_and_its_secrets_stay_hidden_and_whole(home: str) -> None:
    async with showing(home) as (app, pilot):
        await pilot.press("f10", "enter")
        assert "very-secret" not in app.export_screenshot()
        assert isinstance(app.screen, FormScreen)
        pairs = app.screen.control("pairs")
        assert isinstance(pairs, Input)
        assert pairs.value == f"TOKEN={HIDDEN} KEY=${{MY_KEY}}"
        put(app, "command", "false --quiet 'two words'")
        put(app, "pairs", pairs.value + " MORE='a b'")
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert "✗ files:" in told(app)  # it was visited at once, and is no server
    entry = mcp.find(home, "files").entry
    assert (entry["command"], entry["args"]) == ("false", ["--quiet", "two words"])
    assert entry["env"] == {"TOKEN": "very-secret", "KEY": "${MY_KEY}", "MORE": "a b"}


async def test_a_new_server_is_checked_by_its_kind(home: str) -> None:
    async with showing(home) as (app, pilot):
        await pilot.press("f10", "n")
        put(app, "name", "new one")
        await pilot.press("ctrl+s")
        assert wrong(app) == {"command": "✗ Required"}
        put(app, "kind", "http")
        await pilot.pause()
        put(app, "url", "ftp://x")
        put(app, "pairs", "Authorization")
        await pilot.press("ctrl+s")
        assert wrong(app) == {
            "pairs": "✗ Variables or headers must be NAME=VALUE, not 'Authorization'"
        }
        put(app, "pairs", "")
        await pilot.press("ctrl+s")
        assert "cannot name an MCP server" in told(app)
        put(app, "name", "new")
        await pilot.press("ctrl+s")
        assert "must begin with http" in told(app)
    assert len(mcp.load(home)) == 3


# --- search ------------------------------------------------------------------------------------


def test_a_hit_has_its_title_its_age_and_the_word_marked() -> None:
    text = "Somewhere far from here, a kestrel hovers."
    begins = text.index("kestrel")
    snippet = Snippet(text, ((begins, begins + 7),))
    hit = Hit("a1", 3, gallery.NOW - 240_000, "answer", snippet, "Birds of the north", "demo", "/")
    found = row_of(hit.to_json(), gallery.NOW, 12)
    assert found.shown == "Birds of th… · 4 min ago"
    assert found.detail == "answer: …ar from here, a kestrel hovers."
    assert [found.detail[slice(*mark)] for mark in found.marks] == ["kestrel"]


# --- agents ------------------------------------------------------------------------------------


async def test_the_list_of_agents_says_how_to_install_them(home: str) -> None:
    async with showing(home) as (app, pilot):
        await pilot.press("f7")
        assert isinstance(app.screen, RowsScreen)
        states = {row.name: row.more for row in app.screen.rows}
        assert states["claude"] == "installed"
        assert states["codex"] == "not installed"
        app.screen.query_one(OptionList).highlighted = list(states).index("codex")
        await pilot.press("c")
        assert told(app) == "Copied: npm install -g @agentclientprotocol/codex-acp"
        assert app.clipboard == "npm install -g @agentclientprotocol/codex-acp"
        await pilot.press("enter")
        assert "codex is an npm package, and npm is not installed" in told(app)


async def test_the_default_agent_is_kept_in_config(home: str) -> None:
    async with showing(home) as (app, pilot):
        await pilot.press("f7")
        assert isinstance(app.screen, RowsScreen)
        names = [row.name for row in app.screen.rows]
        app.screen.query_one(OptionList).highlighted = names.index("claude")
        await pilot.press("d")
        assert app.screen.rows[names.index("claude")].tag == "default"
    assert config.load(home).default_agent == "claude"


async def test_a_switch_says_what_happens_and_asks(home: str) -> None:
    gallery.kept(home, gallery.CHOICES[:2])
    async with showing(home, gallery.CHOICES[:2]) as (app, pilot):
        await pilot.press("f7")
        assert isinstance(app.screen, RowsScreen)
        names = [row.name for row in app.screen.rows]
        app.screen.query_one(OptionList).highlighted = names.index("demo")
        await pilot.press("enter")
        shown = app.export_screenshot().replace("&#160;", " ")
        assert "Switch from Claude to Demo?" in shown
        assert "The running turn is cancelled" in shown
        await pilot.press("escape")
        assert app.sent == []
        await pilot.press("f7")
        app.screen.query_one(OptionList).highlighted = names.index("demo")
        await pilot.press("enter", "y")
        await pilot.pause()
        assert app.sent == [{"do": "switch", "agent": "demo"}]


# --- choices of a session ----------------------------------------------------------------------


async def test_a_picked_model_is_shown_once_the_agent_confirmed_it(home: str) -> None:
    async with showing(home, gallery.CHOICES) as (app, pilot):
        await app.run_action("pick('model')")
        await pilot.pause()
        assert titles(app) == ["Big", "Small"]
        assert isinstance(app.screen, RowsScreen)
        assert [row.tag for row in app.screen.rows] == ["current", ""]
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.sent == [{"do": "set", "option": "model", "value": "small"}]
        assert app.window.header.model == "big"


@pytest.mark.long
async def test_any_option_can_be_picked(home: str) -> None:
    async with showing(home, gallery.CHOICES) as (app, pilot):
        await pilot.press("f8")
        assert titles(app) == ["Model", "Mode", "Web search"]
        await pilot.press("end", "enter")
        await pilot.pause()
        assert titles(app) == ["on", "off"]
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.sent == [{"do": "set", "option": "web", "value": False}]


async def test_the_confirmation_mode_is_marked_and_set(home: str) -> None:
    async with showing(home, gallery.CHOICES) as (app, pilot):
        await pilot.press("f9")
        choices = ["Ask always", "Ask when risky", "Approve all", "Plan"]
        assert titles(app) == [*choices, "Also for new sessions…"]
        assert isinstance(app.screen, RowsScreen)
        assert [row.tag for row in app.screen.rows] == ["current", "", "", "", ""]
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.sent == [{"do": "set", "option": "confirm", "value": "risky"}]


async def test_a_mode_chosen_before_the_first_prompt_is_only_that_sessions(home: str) -> None:
    """And it is shown before anything is sent."""
    async with showing(home) as (app, pilot):
        await pilot.press("f9")
        assert "in the new session" in title(app)
        await pilot.press("down", "down", "enter")
        await pilot.pause()
        assert app.start.confirms("every") == "all"
        app.on_set_up_found(SetUpFound(app.found_here))
        shown = str(app.window.pages[0].blocks["0.splash"]["text"])
        assert "Approve all: approves everything" in shown
        app.on_made(Made("s2"))
        assert app.start.confirms("every") == "every"
    assert config.load(home).confirm == "every"


@pytest.mark.long
async def test_the_default_for_new_sessions_is_a_separate_step(home: str) -> None:
    """In a session and before the first; the choice itself changes no default."""
    for updates in (None, gallery.CHOICES):
        edit.change(home, {"session.confirm": None})
        async with showing(home, updates) as (app, pilot):
            await pilot.press("f9", "end", "enter")
            await pilot.pause()
            assert "in new sessions" in title(app)
            await pilot.press("end", "enter")
            await pilot.pause()
            assert app.sent == []
            assert any("New sessions: " in each.message for each in app._notifications)
        assert config.load(home).confirm == "all"


async def test_the_dialog_says_that_an_agent_decides_by_itself(home: str) -> None:
    """No claim about what cannot be undone, where nobody looks at it."""
    async with showing(home, gallery.CHOICES) as (app, pilot):
        await pilot.press("f9")
        assert isinstance(app.screen, RowsScreen)
        every, risky, all_, _, _ = app.screen.rows
        assert "asks you" in every.more
        for row in (risky, all_):
            assert "claude decides on its own; your rules apply only" in row.more
        assert "belongs in a sandbox" in told(app)


@pytest.mark.parametrize(
    ("update", "words"),
    [
        ({"sessionUpdate": "_session", "confirm": "every"}, "ask always"),
        ({"sessionUpdate": "current_mode_update", "currentModeId": "plan"}, "plan"),
        ({"sessionUpdate": "current_mode_update", "currentModeId": "acceptEdits"}, "accept edits"),
        ({"sessionUpdate": "_session", **Order("reject").update()}, "reject all"),
        ({"sessionUpdate": "_session", **Order("all").update()}, "approve all"),
    ],
)
async def test_the_status_line_names_the_mode_in_one_word(
    home: str, update: dict[str, Any], words: str
) -> None:
    """That nobody is asked."""
    async with showing(home, [*gallery.CHOICES, update]) as (app, pilot):
        await pilot.pause()
        [line] = app.query_one(Status).lines(100)
        said = "".join(text for text, _ in line)
        assert f"claude · big · {words} · ⎇ main" in said


async def test_rules_are_listed_and_removed(home: str) -> None:
    async with showing(home) as (app, pilot):
        app.push_screen(RulesScreen())
        await pilot.pause()
        assert [row.title for row in app.screen.rows] == [  # type: ignore[attr-defined]
            "allow git status*",
            "deny fetch",
        ]
        await pilot.press("end", "x", "y")
        await pilot.pause()
        assert told(app) == "Removed the rule."
    assert [rule.name for rule in config.load(home).rules] == ["1"]
    assert "cancel_grace = 5  # short" in Path(home, "config.toml").read_text()


async def test_rules_are_made_changed_and_moved(home: str) -> None:
    async with showing(home) as (app, pilot):
        app.push_screen(RulesScreen())
        await pilot.pause()
        await pilot.press("K")  # the first stays
        await pilot.press("J")
        await pilot.pause()
        assert [rule.do for rule in config.load(home).rules] == ["deny", "allow"]
        assert app.screen.current.title == "allow git status*"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, SavedForm)
        assert app.screen.control("command").value == "git status*"  # type: ignore[attr-defined]
        app.screen.control("command").value = "git log *"  # type: ignore[attr-defined]
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert told(app) == "The rule applies."
        await pilot.press("n")
        await pilot.pause()
        app.screen.control("do").value = "ask"  # type: ignore[attr-defined]
        app.screen.control("path").value = "/etc/**"  # type: ignore[attr-defined]
        await pilot.press("ctrl+s")
        await pilot.pause()
    found = config.load(home).rules
    assert [(rule.do, rule.command, rule.path) for rule in found[1:]] == [
        ("allow", ("git log *",), ()),
        ("ask", (), ("/etc/**",)),
    ]


# --- actions of blocks -------------------------------------------------------------------------


async def test_a_recap_without_a_log_says_so_and_types_nothing(home: str) -> None:
    """The whole way, with a log: test_first_run."""
    async with showing(home, gallery.LOST) as (app, pilot):
        await pilot.press("shift+tab", "1")
        await pilot.pause()
        assert (app.sent, app.composer.text) == ([], "")
        assert any("a1b2c3" in note.message for note in app._notifications)


async def test_continuing_in_another_agent_asks_which(home: str) -> None:
    gallery.kept(home, gallery.CHOICES)
    async with showing(home, gallery.CHOICES) as (app, pilot):
        app.act({"label": "Continue with another agent", "choose": "agent", "command": SWITCH})
        await pilot.pause()
        assert isinstance(app.screen, RowsScreen)
        names = [row.name for row in app.screen.rows]
        app.screen.query_one(OptionList).highlighted = names.index("demo")
        await pilot.press("enter", "y")
        await pilot.pause()
        assert app.sent == [{**SWITCH, "agent": "demo"}]


async def test_every_action_that_helps_after_a_failure_is_known_here(home: str) -> None:
    tables = (failures.ENDS, failures.STARTS, failures.MEANWHILE)
    names = {name for table in tables for row in table.values() for name in row}
    about = failures.About("crow", own=True, turn=1)
    async with showing(home, gallery.CHOICES) as (app, pilot):
        for action in failures.helping(tuple(sorted(names)), about):
            before = len(app.screen_stack)
            app.act(action)
            await pilot.pause()
            while len(app.screen_stack) > before:
                await app.pop_screen()
            await pilot.pause()
        words = [note.message for note in app._notifications]
        assert not [each for each in words if "newer version" in each], words
        assert {"do": "retry", "turn": 1} in app.sent


SWITCH = {"do": "switch", "reason": "rate_limited"}


# --- questions ---------------------------------------------------------------------------------


@pytest.mark.long
async def test_every_kind_of_field_is_checked_and_sent(home: str) -> None:
    async with showing(home, gallery.QUESTION) as (app, pilot):
        await pilot.press("f2", "f")
        await pilot.pause()
        for name, value in (("name", "A"), ("mail", "x"), ("parts", "12"), ("share", "much")):
            put(app, name, value)
        await pilot.press("ctrl+s")
        assert wrong(app) == {
            "name": "✗ Name needs at least 2 characters",
            "mail": "✗ Mail must be an e-mail address",
            "parts": "✗ Parts must be at most 9",
            "share": "✗ Share must be a number",
            "tests": "✗ Required",
        }
        good = {"name": "ab", "mail": "a@b", "parts": "3", "share": "0.5", "publish": True}
        for name, value in {**good, "channel": "n", "tests": ["unit", "end to end"]}.items():
            put(app, name, value)
        await pilot.press("ctrl+s")
        await pilot.pause()
        (sent,) = app.sent
        assert sent["content"] == {
            **good,
            "parts": 3,
            "share": 0.5,
            "channel": "n",
            "tests": ["unit", "end to end"],
        }


# --- what is kept ------------------------------------------------------------------------------


async def test_theme_and_split_diffs_are_saved() -> None:
    async with showing("/nowhere", gallery.WORK) as (app, pilot):
        await pilot.press("f5")
        await pilot.press("shift+tab", "s", "s")
        assert app.kept == [{"theme": "light"}, {"diff": "split"}, {"diff": "unified"}]


async def test_interface_choices_are_written_to_the_file(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(Still, "keep_taste")
    async with showing(home) as (_app, pilot):
        await pilot.press("f5")
        await pilot.pause()
    assert config.load(home).interface.theme == "light"


async def test_cards_and_plan_open_as_the_settings_say() -> None:
    from rookery.core.limits import Interface

    async def height(taste: Interface) -> int:
        app = Still(gallery.opened([*gallery.WORK[:3], *gallery.TALK[3:4]]), taste=taste)
        async with app.run_test(size=(100, 60)) as pilot:
            await pilot.pause()
            return sum(item.height for item in app.window.items())

    usual = await height(Interface())
    assert await height(Interface(plan_opens=False)) == usual - 3
    assert await height(Interface(cards_expanded=True)) > usual


async def test_a_plan_can_be_folded_and_opened_again() -> None:
    async with showing("/nowhere", gallery.WORK[:3]) as (app, pilot):
        await pilot.press("shift+tab")
        plan = next(i for i in app.window.items() if i.block["role"] == "plan")
        app.transcript.go_to(plan.name)
        await pilot.press("enter")
        assert plan.height == 2
        await pilot.press("enter")
        assert plan.height == 5
