"""`rookery agents add`: adds Rookery's own agent on an agent server, in OpenHands Cloud or in a
container, under a name. It is tried before it is added; a key is saved."""

import shutil
import sys
from collections.abc import Mapping
from typing import Any

import click

from rookery.agent.elsewhere import keys
from rookery.agent.process.arguments import parse
from rookery.agent.process.place import Place, plain_url
from rookery.agent.provider.told import ActionableError
from rookery.agents import registry
from rookery.agents.elsewhere import CLOUD
from rookery.cli import exits, flags, settings
from rookery.cli.elsewhere import require_extra
from rookery.cli.output import Screen, standard
from rookery.cli.setup.agent_image import check_name
from rookery.client.config import own_agents
from rookery.client.guard import require_person
from rookery.core.json.safe_text import clean_line
from rookery.forms.agents import NAME
from rookery.home import paths
from rookery.models.secrets import Secret
from rookery.sandbox import engine


def add(name: str, where: Mapping[str, Any]) -> int:
    """Add the agent and return the exit code. `where`: the options of the command."""
    place = None if where["container"] else _place(where)
    if not NAME.fullmatch(name) or name in registry.AGENTS:
        rule = "must be letters, digits, - and _, at most 40, and not a known agent's"
        raise click.UsageError(f"The name {rule}.")
    home, screen = paths.home(), standard()
    require_person(home, "add agents")
    if place is None:
        _try_container(where)
    else:
        require_extra()
        key = _key(screen, place)
        outcome = _tried(place, Secret(key))
        path = keys.save(home, place.url, key)
        screen.note(f"{outcome} The key is in {paths.with_tilde(path)}." if key else outcome)
    command = _command(where)
    own_agents.put(home, name, {"command": command})
    screen.result({"name": name, "command": command})
    screen.note(f'Added {name}. To use it: rookery run --agent {name} "…"')
    return exits.DONE


def _place(where: Mapping[str, Any]) -> Place:
    """Return the place where the agent runs. Raises UsageError."""
    if where["image"]:
        raise click.UsageError("--image is only for --container.")
    if not (where["remote"] or where["cloud"]):
        raise click.UsageError("Say where it runs: --remote URL, --cloud or --container.")
    parsed = parse(_options(where))
    if isinstance(parsed, str):
        fault = parsed.partition("\n")[0]
        raise click.UsageError(fault[0].upper() + fault[1:] + ".")
    return Place(plain_url(parsed.remote or CLOUD), parsed.cloud)


def _try_container(where: Mapping[str, Any]) -> None:
    """Check that the container can be used. Raises UsageError, SandboxError."""
    if others := [f"--{name}" for name in ("remote", "cloud", "directory") if where[name]]:
        raise click.UsageError(f"--container cannot be combined with {others[0]}.")
    check_name(where["image"] or "")
    engine.check(settings.load().sandbox, _command(where))


def _key(screen: Screen, place: Place) -> str:
    """Read the key, never from the command line, which others can read."""
    if not flags.at_keyboard():
        return sys.stdin.readline().strip() if sys.stdin is not None else ""
    asked = "Token (empty: log in with a browser)" if place.cloud else "Key (empty: it needs none)"
    key = str(click.prompt(asked, default="", hide_input=True, show_default=False, err=True))
    return key.strip() or (_by_browser(screen, place) if place.cloud else "")


def _by_browser(screen: Screen, place: Place) -> str:
    from rookery.agent.elsewhere import device_flow

    try:
        begun = device_flow.begin(place.url)
        code = f" and confirm the code {begun.code}" if begun.code else ""
        screen.note(clean_line(f"Open {begun.url}{code}. Rookery waits; Ctrl-C gives up."))
        return device_flow.wait(place.url, begun)
    except ActionableError as error:
        raise click.ClickException(str(error)) from None


def _tried(place: Place, key: Secret) -> str:
    """Try the key there and return what the other side says. Raises ClickException."""
    from rookery.agent.elsewhere.cloud import Cloud
    from rookery.agent.elsewhere.server import AgentServer

    try:
        if place.cloud:
            return clean_line(f"Logged in at {place.url} as {Cloud(place, key).check()}.")
        version = AgentServer(place, place.url, key).check().get("version") or "unknown"
        return f"The agent server at {place.url} answers (version {clean_line(str(version))})."
    except ActionableError as error:
        raise click.ClickException(str(error)) from None


def _command(where: Mapping[str, Any]) -> list[str]:
    own = ["rookery"] if shutil.which("rookery") else [sys.executable, "-P", "-m", "rookery"]
    return [*own, "agent", *_options(where)]


def _options(where: Mapping[str, Any]) -> list[str]:
    return flags.spelled(**where)
