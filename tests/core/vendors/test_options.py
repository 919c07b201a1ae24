"""One list of options, whichever of three ways an agent offers them."""

from typing import Any

import pytest
from hypothesis import given

from rookery.core.vendors.options import choice_of, confirmation, confirmed, find, offered, setting
from tests.core.hostile import foreign_json

type Json = dict[str, Any]

MODES = {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}, {"id": "b"}]}
MODELS = {"currentModelId": "m", "availableModels": [{"modelId": "m"}, {"modelId": "n"}]}


def config(id: str, category: str | None, value: object, *values: str) -> Json:
    option = {"id": id, "currentValue": value, "options": [{"value": each} for each in values]}
    return option | ({"category": category} if category is not None else {})


def values(offers: Json) -> dict[str, object]:
    return {option["id"]: option["value"] for option in offered(offers)}


def test_config_options_come_first_and_the_rest_fills_in() -> None:
    options = [config("x", "mode", "p", "p", "q")]
    all_three = {"configOptions": options, "modes": MODES, "models": MODELS}
    assert [(each["id"], each["via"]) for each in offered(all_three)] == [
        ("x", "config"),
        ("model", "model"),
    ]
    assert [each["via"] for each in offered({"modes": MODES, "models": MODELS})] == [
        "mode",
        "model",
    ]
    assert offered({}) == []


def test_grouped_choices_keep_their_order() -> None:
    groups = [{"group": "g", "options": [{"value": "a"}, {"value": "b"}]}, {"value": "c"}]
    [option] = offered({"configOptions": [{"id": "x", "options": groups}]})
    assert [choice["value"] for choice in option["choices"]] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("name", "id"),
    [("mode", "x"), ("model", "y"), ("effort", "z"), ("x", "x"), ("free", "free"), ("none", None)],
)
def test_an_option_is_found_by_what_a_person_calls_it(name: str, id: str | None) -> None:
    options = offered(
        {
            "configOptions": [
                config("x", "mode", "a"),
                config("y", "model", "a"),
                config("z", "thought_level", "a"),
                config("free", None, True),
            ]
        }
    )
    found = find(options, name)
    assert (found["id"] if found else None) == id


@pytest.mark.parametrize(
    ("offer", "wanted", "chosen"),
    [
        (["default", "acceptEdits", "bypassPermissions"], "auto_edit", "acceptEdits"),
        (["default", "acceptEdits", "bypassPermissions"], "yolo", "bypassPermissions"),
        (["default", "auto_edit", "yolo"], "acceptEdits", "auto_edit"),
        (["default", "autoEdit", "yolo"], "accept-edits", "autoEdit"),
        (["default", "autoEdit", "yolo"], "bypassPermissions", "yolo"),
        (["default", "plan"], "PLAN", "plan"),
        (["default", "plan"], "yolo", None),
        ([], "anything", "anything"),
    ],
)
def test_vendors_names_for_the_same_mode_fold(
    offer: list[str], wanted: str, chosen: str | None
) -> None:
    [option] = offered({"configOptions": [config("m", "mode", offer[:1], *offer)]})
    assert choice_of(option, wanted) == chosen


@pytest.mark.parametrize(
    ("via", "value", "method", "params"),
    [
        ("mode", "b", "session/set_mode", {"modeId": "b"}),
        ("model", "n", "session/set_model", {"modelId": "n"}),
        ("config", "b", "session/set_config_option", {"configId": "o", "value": "b"}),
        (
            "config",
            True,
            "session/set_config_option",
            {"configId": "o", "value": True, "type": "boolean"},
        ),
    ],
)
def test_how_an_option_is_set(via: str, value: str | bool, method: str, params: Json) -> None:
    expected = (method, {"sessionId": "s", **params})
    assert setting("s", {"id": "o", "via": via}, value) == expected


def test_the_agents_own_list_is_the_confirmation() -> None:
    listed = [config("x", "mode", "b")]
    told = confirmation("mode", "b", {"configOptions": listed})
    assert told == {"sessionUpdate": "config_option_update", "configOptions": listed}
    silent = {"sessionUpdate": "_session", "mode": "b", "confirmed": True}
    assert confirmation("mode", "b", {}) == silent
    assert confirmation("mode", "b", None) == silent


@pytest.mark.parametrize("name", ["title", "cwd", "argv", "agent", "archived"])
def test_an_option_cannot_pass_for_a_field_of_the_session(name: str) -> None:
    """An agent chooses the ids of its options."""
    told = confirmation(name, "x", {})
    assert told == {"sessionUpdate": "_session", "options": {name: "x"}, "confirmed": True}


def test_a_confirmed_value_is_shown_by_name_and_by_id() -> None:
    offers = {
        "configOptions": [config("x", "mode", "a"), config("y", "", "a"), config("z", None, "a")],
        "modes": MODES,
    }
    assert values(confirmed(offers, {"mode": "b"})) == {"x": "b", "y": "a", "z": "a"}
    assert values(confirmed(offers, {"z": "b"})) == {"x": "a", "y": "a", "z": "b"}
    assert values(confirmed({"models": MODELS}, {"model": "n"})) == {"model": "n"}
    assert values(confirmed({"modes": MODES}, {"mode": "b"})) == {"mode": "b"}


@given(foreign_json, foreign_json, foreign_json)
def test_any_offer_gives_a_list(options: object, modes: object, models: object) -> None:
    offers: Json = {"configOptions": options, "modes": modes, "models": models}
    for option in offered(offers):
        assert isinstance(option["id"], str)
        assert choice_of(option, "x") in (None, "x") or option["choices"]
    offered(confirmed(offers, {"mode": "a", "model": "b", "effort": "c"}))
