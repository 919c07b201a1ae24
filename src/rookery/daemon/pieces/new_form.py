"""The form for a new session: where it runs, with which agent, and the first prompt."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rookery.agents import registry
from rookery.client.attach import LARGEST, MAX_FILES, TOGETHER
from rookery.core.json import Json
from rookery.core.policy import approvals
from rookery.core.settings.sandbox import BWRAP, CONTAINER, NONE
from rookery.core.vendors.logins import OUT
from rookery.daemon.pieces.icons import icon as drawn
from rookery.export.html.text import esc, esc_line, tag
from rookery.home.paths import with_tilde

RECENT = 6
AS_SET = "As the settings say"
DEFAULT = "The agent's default"


OWN_TREE = "own"


class Given(NamedTuple):
    """The values of the form's fields."""

    cwd: str = ""
    agent: str = ""
    confirm: str = ""
    sandbox: str = ""
    worktree: str = ""
    branch: str = ""
    base: str = ""
    model: str = ""
    effort: str = ""
    mode: str = ""
    prompt: str = ""
    race: tuple[str, ...] = ()
    """Further agents for the same prompt."""


def rendered(
    given: Given,
    agents: Sequence[Json],
    recent: Sequence[str],
    known: Mapping[str, Json],
    wrong: tuple[str, str] = ("", ""),
) -> str:
    """Render the form. `recent` are directories, newest first; `known` is what the agent offers, as
    far as known; `wrong` says why the form was refused, and what helps."""
    ready = [each for each in agents if each["installed"]]
    rest = [each for each in agents if not each["installed"]]
    fields = (
        _wrong(*wrong)
        + _prompt(given.prompt)
        + _directory(given.cwd, recent)
        + tag("div", _agents(given.agent, ready) + _model(given, known), "two")
        + tag("div", _confirm(given.confirm) + _worktree(given.worktree), "two")
        + _tree(given)
        + _more(given, known, ready)
        + '<div class="send"><button class="primary">Start</button>'
        '<span class="soft"><kbd>Enter</kbd> to start, <kbd>Shift+Enter</kbd> for a new line</span>'
        '</div><input type="file" id="picker" multiple hidden>'
    )
    limits = {"files": MAX_FILES, "largest": LARGEST, "together": TOGETHER}
    about = "".join(f' data-{key}="{value}"' for key, value in limits.items())
    form = f'<form class="new" method="post" action="/new" data-do="create"{about}>{fields}</form>'
    return framed(form + _imports(ready) + _installs(rest))


def framed(inner: str) -> str:
    return f'<div class="screen"><h1>New session</h1>{inner}</div>'


def _wrong(message: str, remedy: str) -> str:
    inner = tag("p", esc_line(message)) + (tag("p", esc_line(remedy), "soft") if remedy else "")
    hidden = "" if message else " hidden"
    return f'<div class="wrong" role="alert"{hidden}>{inner if message else ""}</div>'


def _named(caption: str, name: str, inner: str) -> str:
    """Wrap a field, whose id is `new-` and its name, with a label."""
    label = f'<label for="new-{name}">{caption}</label>'
    return tag("div", label + inner, "field")


def _select(name: str, label: str, chosen: str, rows: Iterable[tuple[str, str]]) -> str:
    """Render a select; `rows` are values and their labels, which are escaped here."""
    options = "".join(
        f'<option value="{esc_line(value, 500)}"{" selected" if value == chosen else ""}>'
        f"{esc_line(text, 200)}</option>"
        for value, text in rows
    )
    return _named(label, name, f'<select id="new-{name}" name="{name}">{options}</select>')


def _prompt(prompt: str) -> str:
    field = (
        '<textarea id="new-prompt" name="prompt" rows="4" dir="auto" autofocus '
        f'enterkeyhint="enter" placeholder="What should it do?">\n{esc(prompt)}</textarea>'
        '<ul class="attached" aria-label="Attached" hidden></ul><div class="acts">'
        '<button type="button" class="icon" data-do="attach" aria-label="Attach files" '
        f'title="Attach files">{drawn("attach")}</button>'
        '<button type="button" class="chip" data-do="mention">@ file</button></div>'
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
    return _select("agent", "Agent", chosen, ((each["name"], _agent_words(each)) for each in ready))


def can_start(agent: Json) -> bool:
    """Tell whether the agent can start, as far as that is known without starting it."""
    out = agent["login"]["state"] == OUT
    return bool(agent["installed"]) and not agent["needs"] and not out


def _agent_words(agent: Json) -> str:
    needs = f" (needs: {agent['needs']})" if agent["needs"] else ""
    out = " (not logged in)" if agent["login"]["state"] == OUT and not needs else ""
    return f"{agent['title']}{needs}{out}"


def _confirm(chosen: str) -> str:
    known = [("", AS_SET), *((each.id, each.title) for each in approvals.TABLE)]
    return _select("confirm", approvals.TITLE, chosen, known)


# --- what the agent offers -----------------------------------------------------------------------


def _model(given: Given, known: Mapping[str, Json]) -> str:
    if known:
        return _option("model", given.model, known) or _select(
            "model", "Model", "", [("", DEFAULT)]
        )
    field = (
        '<input id="new-model" name="model" maxlength="200" spellcheck="false" autocomplete="off" '
        f'autocapitalize="off" value="{esc_line(given.model)}" placeholder="{DEFAULT}">'
    )
    hint = tag("p", "Its models will be listed here after its first run.", "soft")
    return _named("Model", "model", field + hint)


def _option(name: str, chosen: str, known: Mapping[str, Json]) -> str:
    """Render an option, or "" if it is not known to be offered."""
    option = known.get(name)
    if option is None:
        return ""
    rows = [(str(each["value"]), str(each["name"])) for each in option["choices"]]
    if chosen and chosen not in dict(rows):
        rows.append((chosen, chosen))
    empty = ("", "As approvals say" if name == "mode" else DEFAULT)
    return _select(name, name.capitalize(), chosen, [empty, *rows])


def offered(given: Given, known: Mapping[str, Json]) -> str:
    """Render the fields that change with the agent, each to be put in its place."""
    return f'<template id="offered">{_model(given, known)}{_offers(given, known)}</template>'


def _offers(given: Given, known: Mapping[str, Json]) -> str:
    inner = _option("effort", given.effort, known) + _option("mode", given.mode, known)
    if not known:
        inner = tag(
            "p", "Its effort levels and modes will be listed here after its first run.", "soft"
        )
    return f'<div class="two offers-of-agent">{inner}</div>'


def _more(given: Given, known: Mapping[str, Json], ready: Sequence[Json]) -> str:
    """Render the rarely used fields."""
    chosen = given.effort or given.mode or given.sandbox or given.race
    inner = _offers(given, known) + _sandbox(given.sandbox) + _race(given.race, ready)
    summary = "<summary>More: effort, mode, sandbox, race</summary>"
    opened = " open" if chosen else ""
    return f'<details class="others rest"{opened}>{summary}{inner}</details>'


def _race(chosen: Sequence[str], ready: Sequence[Json]) -> str:
    if len(ready) < 2:
        return ""
    boxes = "".join(
        f'<label><input type="checkbox" name="race" value="{esc_line(each["name"])}"'
        f"{' checked' if each['name'] in chosen else ''}>{esc_line(each['title'], 60)}</label>"
        for each in ready
    )
    note = (
        "The same prompt to each, with its default model, in a git worktree of its own. "
        "You compare, and merge one."
    )
    legend = '<span id="new-race">Race other agents</span>'
    inner = legend + tag("p", note, "soft") + tag("div", boxes, "ways")
    return f'<div class="field race-of" role="group" aria-labelledby="new-race">{inner}</div>'


def _worktree(chosen: str) -> str:
    known = [("", "In the directory itself"), (OWN_TREE, "In a git worktree of its own")]
    return _select("worktree", "Where it works", chosen, known)


def _tree(given: Given) -> str:
    """Render the fields for the session's worktree, shown if one is chosen."""

    def text(name: str, label: str, value: str, placeholder: str, more: str = "") -> str:
        about = 'spellcheck="false" autocapitalize="off" autocomplete="off"'
        field = (
            f'<input id="new-{name}" name="{name}" maxlength="100" value="{esc_line(value)}" '
            f'placeholder="{placeholder}" {about}{more}>'
        )
        return _named(label, name, field)

    name = text("branch", "Branch name", given.branch, "the session's id")
    base = text("base", "Starts from", given.base, "what is checked out", ' list="new-branches"')
    return f'<div class="two tree">{name}{base}<datalist id="new-branches"></datalist></div>'


def _sandbox(chosen: str) -> str:
    known = [
        ("", AS_SET),
        (BWRAP, "bwrap: writes in its directories only"),
        (CONTAINER, "Container"),
        (NONE, "None"),
    ]
    safe = f"A sandbox is safe to combine with “{approvals.WORDS[approvals.ALL]}”."
    return _select("sandbox", "Sandbox", chosen, known) + tag("p", safe, "soft")


def _imports(ready: Sequence[Json]) -> str:
    """List the agents from which sessions can be imported; the script asks them."""
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
    """List the other agents: installed from here, or with instructions."""
    rows = "".join(map(_install, (each for each in rest if each["install"])))
    if not rows:
        return ""
    return (
        '<details class="installing"><summary>More agents to install</summary>'
        f'<ul class="installs">{rows}</ul></details>'
    )


def _install(agent: Json) -> str:
    name, title = esc_line(agent["name"]), esc_line(agent["title"], 60)
    act = (
        f'<button type="button" data-do="install" data-agent="{name}" data-title="{title}">'
        "Install…</button>"
        if agent["installable"]
        else '<button type="button" class="quiet" data-do="copy-line">Copy</button>'
    )
    return f"<li><span>{title}</span><code>{esc_line(agent['install'], 300)}</code>{act}</li>"
