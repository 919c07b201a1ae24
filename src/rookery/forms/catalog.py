"""The catalogue of forms and lists, and the actions on their rows. All functions here read or write
files."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rookery.agents import registry
from rookery.client.config import edit, in_force
from rookery.core.asks import forms
from rookery.core.json import Json
from rookery.core.refusals import Refused
from rookery.forms import agents, login, models, rules, server_login, servers
from rookery.forms import lists as forms_lists
from rookery.forms.form import Form, Saved, typed
from rookery.forms.lists import Row
from rookery.forms.sections import FORMS, LISTS, SECTIONS
from rookery.forms.settings import CondenserForm, CriticForm, SettingsForm
from rookery.home import config, mcp
from rookery.models import profiles, saved_models
from rookery.models.draft import Draft

type FormName = str
type ListName = str
type Deed = str
if not TYPE_CHECKING:  # what the API's document lists
    FormName = Literal[(*FORMS, *LISTS, "login", "server_login")]
    ListName = Literal[tuple(LISTS)]


def _missing(message: str) -> Refused:
    return Refused("not_found", message, kind="missing")


def form_of(home: str, kind: str, name: str = "") -> Form:
    """Return the form of this kind. `name`: which one, if there are several; "" for a new one.
    Raises Refused."""
    try:
        return _form(home, kind, name)
    except (mcp.BadServer, registry.UnknownAgent) as error:
        raise _missing(str(error)) from None


def _form(home: str, kind: str, name: str) -> Form:
    match kind:
        case "critic":
            return CriticForm(config.load(home), profiles.load(home))
        case "condenser":
            return CondenserForm(profiles.load(home))
        case "models":
            return _model(profiles.load(home), name)
        case "servers":
            return servers.ServerForm(mcp.find(home, name) if name else None)
        case "rules":
            return _rule(home, name)
        case "agents":
            if name and name not in config.load(home).agents:
                raise _missing(f"There is no agent {name!r} of your own.")
            return agents.AgentForm(home, name)
        case "login":
            return login.LoginForm(home, name)
        case "server_login":
            return server_login.ServerLoginForm(home, name)
        case _ if kind in FORMS:
            return SettingsForm(FORMS[kind], config.load(home))
    raise _missing("Not found.")


def opened(home: str, kind: str, name: str = "") -> Form | str:
    """Return a form, or why there is none."""
    try:
        return form_of(home, kind, name)
    except Refused as error:
        return str(error)


def _model(saved: profiles.Settings, name: str) -> Form:
    if name and name not in saved.profiles:
        raise _missing(f"There is no saved model {name!r}.")
    return models.ModelForm(saved, name)


def _rule(home: str, name: str) -> Form:
    try:
        return rules.RuleForm(home, name)
    except KeyError:
        raise _missing(rules.GONE) from None


def answers_of(form: Form, sent: Json) -> Json:
    """Merge what is saved now with what was sent. None removes a value; for a secret, an empty text
    keeps it."""
    answers = dict(form.values)
    for key, value in sent.items():
        field = form.fields.get(key)
        read = typed(field, value.strip()) if isinstance(value, str) else value
        if value != "" or not forms.is_secret(field):
            answers[key] = read
    return {
        k: v for k, v in answers.items() if v is not None or forms.is_secret(form.fields.get(k))
    }


# --- search ----------------------------------------------------------------------------------


class Match(NamedTuple):
    """A section of the settings, or a field of one."""

    section: str
    field: str
    """"": the section itself."""
    title: str
    about: str

    @property
    def address(self) -> str:
        """Where the page has it."""
        return f"/settings/{self.section}" + (f"#f-{self.field}" if self.field else "")


def entries(home: str) -> list[Match]:
    """Return all sections, each form followed by its fields."""
    known: list[Match] = []
    for name, section in SECTIONS.items():
        known.append(Match(name, "", section.title, section.about))
        form = opened(home, name) if name in FORMS else ""
        if isinstance(form, Form):  # else its own screen says what is wrong
            each = forms.fields_of(form.schema)
            known += [Match(name, field.name, field.title, field.about) for field in each]
    return known


def matching(known: Sequence[Match], query: str) -> list[Match]:
    """Return those that have all words of the query; those with one in the title first."""
    terms = query.lower().split()
    matches = [
        each
        for each in known
        if all(term in f"{each.title} {each.about} {each.field}".lower() for term in terms)
    ]
    return sorted(matches, key=lambda each: not any(t in each.title.lower() for t in terms))


# --- lists ---------------------------------------------------------------------------------------


def rows_of(home: str, kind: str) -> tuple[list[Row], str]:
    """Return the rows of a list, and what is wrong with its file."""
    try:
        match kind:
            case "models":
                saved, problem = profiles.look(home)
                return forms_lists.model_rows(saved), problem
            case "servers":
                return [forms_lists.server_row(home, each) for each in mcp.load(home)], ""
            case "rules":
                return [forms_lists.rule_row(each) for each in config.load(home).rules], ""
        agents = forms_lists.agents(home, home)
        return [forms_lists.agent_row(each, bare="no model yet") for each in agents], ""
    except config.ConfigError as error:
        return [], str(error)


def own_agents(home: str) -> frozenset[str]:
    """Return the names of the user's own agents; only those can be changed."""
    return frozenset(config.load_or_defaults(home).agents)


def install_line(name: str) -> str:
    return registry.install_hint(name)


def loosens(home: str, kind: str, name: str, do: str) -> list[str]:
    """Return what the action would allow without asking."""
    if kind == "rules" and (kind, do) in _DEEDS:
        return rules.loosened_by(home, name, STEPS.get(do))
    if kind == "servers" and do == "on":
        return [f"The MCP server {name} is used by agents that start from now on."]
    return []


STEPS = {"up": -1, "down": 1}


def done(home: str, kind: str, name: str, do: str) -> Saved:
    """Carry out an action on a row. Raises Refused if the list has no such action."""
    work = _DEEDS.get((kind, do))
    if work is None:
        raise Refused("not_here", f"{LISTS[kind].title} cannot do that: {do}.")
    try:
        return work(home, name)
    except mcp.BadServer as error:
        raise _missing(str(error)) from None


def _outcome(work: Callable[[], str]) -> Saved:
    outcome = saved_models.outcome(work)
    return Saved(outcome.ok, outcome.message)


def _test_model(home: str, name: str) -> Saved:
    outcome = saved_models.attempt(home, Draft(name=name), keep=False)
    return Saved(outcome.ok, outcome.message)


def _server_change(
    home: str, name: str, work: Callable[[], Any], message: str, adds: bool
) -> Saved:
    mcp.find(home, name)

    def change() -> None:
        with in_force.editing(home, adds=adds):
            work()

    why = edit.attempt(change, mcp.FILE)
    return Saved(False, why) if why else Saved(True, message, name=name)


def _turn(home: str, name: str, *, on: bool) -> Saved:
    message = f"{name} is {'on' if on else 'off'} for agents started from now on."
    return _server_change(
        home, name, partial(mcp.set_enabled, home, name, enabled=on), message, adds=on
    )


def _remove_server(home: str, name: str) -> Saved:
    return _server_change(home, name, partial(mcp.remove, home, name), f"Removed {name}.", False)


def _test_server(home: str, name: str) -> Saved:
    mcp.find(home, name)
    return servers.tested(home, name)


def _default_agent(home: str, name: str) -> Saved:
    if name not in registry.names(config.load(home).agents):
        raise _missing(f"There is no agent {name!r}.")
    why = edit.attempt(partial(edit.change, home, {"default_agent": name}))
    return Saved(False, why) if why else Saved(True, f"New sessions use {name}.", name=name)


_DEEDS: dict[tuple[str, str], Callable[[str, str], Saved]] = {
    ("models", "default"): lambda home, name: _outcome(partial(saved_models.use, home, name)),
    ("models", "remove"): lambda home, name: _outcome(partial(saved_models.forget, home, name)),
    ("models", "test"): _test_model,
    ("servers", "on"): partial(_turn, on=True),
    ("servers", "off"): partial(_turn, on=False),
    ("servers", "remove"): _remove_server,
    ("servers", "test"): _test_server,
    ("rules", "remove"): rules.removed,
    ("rules", "up"): partial(rules.moved, by=-1),
    ("rules", "down"): partial(rules.moved, by=1),
    ("agents", "default"): _default_agent,
    ("agents", "remove"): agents.removed,
}
if not TYPE_CHECKING:
    Deed = Literal[tuple(dict.fromkeys(do for _, do in _DEEDS))]
