"""The player's scripts (docs/contributing/player.md), checked when they are read: a typing error is
reported at the start."""

import re
from collections.abc import Collection, Mapping, Set
from typing import Any, NamedTuple

from rookery.core.json import Json, loads

type Step = Json
type Steps = list[Step]

ECHO: Steps = [{"text": "You said: $prompt"}]
NESTED = ("late", "allowed", "rejected", "cancelled", "accepted", "declined", "steps", "then")
START_STEPS = ("before_answer", "after_new")
KINDS: dict[str, type] = {"agent": dict, "start": dict, "turns": list, "match": list}


class ScriptError(ValueError):
    """The script is not valid; the message says where."""


class Script(NamedTuple):
    agent: Json
    start: Json
    turns: list[Steps]
    match: list[Json]
    otherwise: Steps

    def steps_for(self, turn: int, text: str) -> Steps:
        """Return what to play for the turn-th prompt (from 0), whose text is `text`."""
        if brings_steps(text):
            return steps_in(text)
        for rule in self.match:
            if _applies(rule, text):
                return list(rule["steps"])
        return self.turns[turn] if turn < len(self.turns) else self.otherwise


def _applies(rule: Json, text: str) -> bool:
    if "regex" in rule:
        return re.search(rule["regex"], text) is not None
    return rule["contains"] in text


def brings_steps(text: str) -> bool:
    return text.lstrip().startswith('{"play"')


def steps_in(text: str) -> Steps:
    """Return the steps that a prompt brings."""
    try:
        value = loads(text)
    except ValueError as error:
        raise ScriptError(f"the prompt is not JSON: {error}") from None
    steps = value.get("play") if isinstance(value, dict) else None
    if not isinstance(steps, list):
        raise ScriptError('expected {"play": [steps]}')
    return steps


def read_script(text: str | bytes, verbs: Collection[str]) -> Script:
    try:
        value = loads(text)
    except ValueError as error:
        raise ScriptError(f"the script is not JSON: {error}") from None
    return script_of(value, verbs)


def script_of(value: Any, verbs: Collection[str]) -> Script:
    if not isinstance(value, dict):
        raise ScriptError("a script is a JSON object")
    check_keys(value, {"agent", "start", "turns", "match", "otherwise", "about"})
    for key, kind in KINDS.items():
        if not isinstance(value.get(key, kind()), kind):
            raise ScriptError(f"{key} is not {'a list' if kind is list else 'an object'}")
    given = {key: value.get(key, kind()) for key, kind in KINDS.items()}
    script = Script(**given, otherwise=value.get("otherwise", ECHO))
    for number, steps in enumerate(script.turns):
        check_steps(steps, verbs, f"turns[{number}]")
    rules: list[Any] = script.match
    for number, rule in enumerate(rules):
        sought = rule.get("regex", rule.get("contains")) if isinstance(rule, dict) else None
        if not isinstance(sought, str):
            raise ScriptError(f'match[{number}] needs "contains" or "regex"')
        check_steps(rule.get("steps"), verbs, f"match[{number}].steps")
    check_steps(script.otherwise, verbs, "otherwise")
    for key in START_STEPS:
        check_steps(script.start.get(key, []), verbs, f"start.{key}")
    return script


OFFERS = {"modes": "id", "configOptions": "id", "commands": "name"}
"""Keys that an agent may offer, and the field that each of their entries must have."""


def check_offers(agent: Json) -> None:
    """Raise ScriptError for an offer that is no list, or an entry without its name."""
    for key, needed in OFFERS.items():
        given = agent.get(key) or []
        where = f"agent: {key}"
        if key == "modes" and isinstance(given, dict):  # ACP's own shape
            given, where = given.get("availableModes"), f"{where}.availableModes"
        if not isinstance(given, list):
            raise ScriptError(f"{where} is not a list")
        for number, entry in enumerate(given):
            if not isinstance(entry, dict) or not isinstance(entry.get(needed), str):
                raise ScriptError(f'{where}[{number}] is not an object with "{needed}"')
    for number, option in enumerate(agent.get("configOptions") or []):
        if "currentValue" not in option:
            raise ScriptError(f'agent: configOptions[{number}] needs "currentValue"')


def check_keys(value: Json, known: Set[str], where: str = "") -> None:
    if unknown := value.keys() - known:
        raise ScriptError(f"{where}unknown keys: {', '.join(sorted(unknown))}")


def check_steps(steps: Any, verbs: Collection[str], where: str) -> None:
    if not isinstance(steps, list):
        raise ScriptError(f"{where} is not a list of steps")
    for number, step in enumerate(steps):
        place = f"{where}[{number}]"
        if not isinstance(step, dict) or not step:
            raise ScriptError(f"{place} is not a step: an object that begins with a verb")
        verb = next(iter(step))
        if verb not in verbs:
            raise ScriptError(f"{place}: unknown verb {verb!r}; known: {', '.join(sorted(verbs))}")
        inner = step[verb] if isinstance(step[verb], dict) else {}
        for key in NESTED:
            for holder in (inner, step):
                if verb != "update" and key in holder:
                    check_steps(holder[key], verbs, f"{place}.{key}")


def fill(value: Any, variables: Mapping[str, str]) -> Any:
    """Replace $NAMES in every text of a step, but not in the steps inside it: those are filled when
    they are played."""
    if isinstance(value, str):
        if "$" in value:
            for word, meaning in variables.items():
                value = value.replace("$" + word, meaning)
        return value
    if isinstance(value, dict):
        return {
            key: item if key in NESTED and isinstance(item, list) else fill(item, variables)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [fill(item, variables) for item in value]
    return value
