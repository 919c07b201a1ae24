"""A glance at the saved models, for whoever shows them: no key leaves this module, nothing is
checked or brought up to date. Who uses or changes them is the agent and `rookery setup`."""

import json
import os
from typing import Any, NamedTuple

from rookery.core import loose

FILE = "agent_settings.json"


class Saved(NamedTuple):
    name: str
    model: str
    base_url: str = ""
    timeout: float | None = None
    has_key: bool = False
    default: bool = False


class Condensing(NamedTuple):
    """When a long conversation is shortened."""

    enabled: bool = True
    max_size: int = 80
    keep_first: int = 4
    profile: str = ""


class Judging(NamedTuple):
    """Who of the agent's own judges a turn: a saved model, or "": the API's critic."""

    enabled: bool = True
    judge: str = ""


class Glance(NamedTuple):
    models: tuple[Saved, ...] = ()
    condensing: Condensing = Condensing()
    problem: str = ""
    """Why nothing could be read."""
    judging: Judging = Judging()

    @property
    def chosen(self) -> Saved | None:
        """The one that new sessions use."""
        return next((each for each in self.models if each.default), None)


def glance(home: str) -> Glance:
    path = os.path.join(home, FILE)
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read())
    except FileNotFoundError:
        return Glance()
    except (OSError, ValueError, RecursionError):
        return Glance(problem=f"{path} cannot be read: rookery setup --list says why.")
    profiles = loose.mapping(found, "profiles") or _older(found)
    named = loose.text(found, "default")
    chosen = named if named in profiles else next(iter(profiles), "")
    saved = (_saved(name, each, default=name == chosen) for name, each in profiles.items())
    critic = loose.mapping(found, "critic")
    judging = Judging(critic.get("enabled") is not False, loose.text(critic, "judge").strip())
    condensing = _condensing(loose.mapping(found, "condenser"))
    return Glance(tuple(saved), condensing, judging=judging)


def _older(found: Any) -> dict[str, Any]:
    """Shapes that are brought up to date when the agent first reads them."""
    inner = loose.mapping(found, "llm")
    one = inner if loose.text(inner, "model") else found
    return {"default": one} if loose.text(one, "model") else {}


def _saved(name: str, value: object, *, default: bool) -> Saved:
    return Saved(
        name,
        loose.text(value, "model"),
        loose.text(value, "base_url"),
        loose.number(value, "timeout"),
        bool(loose.text(value, "api_key")),
        default,
    )


def _condensing(value: Any) -> Condensing:
    usual = Condensing()
    size, first = loose.integer(value, "max_size"), loose.integer(value, "keep_first")
    return Condensing(
        not isinstance(value, dict) or value.get("enabled") is not False,
        usual.max_size if size is None else size,
        usual.keep_first if first is None else first,
        loose.text(value, "profile"),
    )
