"""`setup condenser`: when a long conversation is shortened."""

from typing import Any

import click

from rookery.cli import exits
from rookery.cli.look.safe import clean_line
from rookery.cli.look.screen import Screen
from rookery.models import profiles
from rookery.models.documents import SettingsError

NONE = "none"


def choose(screen: Screen, home: str, given: dict[str, Any]) -> int:
    """Without anything given, it is said as it stands."""
    wanted = {key: value for key, value in given.items() if value is not None}
    settings = profiles.load(home)
    if profile := wanted.get("profile"):
        wanted["profile"] = "" if profile == NONE else profile
        if wanted["profile"] and profile not in settings.profiles:
            known = ", ".join(settings.profiles) or "there are none"
            words = f"there is no saved model {profile!r}; saved: {known}."
            raise click.BadParameter(words, param_hint="--profile")
    if wanted:
        try:
            settings = profiles.change(home, lambda now: _changed(now, wanted))
        except SettingsError as error:
            raise click.UsageError(str(error)) from None
    screen.line(_words(settings.condenser))
    return exits.DONE


def _changed(now: profiles.Settings, wanted: dict[str, Any]) -> profiles.Settings:
    """Checked as if it stood in the file."""
    made = now.condenser._replace(**wanted)
    return now._replace(condenser=profiles.condenser_of(made.to_json(), profiles.FILE))


def _words(condenser: profiles.Condenser) -> str:
    if not condenser.enabled:
        return "Long conversations are never shortened."
    by = f", by {clean_line(condenser.profile)}" if condenser.profile else ""
    return (
        f"Over {condenser.max_size} events, all but the first {condenser.keep_first} and the "
        f"latest are summed up{by}."
    )
