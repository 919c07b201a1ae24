"""The first screen, made of blocks: what is set up, what is missing and the key that helps, and
what a key starts while nothing is written."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from rookery.core.blocks import Block, make_block
from rookery.core.json.safe_text import count
from rookery.core.limits import Interface
from rookery.core.policy import modes
from rookery.core.refusals import Refused
from rookery.core.vendors.demo import NAME, SECOND, TOUR
from rookery.core.view.fleet import NO_TITLE
from rookery.home import paths
from rookery.tui.look.runs import clean_line, cut
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

LONGEST = 40

FOLDERS = (".agents", ".claude", ".openhands")
"""With skills, in the user's home and in the project."""
OWN = "rookery"
"""The agent that loads skills and hooks, and has a saved model."""


class Way(NamedTuple):
    """One of `prompt`, for a new session, and `session`, which is there."""

    words: str
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
    """`new`: the user asked for a new session."""
    if sessions and not new:
        first = sessions[0]
        title = cut(clean_line(str(first["title"])), LONGEST)
        what = f"session {first['id']}" if title in ("", NO_TITLE) else f"“{title}”"
        why = ", which needs you" if first["status"] == "needs-you" else ""
        why = why or (", with news to read" if first["unread"] else "")
        return Way(f"opens {what}{why}", session=str(first["id"]))
    if agent != NAME:
        return Way(f"asks {agent} for a short tour of this project", prompt=LOOK)
    if sessions:
        return Way("starts another session of the demo", prompt=SECOND)
    return Way("starts a tour with the demo agent", prompt=TOUR)


def window_of(found: SetUp, key: Names, way: Way) -> Window:
    window = Window()
    mark = make_block("0.mark", "answer", parts=[{"type": "terminal", "text": MARK}])
    words = make_block("0.splash", "answer", text=_words(found, key, way))
    blocks = [mark, words, *_missing(found, key)]
    window.pages = [Page(0, {block["id"]: block for block in blocks})]
    return window


def _words(found: SetUp, key: Names, way: Way) -> str:
    of = "" if found.agent == NAME else f" for {found.agent}"
    why = ", which needs no account" if found.agent == NAME and not found.chosen else ""
    lines = [
        f"**{key('composer.send')}** {way.words}. Or write a task{of} below.",
        "",
        f"- directory: `{paths.with_tilde(found.cwd)}`",
        f"- agent: `{found.agent}`{why}",
    ]
    if found.here:
        lines.append(f"- approvals: {_asks(found)} (`{key('confirm')}`)")
    if found.model and found.agent == OWN:
        lines.append(f"- model: `{found.model}`")
    loaded = {"skills": found.skills, "hooks": found.hooks, "MCP servers": found.servers}
    lines += [f"- {noun}: {_names(names)}" for noun, names in loaded.items() if names]
    if found.installed:
        others = ", ".join(f"`{name}`" for name in found.installed)
        lines += [f"- also installed: {others}" + (f" (`{key('agents')}`)" if found.here else "")]
    elif found.here:
        lines += [f"- no other agents installed: `{key('agents')}` shows how to get one"]
    if found.sessions:
        lines += [f"- {count(found.sessions, 'session')}: `{key('session.list')}` opens the list"]
    opens = f", `{key('settings')}` opens the settings" if found.here else ""
    helps = f"`{key('help')}` lists every key{opens}."
    lines += ["", f"{helps} `{key('quit')}` leaves, and stops nothing."]
    return "\n".join(lines)


def _names(names: tuple[str, ...]) -> str:
    """The first few, and how many more."""
    shown = ", ".join(f"`{name}`" for name in names[:NAMED])
    return shown + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _missing(found: SetUp, key: Names) -> list[Block]:
    """What is missing or wrong, each with what helps."""
    blocks = []
    if found.here and not found.model and not (found.chosen and found.agent != "demo"):
        text = "The demo works right away. Rookery's own agent needs a model: a provider and a key."
        action = {"label": f"Set up a model ({key('settings')}, Enter)", "window": "model"}
        block = make_block("0.model", "notice", status="info", title="No model set up", text=text)
        blocks.append(block | {"actions": [action]})
    if found.is_out:
        title, text = f"{found.agent} is not logged in", "So it said when it last ran."
        action = {"label": "Log in", "window": "login", "agent": found.agent}
        block = make_block("0.login", "notice", status="warn", title=title, text=text)
        blocks.append(block | {"actions": [action]})
    broken = f"{found.broken} {key('servers')} opens the servers." if found.broken else ""
    for number, words in enumerate([found.problem, *found.troubles, broken]):
        if words:
            name = f"0.trouble{number}"
            blocks.append(make_block(name, "notice", status="warn", text=words))
    return blocks


def _asks(found: SetUp) -> str:
    """How much a new session asks, and what that means if it is not everything."""
    new = modes.beginning(found.agent, found.confirm)
    words = modes.said(new)
    return words if modes.brief(new) else words.partition(":")[0].lower()


# --- reading files -----------------------------------------------------------------------------


def look_around(home: str, cwd: str, agent: str) -> SetUp:
    from rookery.client.config import in_force
    from rookery.core.settings.held import WAITS
    from rookery.home import config
    from rookery.models import profiles
    from rookery.models.choice import default_agent

    try:
        found = in_force.settings(home)
        settings, problem, taste = found.config, "", found.config.interface
        waits = (*settings.warnings, *((WAITS,) if found.held else ()))
    except config.ConfigError as error:
        settings, problem, taste, waits = config.Config(), str(error), None, ()
    saved, broken_models = profiles.look(home)
    servers, trouble, broken = _servers(home)
    name = agent or default_agent(home, settings.default_agent, os.environ)
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
        troubles=tuple(words for words in (broken_models, trouble, *waits) if words),
        broken=broken,
        is_out=_is_out(home, settings, name),
        taste=taste,
        keys=tuple(settings.keys.items()),
    )


def look_around_there(home: str, cwd: str, agent: str, rookery: "Rookery") -> SetUp:
    """On another machine: its agents; how things look is this machine's."""
    from rookery.home import config

    here = config.load_or_defaults(home)
    try:
        said, problem = rookery.call("agents"), ""
    except Refused as error:
        said, problem = {"agents": [], "default": ""}, error.sentences
    name = agent or said["default"]
    names = [each["name"] for each in said["agents"] if each["installed"]]
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
    from rookery.agents import registry

    found = registry.installed(settings.agents, cwd, settings.node_path)
    return tuple(each for each in found if each not in (name, registry.DEMO, registry.OWN))


def _is_out(home: str, settings: "Config", name: str) -> bool:
    from rookery.agents import registry
    from rookery.client.login import status

    if name == registry.OWN:  # what it lacks is a model
        return False
    try:
        return status.read(home, *registry.resolve(name, settings.agents)).is_out
    except registry.UnknownAgent:
        return False


def _passed(servers: tuple[str, ...], settings: "Config", agent: str) -> tuple[str, ...]:
    """The MCP servers that this agent gets."""
    from rookery.agents import registry
    from rookery.core.vendors.detection import vendor_of
    from rookery.core.vendors.profiles import profile_for

    if agent == registry.DEMO:
        return ()
    extras = settings.extras.get(agent)
    chosen = extras.mcp if extras else None
    if isinstance(chosen, tuple):
        return tuple(name for name in servers if name in chosen)
    taken = profile_for({"vendor": vendor_of(agent, ())}).takes_servers
    return servers if (taken if chosen is None else chosen) else ()


def _servers(home: str) -> tuple[tuple[str, ...], str, str]:
    """Which are on, what is wrong with the file, and with the first invalid one."""
    from rookery.home import mcp

    try:
        listed = mcp.load(home)
    except mcp.McpError as error:
        return (), str(error), ""
    broken = [f"MCP server {each.name}: {each.fault}." for each in listed if each.fault]
    on = tuple(each.name for each in listed if each.enabled and not each.fault)
    return on, "", broken[0] if broken else ""


def _skills(home: str, cwd: str) -> tuple[str, ...]:
    """Those that Rookery's own agent finds: a directory with SKILL.md, or a page."""
    import glob

    own = os.path.expanduser("~")
    places = [f"{root}/{name}/skills" for root in (own, cwd) for name in FOLDERS]
    places += [os.path.join(home, "skills"), os.path.join(cwd, ".openhands", "microagents")]
    found = set[str]()
    for place in map(glob.escape, places):
        pages = glob.glob(f"{place}/*.md", include_hidden=True)
        pages = [page for page in pages if not page.lower().endswith("/readme.md")]
        found.update(page for page in pages if not os.path.isdir(page))
        found.update(map(os.path.dirname, glob.glob(f"{place}/*/SKILL.md", include_hidden=True)))
    return tuple(sorted({os.path.basename(each).removesuffix(".md") for each in found}))


def _hooks(home: str, cwd: str) -> tuple[str, ...]:
    """The files that have them."""
    places = [f"{each}/hooks.json" for each in (home, f"{cwd}/.openhands", f"{cwd}/.rookery")]
    return tuple(paths.with_tilde(place) for place in places if os.path.exists(place))
