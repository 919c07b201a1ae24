"""`setup critic`: who of Rookery's own agent judges its turns."""

from typing import Any

import click

from rookery.cli import exits
from rookery.cli.look.safe import clean_line
from rookery.cli.look.screen import Screen
from rookery.models import profiles
from rookery.models.critic import Critic

NONE = "none"


def choose(screen: Screen, home: str, given: dict[str, Any]) -> int:
    """Without anything given, it is said as it stands."""
    wanted = {key: value for key, value in given.items() if value is not None}
    settings = profiles.load(home)
    if judge := wanted.get("judge"):
        wanted["judge"] = "" if judge == NONE else judge
        if wanted["judge"] and judge not in settings.profiles:
            known = ", ".join(settings.profiles) or "there are none"
            words = f"there is no saved model {judge!r}; saved: {known}."
            raise click.BadParameter(words, param_hint="--judge")
    if wanted:
        settings = profiles.change(
            home, lambda now: now._replace(critic=now.critic._replace(**wanted))
        )
    screen.line(_words(settings.critic, settings))
    return exits.DONE


def _words(critic: Critic, settings: profiles.Settings) -> str:
    if not critic.enabled:
        return "Rookery's own agent has no critic of its own."
    if critic.judge and critic.judge not in settings.profiles:
        gone = clean_line(critic.judge)
        return f"Turns are judged by nobody: the model {gone} is gone. --judge names another."
    if critic.judge:
        return f"Turns are judged by the model {clean_line(critic.judge)}."
    return "Turns are judged by OpenHands' critic where the model comes from its proxy, else not."
