"""Prompts that an agent refused for lack of a login: sent again once the user has logged in.

Each is sent once: the id of its command is derived from the turn that failed, and a session
executes no command twice."""

import time
from contextlib import suppress

from rookery.agents import registry
from rookery.agents.registry import Agent
from rookery.client.fleet import heads
from rookery.client.session import SessionClient
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.core.turn.remedies import wants_login
from rookery.core.view.fleet import is_hidden
from rookery.home import paths
from rookery.home.config import Config
from rookery.log.errors import LogError
from rookery.log.reader import Reader


def waiting(home: str, agent: Agent, *, named: bool) -> list[str]:
    """Return the sessions of an agent whose last prompt waits for a login, except those that the
    user put away. Not `named`: those that were created with the agent's command."""
    sessions, now = [], time.time() * 1000
    for head in heads(home):
        if head["agent"] != agent.name or head.get("damaged") or is_hidden(head, now):
            continue
        try:
            with Reader.open(paths.session_dir(home, head["id"])) as log:
                header = log.header()
                if header.argv == ([] if named else agent.argv) and _prompt(log, header):
                    sessions.append(head["id"])
        except (LogError, OSError):
            continue
    return sessions


def resolve(home: str, config: Config, name: str) -> tuple[Agent, bool]:
    """Return an agent, and whether the settings know its name; if they do not, the agent is taken
    from the newest session that was created with its command. Raises UnknownAgent."""
    try:
        return registry.resolve(name, config.agents), True
    except registry.UnknownAgent:
        for head in heads(home):
            if head["agent"] != name or head.get("damaged"):
                continue
            with (
                suppress(LogError, OSError),
                Reader.open(paths.session_dir(home, head["id"])) as log,
            ):
                if argv := log.header().argv:
                    return Agent(name, list(argv)), False
        raise


async def send(home: str, session: str, client: str = "cli", *, terminal: bool = True) -> bool:
    """Restart the agent and send it the prompt; return whether there was one to send. `terminal`:
    the session gets this process's environment.

    Raises what `SessionClient.send` does."""
    with SessionClient(home, session, client) as link:
        header = link.log.header()
        if not (prompt := _prompt(link.log, header)):
            return False
        turn = header.turn
        command: Json = {"do": "prompt", "prompt": prompt, "id": f"login-{turn}-prompt"}
        if terminal:
            await link.renew(command)
        await link.send({"do": "restart", "id": f"login-{turn}-restart"})
        await link.send(command)
    return True


def _prompt(log: Reader, header: Header) -> list[Json]:
    """The prompt of the turn that failed; empty if it did not fail for lack of a login."""
    if not wants_login(header):
        return []
    prompts = [event.update for event in log.of_kinds("_prompt")[-1:]]
    return [
        block
        for update in prompts
        if update.get("turn") == header.turn
        for block in lenient.mappings(update, "prompt")
    ]
