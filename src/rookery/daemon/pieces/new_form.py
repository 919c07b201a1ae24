"""The form for a new session: where, with which agent, and what to do first."""

from collections.abc import Sequence
from typing import NamedTuple

from rookery.agents import registry
from rookery.core.json import Json
from rookery.core.policy import approvals
from rookery.core.settings.sandbox import BWRAP, CONTAINER, NONE
from rookery.core.vendors.logins import OUT
from rookery.daemon.pieces.session_bar import ICONS, icon
from rookery.export.html.text import esc, esc_line, tag
from rookery.home.paths import with_tilde

RECENT = 6


class Given(NamedTuple):
    """What stands in the form."""

    cwd: str = ""
    agent: str = ""
    confirm: str = ""
    sandbox: str = ""
    worktree: str = ""
    prompt: str = ""
    race: tuple[str, ...] = ()
    """Further agents for the same prompt."""


def rendered(
    given: Given, agents: Sequence[Json], recent: Sequence[str], wrong: tuple[str, str] = ("", "")
) -> str:
    """`recent`: directories, the newest first. `wrong`: why it was refused, and what helps."""
    ready = [each for each in agents if each["installed"]]
    rest = [each for each in agents if not each["installed"]]
    fields = (
        _wrong(*wrong)
        + _prompt(given.prompt)
        + _directory(given.cwd, recent)
        + tag("div", _agents(given.agent, ready) + _confirm(given.confirm), "two")
        + tag("div", _sandbox(given.sandbox) + _worktree(given.worktree), "two")
        + _race(given.race, ready)
        + '<div class="send"><button class="primary">Start</button>'
        '<span class="soft"><kbd>Enter</kbd> starts, <kbd>Shift+Enter</kbd> breaks the line</span>'
        "</div>"
    )
    form = f'<form class="new" method="post" action="/new" data-do="create">{fields}</form>'
    return framed(form + _imports(ready) + _installs(rest))


def framed(inner: str) -> str:
    label = 'aria-label="All sessions"'
    back = f'<a class="button quiet icon back" href="/" {label}>{icon(ICONS["back"])}</a>'
    return f'<div class="screen"><h1>{back}New session</h1>{inner}</div>'


def _wrong(message: str, remedy: str) -> str:
    inner = tag("p", esc_line(message)) + (tag("p", esc_line(remedy), "soft") if remedy else "")
    hidden = "" if message else " hidden"
    return f'<div class="wrong" role="alert"{hidden}>{inner if message else ""}</div>'


def _named(words: str, name: str, inner: str) -> str:
    """A field, whose id is `new-` and its name, with its label."""
    label = f'<label for="new-{name}">{words}</label>'
    return tag("div", label + inner, "field")


def _prompt(prompt: str) -> str:
    field = (
        '<textarea id="new-prompt" name="prompt" rows="4" dir="auto" autofocus '
        f'enterkeyhint="enter" placeholder="What should it do?">\n{esc(prompt)}</textarea>'
    )
    return _named("First prompt", "prompt", field)


def _directory(cwd: str, recent: Sequence[str]) -> str:
    shown = esc_line(with_tilde(cwd), 4096)
    field = (
        f'<input id="new-cwd" name="cwd" required maxlength="4096" value="{shown}" '
        'spellcheck="false" autocapitalize="off" autocomplete="off" placeholder="~/project">'
    )
    others = [each for each in recent if each != cwd][:RECENT]
    buttons = "".join(
        f'<button type="button" class="chip" data-do="directory">{esc_line(with_tilde(each))}'
        "</button>"
        for each in others
    )
    rows = (
        f'<div class="recent" role="group" aria-label="Recent directories">{buttons}</div>'
        if others
        else ""
    )
    return _named("Directory", "cwd", field + rows)


def _agents(chosen: str, ready: Sequence[Json]) -> str:
    options = "".join(
        f'<option value="{esc_line(each["name"])}"'
        f"{' selected' if each['name'] == chosen else ''}>{_agent_words(each)}</option>"
        for each in ready
    )
    return _named("Agent", "agent", f'<select id="new-agent" name="agent">{options}</select>')


def _agent_words(agent: Json) -> str:
    needs = f" (needs: {agent['needs']})" if agent["needs"] else ""
    out = " (not logged in)" if agent["login"]["state"] == OUT and not needs else ""
    return esc_line(f"{agent['title']}{needs}{out}", 200)


def _confirm(chosen: str) -> str:
    known = [("", "As the settings say"), *((each.id, each.title) for each in approvals.TABLE)]
    options = "".join(
        f'<option value="{value}"{" selected" if value == chosen else ""}>{title}</option>'
        for value, title in known
    )
    return _named(
        approvals.TITLE, "confirm", f'<select id="new-confirm" name="confirm">{options}</select>'
    )


def _race(chosen: Sequence[str], ready: Sequence[Json]) -> str:
    if len(ready) < 2:
        return ""
    boxes = "".join(
        f'<label><input type="checkbox" name="race" value="{esc_line(each["name"])}"'
        f"{' checked' if each['name'] in chosen else ''}>{esc_line(each['title'], 60)}</label>"
        for each in ready
    )
    words = "The same prompt to each, in a git worktree of its own. You compare, and merge one."
    inner = f"<summary>Race other agents</summary>{tag('p', words, 'soft')}"
    opened = " open" if chosen else ""
    return f'<details class="others"{opened}>{inner}{tag("div", boxes, "ways")}</details>'


OWN_TREE = "own"


def _worktree(chosen: str) -> str:
    known = [("", "In the directory itself"), (OWN_TREE, "In a git worktree of its own")]
    options = "".join(
        f'<option value="{value}"{" selected" if value == chosen else ""}>{title}</option>'
        for value, title in known
    )
    select = f'<select id="new-worktree" name="worktree">{options}</select>'
    return _named("Where it works", "worktree", select)


def _sandbox(chosen: str) -> str:
    known = [
        ("", "As the settings say"),
        (BWRAP, "bwrap: writes in its directories only"),
        (CONTAINER, "Container"),
        (NONE, "None"),
    ]
    options = "".join(
        f'<option value="{value}"{" selected" if value == chosen else ""}>{title}</option>'
        for value, title in known
    )
    hint = tag(
        "p", f"A sandbox is safe to combine with “{approvals.WORDS[approvals.ALL]}”.", "soft"
    )
    select = f'<select id="new-sandbox" name="sandbox">{options}</select>'
    return _named("Sandbox", "sandbox", select + hint)


def _imports(ready: Sequence[Json]) -> str:
    """Of which agents; the script asks them."""
    buttons = "".join(
        '<button type="button" class="chip" data-do="elsewhere" '
        f'data-agent="{esc_line(each["name"])}">{esc_line(each["title"], 60)}</button>'
        for each in ready
        if each["name"] not in (registry.OWN, registry.DEMO)
    )
    if not buttons:
        return ""
    return (
        '<details class="installing"><summary>Continue a session begun elsewhere</summary>'
        f'<p class="recent">{buttons}</p><ul class="installs" id="elsewhere"></ul></details>'
    )


def _installs(rest: Sequence[Json]) -> str:
    """How to install the others."""
    rows = "".join(
        f"<li><span>{esc_line(each['title'], 60)}</span><code>{esc_line(each['install'], 300)}"
        f'</code><button type="button" class="quiet" data-do="copy-line">Copy</button></li>'
        for each in rest
        if each["install"]
    )
    if not rows:
        return ""
    return (
        '<details class="installing"><summary>More agents, and how to install them</summary>'
        f'<ul class="installs">{rows}</ul></details>'
    )
