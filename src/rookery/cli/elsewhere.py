"""Rookery's own agent for a conversation on another machine: --remote and --cloud."""

import importlib.util
import os

import click

from rookery.agents import elsewhere, registry
from rookery.cli import target
from rookery.home import paths


def own_agent(remote: str | None, cloud: bool, **others: object) -> registry.Agent | None:
    """Return the agent that --remote or --cloud asks for, or None if neither was given. They cannot
    be combined with `others`. Raises ClickException if something is missing that would fail the
    first turn."""
    if remote is None and not cloud:
        return None
    name = "--cloud" if remote is None else "--remote"
    if other := next((key for key, value in others.items() if value), ""):
        raise click.UsageError(f"{name} and --{other} cannot be combined.")
    target.only_here(name)
    try:
        agent = elsewhere.own_agent(remote, cloud=cloud)
    except ValueError as error:
        raise click.BadParameter(f"{error}.", param_hint="--remote") from None
    require_extra()
    if cloud:
        _check_login(remote)
    return agent


def _check_login(remote: str | None) -> None:
    from rookery.agent.elsewhere import keys
    from rookery.agent.process.place import Place, plain_url

    place = Place(plain_url(remote or elsewhere.CLOUD), cloud=True)
    if not keys.key_of(paths.home(), place, os.environ):
        line = f"rookery agents add cloud --cloud{f' --remote {place.url}' if remote else ''}"
        raise click.ClickException(f"You are not logged in at {place.url}. To log in: {line}")


def require_extra() -> None:
    """Raise ClickException if the extra with the agent's libraries is not installed."""
    if importlib.util.find_spec("httpx") is None or importlib.util.find_spec("openhands") is None:
        raise click.ClickException(registry.missing_extra("Rookery's own agent", "agent"))
