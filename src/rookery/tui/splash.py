"""What is seen before a session is chosen: what is set up, what is missing, and the key that helps.

It is an ordinary block, so it looks like everything else.
"""

import os
from typing import NamedTuple

from rookery.core.document import make_block
from rookery.tui.transcript.window import Page, Window


class SetUp(NamedTuple):
    """What was found; the counts are None where nobody looked yet."""

    cwd: str
    agent: str = "demo"
    chosen: bool = False
    """Whether a person chose that agent."""
    installed: tuple[str, ...] = ()
    sessions: int = 0
    problem: str = ""
    keys: tuple[tuple[str, str], ...] = ()
    """Keys that a person chose."""


def window_of(found: SetUp) -> Window:
    """A window with one block."""
    window = Window()
    block = make_block("0.splash", "answer", text=_words(found))
    window.pages = [Page(0, {"0.splash": block})]
    return window


def _words(found: SetUp) -> str:
    lines = ["# Rookery", "", _greeting(found), ""]
    if found.problem:
        lines += [f"**{found.problem}**", ""]
    lines += [f"- directory: `{_short(found.cwd)}`"]
    if found.chosen:
        lines += [f"- agent: `{found.agent}`"]
    else:
        lines += [f"- agent: `{found.agent}`, which needs no account; no other was chosen"]
    if found.installed:
        lines += [f"- also installed: {', '.join(f'`{name}`' for name in found.installed)}"]
    elif not found.chosen:
        lines += ["- no other agent is installed: `rookery agents` says how"]
    if found.sessions:
        noun = "session" if found.sessions == 1 else "sessions"
        lines += [f"- {found.sessions} {noun} at the left: `Ctrl+B` goes there"]
    lines += ["", "`F1` lists every key. Leaving stops nothing: work goes on, and you come back."]
    return "\n".join(lines)


def _greeting(found: SetUp) -> str:
    if found.agent == "demo":
        return "Write something below and press Enter: the demo agent answers at once."
    return f"Write a task below and press Enter: {found.agent} starts on it."


def _short(path: str) -> str:
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path.startswith(home + "/") else path


def look_around(home: str, cwd: str, agent: str) -> SetUp:
    """What is set up here. Reads files: for the engine room."""
    from rookery import config, registry

    try:
        settings = config.load(home)
    except config.ConfigError as error:
        return SetUp(cwd, agent or registry.DEMO, bool(agent), problem=str(error))
    name = agent or registry.default(home, settings.default_agent, os.environ)
    installed = []
    for other in registry.names(settings.agents):
        if other in (name, registry.DEMO):
            continue
        try:
            known = registry.resolve(other, settings.agents)
            registry.check_installed(known, os.environ, cwd, settings.node_path)
        except registry.NotInstalled:
            continue
        installed.append(other)
    found = SetUp(cwd, name, bool(agent or settings.default_agent), tuple(installed))
    return found._replace(keys=tuple(settings.keys.items()))
