"""The numbers of an OpenHands set-up: when a conversation is condensed, when a verdict of the
critic is poor, and what its interface shows opened. What has no place here is said to be left."""

import os
from typing import Any, Protocol

from rookery.client.config import edit
from rookery.client.config.rules import NotEdited
from rookery.core.json import lenient
from rookery.home import config
from rookery.models import documents, migration, profiles
from rookery.models.documents import Json, SettingsError

CLI_CONFIG = "cli_config.json"

SUMMARIZING = "LLMSummarizingCondenser"
NONE = "NoOpCondenser"
NUMBERS = ("max_size", "keep_first")
USUAL = {"max_tokens": None, "minimum_progress": 0.1}
"""Of a condenser there: what this agent has no number for, and what it means when it says so."""

OURS = {
    "enable_iterative_refinement": "critic.refine",
    "critic_threshold": "critic.score_below",
    "issue_threshold": "critic.issue_at",
    "max_refinement_iterations": "critic.iterations",
    "default_cells_expanded": "interface.cards_expanded",
    "auto_open_plan_panel": "interface.plan_opens",
}
"""Their names, and those of ours in config.toml."""

THERE = "something else is set here; --replace takes it"


class Teller(Protocol):
    home: str
    place: str
    replace: bool

    def took(self, what: str) -> None: ...

    def left(self, what: str, why: str) -> None: ...

    def broken(self, error: Exception) -> None: ...


def condenser(teller: Teller) -> None:
    path = os.path.join(teller.place, profiles.FILE)
    try:
        document = documents.read(path, private=False)
    except SettingsError:
        return  # told with the models
    found = lenient.mapping(document, "condenser")
    if not found:
        return
    kind = lenient.text(found, "kind", SUMMARIZING)
    if kind not in (SUMMARIZING, NONE):
        teller.left("condenser", f"there is no {kind} here; rookery setup condenser")
        return
    try:
        theirs = profiles.condenser_of(migration.condenser_of(found), path)
    except SettingsError as error:
        teller.left("condenser", str(error))
        return
    _take_condenser(teller, theirs)
    model, own = (lenient.text(lenient.mapping(each, "llm"), "model") for each in (document, found))
    if own and own != model:
        words = "the conversation's model writes the summaries; rookery setup condenser --profile"
        teller.left(f"condenser's own model ({own})", words)
    for name, usual in USUAL.items():
        if found.get(name, usual) != usual:
            teller.left(f"condenser.{name}", "there is no such number here")


def _take_condenser(teller: Teller, theirs: profiles.Condenser) -> None:
    words = "condenser: never" if not theirs.enabled else ""
    words = words or f"condenser: over {theirs.max_size} events, keeping {theirs.keep_first}"
    now = profiles.load(teller.home).condenser
    if _same(now, theirs):
        teller.left(words, "it is so already")
    elif now != profiles.Condenser() and not teller.replace:
        teller.left(words, THERE)
    else:
        made = theirs._replace(profile=now.profile, extras=now.extras)
        profiles.change(teller.home, lambda settings: settings._replace(condenser=made))
        teller.took(words)


def _same(one: profiles.Condenser, other: profiles.Condenser) -> bool:
    numbers = [getattr(one, name) == getattr(other, name) for name in NUMBERS]
    return one.enabled == other.enabled and (all(numbers) or not one.enabled)


def critic_and_interface(teller: Teller, folder: str) -> None:
    """`folder`: where its `cli_config.json` lies."""
    path = os.path.join(folder, CLI_CONFIG)
    try:
        document = documents.read(path, private=False)
    except SettingsError as error:
        teller.broken(error)
        return
    if document is None:
        return
    # Before it had a place of its own, the critic's stood at the top.
    found = {key: value for key, value in document.items() if key != "critic"}
    found |= lenient.mapping(document, "critic")
    if "enable_critic" in found:
        _enable(teller, found.pop("enable_critic"))
    for name in [name for name in OURS if name in found]:
        _take(teller, name, found.pop(name))
    if found:
        teller.left(f"{CLI_CONFIG}: {', '.join(sorted(found))}", "settings of another interface")


def _enable(teller: Teller, wanted: object) -> None:
    """OpenHands' critic of our own agent, which is on unless somebody turned it off."""
    words = f"critic.enabled = {str(wanted).lower()}"
    now = profiles.load(teller.home).critic
    if not isinstance(wanted, bool):
        teller.left("enable_critic", "it must be true or false")
    elif wanted == now.enabled:
        teller.left(words, "it is so already")
    elif not now.enabled and not teller.replace:
        teller.left(words, THERE)
    else:
        made = now._replace(enabled=wanted)
        profiles.change(teller.home, lambda settings: settings._replace(critic=made))
        teller.took(words)


def _take(teller: Teller, name: str, value: Any) -> None:
    key = OURS[name]
    words = f"{key} = {str(value).lower() if isinstance(value, bool) else value}"
    try:
        now, stated = _current(teller.home, key)
        if value == now and type(value) is type(now):
            teller.left(words, "it is so already")
        elif stated and not teller.replace:
            teller.left(words, THERE)
        else:
            edit.change(teller.home, {key: value})
            teller.took(words)
    except (config.ConfigError, NotEdited, TypeError) as error:
        teller.left(f"{name} = {value}", str(error))


def _current(home: str, key: str) -> tuple[object, bool]:
    """What holds now, and whether config.toml says so."""
    import tomllib

    table, name = key.split(".")
    holds = getattr(getattr(config.load(home), table), name)
    try:
        with open(os.path.join(home, config.FILE), "rb") as file:
            written: Json = tomllib.load(file)
    except FileNotFoundError:
        written = {}
    return holds, name in lenient.mapping(written, table)
