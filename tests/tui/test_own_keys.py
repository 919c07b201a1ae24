"""Keys of one's own win, and every key that there is can be read in F1."""

import importlib
import pkgutil
from collections.abc import Iterator

from textual.app import App
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input, Label, Static

import rookery.tui
from rookery.core.settings.keys import DEFAULTS, KEY_IDS, PLACES
from rookery.tui.keys import bindings
from rookery.tui.keys.map import shown
from rookery.tui.messages import SetUpFound
from rookery.tui.splash import SetUp
from rookery.tui.widgets.status import Status
from rookery.tui.windows.key_help import Key, KeysScreen, all_keys
from tests.tui import gallery
from tests.tui.still import Still
from tests.tui.test_keys import PERMIT, answer, lines, showing


async def choose(app: Still, pilot: Pilot[str], **keys: str) -> None:
    named = tuple((name.replace("_", "."), key) for name, key in keys.items())
    app.post_message(SetUpFound(SetUp("/work", keys=named)))
    await pilot.pause()


def footer(app: Still) -> str:
    return "".join(text for text, _ in app.query_one(Status).lines(300)[0])


async def test_custom_keys_work_and_are_listed() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        await choose(app, pilot, composer_send="f12", session_new="f11")
        assert Key("Everywhere", "F11", "a new session") in all_keys(app)
        await pilot.press(*"hi")
        assert "F12 queue" in footer(app)
        await pilot.press("enter")
        assert app.sent == []
        await pilot.press("f12")
        await pilot.pause()
        assert len(app.sent) == 1
        await pilot.press("f11")
        assert app.session == ""


async def test_a_custom_key_is_taken_from_global_defaults() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        theme = app.theme
        await choose(app, pilot, composer_newline="f5", block_copy="f6")
        await pilot.press("a", "f5", "b")
        assert (app.composer.text, app.theme) == ("a\nb", theme)
        assert {key.keys for key in all_keys(app) if key.summary == "the next theme"} == {"no key"}
        app.transcript.focus()
        app.transcript.go_to(app.window.items()[-1].name)
        await pilot.press("f6")
        await pilot.pause()
        assert app.clipboard == gallery.MARKDOWN
        assert len(app.screen_stack) == 1
        assert Key("In the transcript", "F6", "copy the block") in all_keys(app)
        assert {key.keys for key in all_keys(app) if key.summary == "settings"} == {"no key"}


async def test_a_custom_global_key_wins_over_places_and_the_library() -> None:
    async with showing(gallery.WORK) as (app, pilot):
        await choose(app, pilot, turn_cancel="ctrl+w", ask_next="ctrl+t")
        await pilot.press(*"two words", "ctrl+w", "ctrl+t")
        assert app.sent == [{"do": "cancel"}]  # and no word was deleted
        assert app.composer.text == "two words"
        waits = [key for key in all_keys(app) if key.summary.startswith("to the queue")]
        assert [key.keys for key in waits] == ["no key"]
        assert not any("Ctrl+W" in key.keys and key.place == "In any text" for key in all_keys(app))


async def test_a_removed_custom_key_gives_the_default_back() -> None:
    async with showing(gallery.WORK) as (app, pilot):
        await choose(app, pilot, turn_cancel="ctrl+w")
        await choose(app, pilot)
        await pilot.press(*"two words", "ctrl+w", "escape")
        assert app.composer.text == "two "
        assert app.sent == [{"do": "cancel"}]


async def test_cards_and_windows_name_the_custom_keys() -> None:
    async with showing(gallery.ASKS[:3], (120, 60)) as (app, pilot):
        await choose(app, pilot, ask_confirm="z", ask_reject="n", form_send="f12", ask_option1="a")
        await pilot.press("f2")
        assert " n  reject and say why" in lines(app)
        await pilot.press("a")
        assert "z  to confirm," in lines(app)
        await pilot.press("z")
        assert app.sent == [answer("q1", "n", "once") | {"confirm": True}]
    async with showing([*gallery.ASKS[:2], gallery.ASKS[3]]) as (app, pilot):
        await choose(app, pilot, form_send="f12")
        await pilot.press("f2", "f", *"1.2.0", "ctrl+s")
        assert app.sent == []
        assert "F12" in app.export_screenshot()
        await pilot.press("f12")
        await pilot.pause()
        assert len(app.sent) == 1


async def test_no_custom_key_answers_an_ask_from_the_composer() -> None:
    async with showing(PERMIT) as (app, pilot):
        await choose(app, pilot, ask_option1="a", ask_all="f12")
        await pilot.press("a", "f12")
        assert app.sent == []
        assert app.composer.text == "a"


# --- F1 ----------------------------------------------------------------------------------------


def kinds() -> Iterator[type[Widget] | type[App[object]]]:
    """Every class of the interface that says keys."""
    for module in pkgutil.walk_packages(rookery.tui.__path__, "rookery.tui."):
        for kind in vars(importlib.import_module(module.name)).values():
            mine = isinstance(kind, type) and kind.__module__ == module.name
            if mine and issubclass(kind, Widget | App) and vars(kind).get("BINDINGS"):
                yield kind


KINDS = {kind.__name__: kind for kind in kinds()}


async def test_the_key_help_lists_every_key() -> None:
    """In F1, by a name that a person can give another key."""
    listed = {
        each.id: each.description
        for _, found in bindings.PLACES
        for each in found
        if isinstance(each, Binding)
    }
    async with showing(gallery.TALK) as (app, _):
        told = {key.keys for key in all_keys(app)}
    for name, kind in KINDS.items():
        here = [each for each in vars(kind)["BINDINGS"] if isinstance(each, Binding)]
        assert len(here) == len(vars(kind)["BINDINGS"]), name
        for each in here:
            assert each.id in listed, (name, each)
            assert each.id in KEY_IDS, (name, each)
            assert each.description, (name, each)
            known = (each.key, shown(each.key) in told)
            assert known == (DEFAULTS[str(each.id)], True), (name, each)


def test_a_windows_keys_belong_to_one_place() -> None:
    """Else a person's key could be taken from what it does not meet, or not be taken."""
    assert len(KINDS) >= 18
    for kind in KINDS.values():
        names = {
            each.id
            for base in kind.__mro__
            for each in vars(base).get("BINDINGS", [])
            if isinstance(each, Binding) and each.id
        }
        assert any(names <= place.keys() for place in PLACES.values()), kind


async def test_letters_search_the_key_help_and_arrows_scroll_it() -> None:
    async with showing(gallery.TALK, (80, 24)) as (app, pilot):
        await pilot.press("f1")
        assert isinstance(app.screen, KeysScreen)
        scroll = app.screen.query_one("VerticalScroll")
        await pilot.press("pagedown", "pagedown", "down")
        await pilot.pause()
        assert scroll.scroll_y == 2 * (scroll.size.height - 1) + 1
        await pilot.press(*"server new")
        listed = str(app.screen.query_one("#listed", Static).visual)
        assert "In the list of MCP servers" in listed
        assert "Everywhere" not in listed
        assert scroll.scroll_y == 0
        assert str(app.screen.query_one(".title", Label).visual) == "Keys"
        await pilot.press(*"zzz")
        assert "No matches." in str(app.screen.query_one("#listed", Static).visual)
        assert app.screen.query_one(Input).has_focus
        await pilot.press("escape")
        assert len(app.screen_stack) == 1


async def test_tab_moves_on_if_there_is_nothing_to_complete() -> None:
    async with showing(gallery.TALK) as (app, pilot):
        await pilot.press(*"plain", "tab")
        assert not app.composer.has_focus
        await pilot.press("shift+tab", *" @he", "tab")
        assert app.composer.has_focus


async def test_f1_opens_and_closes_over_a_window() -> None:
    async with showing(gallery.CHOICES) as (app, pilot):
        await pilot.press("f9", "f1")
        assert isinstance(app.screen, KeysScreen)
        assert len(app.screen_stack) == 3
        await pilot.press("f1")
        assert len(app.screen_stack) == 2
