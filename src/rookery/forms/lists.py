"""Lists of what is saved, as rows: models, MCP servers, agents, rules."""

import os
import time
from typing import NamedTuple

from rookery.agents import registry
from rookery.client.config.rules import key_of
from rookery.client.login import status
from rookery.client.login.servers import has_login
from rookery.core.policy.rules import Rule, described
from rookery.forms.servers import values
from rookery.home import config, mcp
from rookery.models import profiles
from rookery.models.choice import default_agent, has_model
from rookery.render.session_state import login_words

SIGNS = {"allow": "on", "deny": "bad", "ask": "off"}


class Row(NamedTuple):
    name: str
    title: str
    more: str = ""
    sign: str = ""
    """on, off or bad; "": none."""
    tag: str = ""
    """A word after the title: current, default."""
    login: bool = False
    """Whether one can log in to it."""


# --- models ------------------------------------------------------------------------------------


def model_rows(saved: profiles.Settings) -> list[Row]:
    return [
        Row(each.name, each.name, _model(each), "on", "default" if each == saved.chosen else "")
        for each in saved.profiles.values()
    ]


def _model(each: profiles.Profile) -> str:
    key = "key saved" if each.key else "no key saved"
    details = [each.model, each.base_url, key]
    return " · ".join(detail for detail in details if detail)


# --- MCP servers -------------------------------------------------------------------------------


def server_row(home: str, server: mcp.Server) -> Row:
    shown = values(server)
    what = server.fault or shown["command" if server.kind == "stdio" else "url"]
    sign = "bad" if server.fault else ("on" if server.enabled else "off")
    tags = [] if server.enabled else ["off"]
    tags += ["logged in"] if has_login(home, server) else []
    remote = not server.fault and server.kind != "stdio"
    return Row(server.name, server.name, what, sign, " ".join(tags), login=remote)


# --- rules -------------------------------------------------------------------------------------


def rule_row(rule: Rule) -> Row:
    more = f"rule {rule.name}" + (f" · {rule.reason}" if rule.reason else "")
    return Row(key_of(rule), f"{rule.do} {described(rule)}", more, SIGNS[rule.do])


# --- agents ------------------------------------------------------------------------------------


class Known(NamedTuple):
    entry: registry.Entry
    installed: bool
    default: bool
    bare: bool
    """Rookery's own, without a model."""
    own: bool = False
    """The user's."""
    login: status.Known = status.Known()


def agents(home: str, cwd: str) -> list[Known]:
    """Return all agents, the installed ones first. Raises ConfigError."""
    settings = config.load(home)
    default = default_agent(home, settings.default_agent, os.environ)
    listed = []
    for name in registry.names(settings.agents):
        agent = registry.resolve(name, settings.agents)
        own = name in settings.agents
        given = registry.Entry(name, name, ()) if own else registry.AGENTS[name]
        entry = given if given.module else given._replace(package=registry.install_hint(name))
        installed = registry.is_installed(agent, os.environ, cwd, settings.node_path)
        bare = name == registry.OWN and not own and not has_model(home)
        login = status.read(home, *agent)
        listed.append(Known(entry, installed, name == default, bare, own, login))
    return sorted(listed, key=lambda each: not each.installed)


def agent_row(each: Known, current: str = "", bare: str = "no model yet") -> Row:
    """Return an agent's row. `current`: the agent of the session that is shown."""
    name, title = each.entry[:2]
    tags = ["current"] * (name == current) + ["default"] * each.default
    title = name if title.lower() == name else f"{name} · {title}"
    login_state = login_words(*each.login[:3], time.time() * 1000) if name != registry.OWN else ""
    ready = bare if each.bare else " · ".join(filter(None, ("installed", login_state)))
    sign, more = ("on", ready) if each.installed else ("off", "not installed")
    login = each.installed and name not in (registry.OWN, registry.DEMO)
    return Row(name, title, more, sign, ", ".join(tags), login)
