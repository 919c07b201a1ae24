"""The known agents: which are installed, what is missing, and how to install the rest."""

import os

import rookery
from rookery.agents import programs, registry
from rookery.client.login import status
from rookery.core.agent.addresses import address_of
from rookery.core.json import Json
from rookery.home import config
from rookery.models.choice import has_model


def listed(home: str, settings: config.Config, cwd: str) -> list[Json]:
    """Return a row for each agent with what is known about it without starting anything."""
    environment = os.environ
    rows = []
    for name in registry.names(settings.agents):
        own = name in settings.agents
        entry = None if own else registry.AGENTS[name]
        agent = registry.resolve(name, settings.agents)
        program = agent.argv[0]
        place = programs.find(program, environment, cwd, settings.node_path)
        address = address_of(agent.argv)
        if not own and registry.lacks_module(agent):
            place = None
        on_path = programs.located(agent.argv, environment, settings.node_path)[0] == program
        ours = entry is not None and entry.argv[0] == registry.PYTHON
        bare = name == registry.OWN and not own and not has_model(home)
        rows.append(
            {
                "name": name,
                "title": entry.title if entry else name,
                "argv": agent.argv,
                "own": own,
                "installed": place is not None or bool(address),
                "program": place,
                "address": address,
                "installedHere": _is_below(home, place),
                "onPath": place is not None and on_path,
                "version": rookery.__version__ if ours else None,
                "install": registry.install_hint(name),
                "environment": list(entry.environment) if entry else [],
                "needs": "rookery setup" if bare else "",
                "login": _login(home, agent),
            }
        )
    return rows


def _login(home: str, agent: registry.Agent) -> Json:
    """The login status as of the agent's last run; nothing is started to find it out."""
    known = status.read(home, *agent)
    return {"state": known.state, "account": known.account, "at": known.at}


def _is_below(home: str, place: str | None) -> bool:
    """Whether a program was installed by Rookery."""
    root = os.path.join(home, programs.FOLDER) + os.sep
    return place is not None and place.startswith(root)
