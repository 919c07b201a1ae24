"""The sections of the settings: every form and every list, with what all faces call it."""

from typing import NamedTuple

from rookery.core.limits import CRITICS, INTERFACES, NUMBERS, Setting
from rookery.core.settings import definitions
from rookery.core.settings.devices import DEVICES
from rookery.core.settings.notify import NOTIFY
from rookery.core.settings.sandbox import SANDBOX
from rookery.core.settings.web import WEB


class Section(NamedTuple):
    title: str
    about: str
    settings: tuple[Setting, ...] = ()
    """Those of config.toml that the form has."""
    add: str = ""
    """The label of what adds an entry to a list."""
    empty: str = ""
    """What a list says that has none."""


LISTS = {
    "models": Section(
        "Models",
        "Models for Rookery's own agent. Other agents bring their own.",
        add="Add a model",
        empty="No models yet. Rookery's own agent needs one.",
    ),
    "servers": Section(
        "MCP servers",
        "Every agent gets these servers when it starts.",
        add="Add a server",
        empty="No MCP servers yet.",
    ),
    "agents": Section("Agents", "Agents that can run sessions.", add="Add your own"),
    "rules": Section(
        "Rules",
        "Rules answer for you, also in running sessions. The first match decides; deny beats "
        "allow.",
        add="Add a rule",
        empty='No rules yet. You can also answer an ask with "always".',
    ),
}
FORMS = {
    "worker": Section(
        "Sessions and workers",
        "For all sessions that start from now on.",
        (*definitions.PLAIN, *definitions.SESSION, *definitions.AGENT),
    ),
    "sandbox": Section(
        "Sandbox",
        "What the agents of new sessions can reach. Safe to combine with Approve all.",
        SANDBOX,
    ),
    "web": Section("Web", "What Rookery's own agent reads of the web, and who searches it.", WEB),
    "limits": Section("Times and limits", "Empty: the default.", (*NUMBERS, *DEVICES)),
    "critic": Section(
        "Critic", "What judges finished turns, and what a poor verdict does.", CRITICS
    ),
    "condenser": Section(
        "Long conversations", "When Rookery's own agent summarises a long conversation."
    ),
    "notify": Section(
        "Notifications",
        "What is sent, and where. The daemon sends it while no page is open.",
        NOTIFY,
    ),
    "interface": Section("Terminal interface", "How Rookery looks in a terminal.", INTERFACES),
}
SECTIONS = LISTS | FORMS
