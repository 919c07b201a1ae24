"""Names on the command line: a session by its id, prefix or title; an agent by its name."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from rookery.home import paths

if TYPE_CHECKING:
    from rookery.agents.registry import Agent


def find_session(_context: click.Context, _parameter: click.Parameter, value: Any) -> Any:
    from rookery.client.fleet import find

    if isinstance(value, tuple):
        return tuple(dict.fromkeys(find(paths.home(), name) for name in value))
    return value if value is None else find(paths.home(), value)


def complete_sessions(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from rookery.cli.output.safe import clean_line
    from rookery.client.fleet import heads

    found = []
    try:
        known = heads(paths.home())
    except (OSError, paths.PathError):
        return []
    for head in known:
        title = clean_line(head["title"])
        if head["id"].startswith(incomplete):
            found.append(CompletionItem(head["id"], help=title or head["agent"]))
        elif incomplete and title.startswith(incomplete) and " " not in title:
            found.append(CompletionItem(title, help=head["id"]))
    return found


def complete_agents(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from rookery.agents import registry
    from rookery.home import config

    try:
        custom = config.load(paths.home()).agents
    except config.ConfigError:
        custom = {}
    return [
        CompletionItem(name, help=None if name in custom else registry.AGENTS[name].title)
        for name in registry.names(custom)
        if name.startswith(incomplete)
    ]


def agent_of_command(
    line: str, environment: Mapping[str, str] | None = None, node_path: str = ""
) -> "Agent":
    """The agent that --cmd starts. Raises click.BadParameter."""
    from rookery.agents import registry

    try:
        return registry.from_command(line, environment, node_path)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--cmd") from None


session_argument = click.argument(
    "session", callback=find_session, shell_complete=complete_sessions
)
"""Passed to the command as the session's id."""

sessions_argument = click.argument(
    "sessions",
    nargs=-1,
    required=True,
    metavar="SESSION...",
    callback=find_session,
    shell_complete=complete_sessions,
)
