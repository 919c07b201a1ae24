"""The first screen, made of blocks: what is set up, what is missing and the key that helps, and
what a key starts while nothing is written."""

import glob
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from rookery import agents, models
from rookery.client import config as client_config
from rookery.core.blocks import Block, make_block
from rookery.core.json.safe_text import count
from rookery.core.limits import Interface
from rookery.core.policy import modes
from rookery.core.refusals import Refused
from rookery.core.settings.held import WAITS
from rookery.core.vendors.demo import NAME, SECOND, TOUR
from rookery.core.vendors.detection import vendor_of
from rookery.core.vendors.profiles import vendor_profile
from rookery.core.view.fleet import NO_TITLE
from rookery.home import config, mcp, paths
from rookery.render.runs import clean_line, cut
from rookery.tui.transcript.window import Page, Window

if TYPE_CHECKING:
    from rookery.home.config import Config
    from rookery.operations.calling.interface import Rookery


NAMED = 6
"""Names of one kind that are listed."""

MARK = """\
\x1b[36m█▄█▄█\x1b[0m
\x1b[36m ███ \x1b[0m  \x1b[1mRookery\x1b[0m
\x1b[36m▟███▙\x1b[0m  Coding agents that carry on when you leave."""
"""A rook."""

LOOK = "Give me a short tour of this project. Change nothing."
"""The first prompt for an agent that has a model."""

MAX_TITLE_LENGTH = 40

FOLDERS = (".agents", ".claude", ".openhands")
"""Directories that hold skills, in the user's home and in the project."""
OWN = "rookery"
"""The agent that loads skills and hooks, and has a saved model."""


class Way(NamedTuple):
    """Where the first screen's key leads: to a new session with `prompt`, or to an existing
    `session`."""

    label: str
    """After the key."""
    prompt: str = ""
    session: str = ""


class SetUp(NamedTuple):
    cwd: str
    agent: str = "demo"
    chosen: bool = False
    """Whether the user chose that agent."""
    installed: tuple[str, ...] = ()
    confirm: str = modes.EVERY
    """How much a new session asks."""
    sessions: int = 0
    problem: str = ""
    model: str = ""
    """Of Rookery's own agent; empty: none."""
    skills: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    """By name: what the agent at hand loads."""
    troubles: tuple[str, ...] = ()
    """What cannot be used."""
    broken: str = ""
    """What is wrong with an MCP server."""
    is_out: bool = False
    """The agent was not logged in when it last ran."""
    taste: Interface | None = None
    keys: tuple[tuple[str, str], ...] = ()
    """The user's own."""
    here: bool = True
    """Whether it is this machine's."""


type Names = Callable[[str], str]
"""A key's name on the keyboard."""


def way_in(agent: str, sessions: list[Block], *, new: bool) -> Way:
    """Return where the first screen's key leads. `new`: the user asked for a new session."""
    if sessions and not new:
        first = sessions[0]
        title = cut(clean_line(str(first["title"])), MAX_TITLE_LENGTH)
        what = f"session {first['id']}" if title in ("", NO_TITLE) else f"“{title}”"
        why = ", which needs you" if first["status"] == "needs-you" else ""
        why = why or (", with news to read" if first["unread"] else "")
        return Way(f"opens {what}{why}", session=str(first["id"]))
    if agent != NAME:
        return Way(f"asks {agent} for a short tour of this project", prompt=LOOK)
    if sessions:
        return Way("starts another session of the demo", prompt=SECOND)
    return Way("starts a tour with the demo agent", prompt=TOUR)


def window_of(set_up: SetUp, key: Names, way: Way) -> Window:
    window = Window()
    mark = make_block("0.mark", "answer", parts=[{"type": "terminal", "text": MARK}])
    welcome = make_block("0.splash", "answer", text=_welcome(set_up, key, way))
    blocks = [mark, welcome, *_missing(set_up, key)]
    window.pages = [Page(0, {block["id"]: block for block in blocks})]
    return window


def _welcome(set_up: SetUp, key: Names, way: Way) -> str:
    of = "" if set_up.agent == NAME else f" for {set_up.agent}"
    why = ", which needs no account" if set_up.agent == NAME and not set_up.chosen else ""
    lines = [
        f"**{key('composer.send')}** {way.label}. Or write a task{of} below.",
        "",
        f"- directory: `{paths.with_tilde(set_up.cwd)}`",
        f"- agent: `{set_up.agent}`{why}",
    ]
    if set_up.here:
        lines.append(f"- approvals: {_asks(set_up)} (`{key('confirm')}`)")
    if set_up.model and set_up.agent == OWN:
        lines.append(f"- model: `{set_up.model}`")
    loaded = {"skills": set_up.skills, "hooks": set_up.hooks, "MCP servers": set_up.servers}
    lines += [f"- {noun}: {_names(names)}" for noun, names in loaded.items() if names]
    if set_up.installed:
        others = ", ".join(f"`{name}`" for name in set_up.installed)
        lines += [f"- also installed: {others}" + (f" (`{key('agents')}`)" if set_up.here else "")]
    elif set_up.here:
        lines += [f"- no other agents installed: `{key('agents')}` shows how to get one"]
    if set_up.sessions:
        lines += [f"- {count(set_up.sessions, 'session')}: `{key('session.list')}` opens the list"]
    opens = f", `{key('settings')}` opens the settings" if set_up.here else ""
    helps = f"`{key('help')}` lists every key{opens}."
    lines += ["", f"{helps} `{key('quit')}` leaves, and stops nothing."]
    return "\n".join(lines)


def _names(names: tuple[str, ...]) -> str:
    """Return the first few names, and how many more there are."""
    shown = ", ".join(f"`{name}`" for name in names[:NAMED])
    return shown + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _missing(set_up: SetUp, key: Names) -> list[Block]:
    """Return what is missing or wrong, each with what helps."""
    blocks = []
    if set_up.here and not set_up.model and not (set_up.chosen and set_up.agent != "demo"):
        text = "The demo works right away. Rookery's own agent needs a model: a provider and a key."
        action = {"label": f"Set up a model ({key('settings')}, Enter)", "window": "model"}
        block = make_block("0.model", "notice", status="info", title="No model set up", text=text)
        blocks.append(block | {"actions": [action]})
    if set_up.is_out:
        title, text = f"{set_up.agent} is not logged in", "So it said when it last ran."
        action = {"label": "Log in", "window": "login", "agent": set_up.agent}
        block = make_block("0.login", "notice", status="warn", title=title, text=text)
        blocks.append(block | {"actions": [action]})
    broken = f"{set_up.broken} {key('servers')} opens the servers." if set_up.broken else ""
    for number, trouble in enumerate([set_up.problem, *set_up.troubles, broken]):
        if trouble:
            name = f"0.trouble{number}"
            blocks.append(make_block(name, "notice", status="warn", text=trouble))
    return blocks


def _asks(set_up: SetUp) -> str:
    """Return how much a new session asks, and what that means if it is not everything."""
    new = modes.beginning(set_up.agent, set_up.confirm)
    label = modes.summary(new)
    return label if modes.brief(new) else label.partition(":")[0].lower()


# --- reading files -----------------------------------------------------------------------------


def look_around(home: str, cwd: str, agent: str) -> SetUp:
    try:
        loaded = client_config.in_force.settings(home)
        settings, problem, taste = loaded.config, "", loaded.config.interface
        waits = (*settings.warnings, *((WAITS,) if loaded.held else ()))
    except config.ConfigError as error:
        settings, problem, taste, waits = config.Config(), str(error), None, ()
    saved, broken_models = models.profiles.look(home)
    servers, trouble, broken = _servers(home)
    name = agent or models.choice.default_agent(home, settings.default_agent, os.environ)
    return SetUp(
        cwd,
        name,
        bool(agent or settings.default_agent),
        _installed(settings, name, cwd),
        confirm=settings.confirm,
        problem=problem,
        model=saved.chosen.model if saved.chosen else "",
        skills=_skills(home, cwd) if name == OWN else (),
        hooks=_hooks(home, cwd) if name == OWN else (),
        servers=_passed(servers, settings, name),
        troubles=tuple(warning for warning in (broken_models, trouble, *waits) if warning),
        broken=broken,
        is_out=_is_out(home, settings, name),
        taste=taste,
        keys=tuple(settings.keys.items()),
    )


def look_around_there(home: str, cwd: str, agent: str, rookery: "Rookery") -> SetUp:
    """Find out what is set up on another machine: its agents; the appearance is that of this
    machine."""
    here = config.load_or_defaults(home)
    try:
        reply, problem = rookery.call("agents"), ""
    except Refused as error:
        reply, problem = {"agents": [], "default": ""}, error.sentences
    name = agent or reply["default"]
    names = [each["name"] for each in reply["agents"] if each["installed"]]
    others = tuple(each for each in names if each not in (name, "demo", OWN))
    return SetUp(
        cwd,
        name,
        bool(agent),
        others,
        problem=problem,
        taste=here.interface,
        keys=tuple(here.keys.items()),
        here=False,
    )


def _installed(settings: "Config", name: str, cwd: str) -> tuple[str, ...]:
    names = agents.registry.installed(settings.agents, cwd, settings.node_path)
    return tuple(
        each for each in names if each not in (name, agents.registry.DEMO, agents.registry.OWN)
    )


def _is_out(home: str, settings: "Config", name: str) -> bool:
    from rookery.client.login import status

    if name == agents.registry.OWN:  # what it lacks is a model
        return False
    try:
        return status.read(home, *agents.registry.resolve(name, settings.agents)).is_out
    except agents.registry.UnknownAgent:
        return False


def _passed(servers: tuple[str, ...], settings: "Config", agent: str) -> tuple[str, ...]:
    """Return the MCP servers that this agent gets."""
    if agent == agents.registry.DEMO:
        return ()
    extras = settings.extras.get(agent)
    chosen = extras.mcp if extras else None
    if isinstance(chosen, tuple):
        return tuple(name for name in servers if name in chosen)
    taken = vendor_profile(vendor_of(agent, ())).takes_servers
    return servers if (taken if chosen is None else chosen) else ()


def _servers(home: str) -> tuple[tuple[str, ...], str, str]:
    """Return the servers that are on, and what is wrong with the file and a first bad one."""
    try:
        listed = mcp.load(home)
    except mcp.McpError as error:
        return (), str(error), ""
    broken = [f"MCP server {each.name}: {each.fault}." for each in listed if each.fault]
    on = tuple(each.name for each in listed if each.enabled and not each.fault)
    return on, "", broken[0] if broken else ""


def _skills(home: str, cwd: str) -> tuple[str, ...]:
    """Return the skills that Rookery's own agent finds: a directory with SKILL.md, or a page."""
    own = os.path.expanduser("~")
    places = [f"{root}/{name}/skills" for root in (own, cwd) for name in FOLDERS]
    places += [os.path.join(home, "skills"), os.path.join(cwd, ".openhands", "microagents")]
    skills = set[str]()
    for place in map(glob.escape, places):
        pages = glob.glob(f"{place}/*.md", include_hidden=True)
        pages = [page for page in pages if not page.lower().endswith("/readme.md")]
        skills.update(page for page in pages if not os.path.isdir(page))
        skills.update(map(os.path.dirname, glob.glob(f"{place}/*/SKILL.md", include_hidden=True)))
    return tuple(sorted({os.path.basename(each).removesuffix(".md") for each in skills}))


def _hooks(home: str, cwd: str) -> tuple[str, ...]:
    """Return the files that define hooks."""
    places = [f"{each}/hooks.json" for each in (home, f"{cwd}/.openhands", f"{cwd}/.rookery")]
    return tuple(paths.with_tilde(place) for place in places if os.path.exists(place))
