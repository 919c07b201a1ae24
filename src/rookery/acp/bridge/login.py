"""Logging in through the bridge: the methods that an editor is offered, and what they do.

The logins are those of the agents on this machine. `rookery` says that they are to be used as they
are; each method of an agent that has been started is offered as AGENT/METHOD with the error that
asks for it; a terminal runs `rookery agents login`."""

import os
import sys

from rookery.agents import registry
from rookery.client.config import in_force
from rookery.client.guard import require_person
from rookery.client.login import status
from rookery.client.login.agent import LoginAgent, LoginFailed
from rookery.core.header import Header
from rookery.core.json import lenient
from rookery.core.turn.remedies import LOG_IN
from rookery.core.vendors import logins
from rookery.home.config import Config, ConfigError
from rookery.models.choice import has_model
from rookery.wire.greeting import LOGIN
from rookery.wire.jsonrpc import RpcError
from rookery.wire.params import AUTH_REQUIRED, Json, invalid


async def authenticate(home: str, agent: registry.Agent, config: Config, wanted: object) -> None:
    """Log in. `agent`: that of new sessions. Raises RpcError, FromAgent."""
    name, _, method = str(wanted).partition("/")
    try:
        if wanted == LOGIN:
            await _check(home, agent, config)
            return
        agent = agent if agent.name == name else registry.resolve(name, config.agents)
        require_person(home, "log in to agents")
        async with LoginAgent(home, agent, config) as running:
            known = {each.id: each for each in running.methods if each.kind == logins.AGENT}
            if method not in known:
                raise invalid("unknown authentication method")
            await running.authenticate(known[method])
    except registry.UnknownAgent:
        raise invalid("unknown authentication method") from None
    except LoginFailed as error:
        raise RpcError(AUTH_REQUIRED, str(error), offered(home, agent)) from None


async def _check(home: str, agent: registry.Agent, config: Config) -> None:
    """Raise RpcError if a login is missing according to the agent. Raises LoginFailed."""
    if state(home, agent)["state"] != logins.OUT:
        return
    if agent.name == registry.OWN:
        raise RpcError(AUTH_REQUIRED, "Rookery's own agent needs a model: rookery setup")
    async with LoginAgent(home, agent, config) as running:
        known = await running.learn()
    if known.is_out and known.tells:
        message = f"{agent.name} is not logged in. To log in: {LOG_IN} {agent.name}"
        raise RpcError(AUTH_REQUIRED, message, offered(home, agent))


def state(home: str, agent: registry.Agent) -> Json:
    """Return the answer to `auth/status`."""
    if agent.name == registry.OWN:
        return {"state": logins.IN if has_model(home) else logins.OUT}
    if agent.name == registry.DEMO:
        return {"state": logins.NOT_NEEDED}
    known = status.read(home, *agent)
    accounts = [{"label": known.account, "active": True}] if known.account else []
    return {"state": known.state} | ({"accounts": accounts} if accounts else {})


def offered(home: str, agent: registry.Agent) -> Json:
    """Return the data of an error that asks for a login: the agent's methods, via the bridge."""
    listed = []
    for method in status.read(home, *agent).methods():
        about: Json = {"id": f"{agent.name}/{method.id}", "name": f"{agent.name}: {method.name}"}
        about |= {"description": method.about} if method.about else {}
        if method.kind == logins.TERMINAL:
            listed.append(about | {"type": "terminal", "args": ["--login", "--method", method.id]})
        elif method.kind == logins.AGENT:
            listed.append(about)
    return {"authMethods": listed} if listed else {}


def data_of(home: str, header: Header, error: Json) -> Json:
    """Return the data of an agent's error that asks for a login, in this header's session."""
    data = lenient.mapping(error, "data")
    try:
        agent = registry.Agent(header.agent, header.argv)
        known = agent if agent.argv else registry.resolve(agent.name, in_force.load(home).agents)
        return data | offered(home, known)
    except (registry.UnknownAgent, ConfigError):
        return data


def run(given: dict[str, str], agent: registry.Agent) -> int:
    """Run `rookery acp --login` in a terminal: becomes `rookery agents login`."""
    method = ["--method", given["method"]] if given.get("method") else []
    which = ["--cmd", given["cmd"]] if given.get("cmd") else [agent.name]
    line = [sys.executable, "-P", "-m", "rookery", "agents", "login", *which, *method]
    os.execv(sys.executable, line)
