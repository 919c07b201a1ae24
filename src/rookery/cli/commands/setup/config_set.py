"""`config set`: changes one setting in config.toml; its comments and order stay."""

import click

from rookery.cli import exits
from rookery.cli.output.safe import clean_line
from rookery.cli.output.screen import standard
from rookery.cli.session.form_fields import TRUTHS
from rookery.client.config import edit
from rookery.client.config.rules import NotEdited
from rookery.core.limits import Setting, written
from rookery.core.settings import definitions
from rookery.home import paths


@click.command("set")
@click.argument("key")
@click.argument("value")
def set_(key: str, value: str) -> int:
    """Set one value in config.toml; "default" removes it.

    \b
    rookery config set session.confirm risky
    rookery config set default_agent claude
    rookery config set worker.cancel_grace default
    """
    setting = definitions.find(key)
    if setting is None or setting not in definitions.SINGLE:
        words = (
            f"{clean_line(key)!r} is not a setting with one value. `rookery config explain` "
            "lists all settings."
        )
        raise click.BadParameter(words, param_hint="KEY")
    if setting is definitions.OLDER:
        words = "this is the old name. Use: rookery config set session.confirm all"
        raise click.BadParameter(words, param_hint="KEY")
    given = None if value == "default" else _typed(setting, value)
    try:
        edit.change(paths.ensure_home(paths.home()), {setting.key: given})
    except NotEdited as error:
        raise click.ClickException(str(error)) from None
    said = "the default" if given is None else written(given)
    screen = standard()
    screen.note(f"{setting.key} is now {clean_line(said)}. It takes effect {setting.effect}.")
    return exits.DONE


def _typed(setting: Setting, value: str) -> str | float | int | bool:
    """As TOML would have it."""
    default = setting.default
    if isinstance(default, bool):
        return TRUTHS.get(value.lower(), value)
    if isinstance(default, int | float):
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
    return value
