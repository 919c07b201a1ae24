"""`set`: sets an option, or prints the options, or the values of one."""

from typing import Any

import click

from rookery.cli import flags
from rookery.cli.output import Screen, clean_line, cut, standard
from rookery.cli.session.send import Say, header_of, perform
from rookery.core import commands
from rookery.core.critic.state import CHOICES
from rookery.core.header import Header
from rookery.core.json import Json, dumps
from rookery.core.policy import approvals, modes, unattended
from rookery.core.vendors import options
from rookery.core.vendors.options import TRUTHS
from rookery.operations.catalogue.row import Row

NAMES = {"mode": "mode", "model": "model", "thought_level": "effort"}
"""The user's name for an option, by its category."""


ARGUMENTS = {name: click.argument(name, required=False) for name in ("option", "value")}
JSON = flags.results("Print the outcome as JSON; without VALUE: one JSON object per option.")


def carry_out(_row: Row, session: str, _say: Say, given: Any) -> None:
    """Set an option, or print the options: it does so itself, as JSON, too."""
    option, value = given["option"], given["value"]
    screen, header = standard(), header_of(session)
    if option in commands.BUDGETS:
        _budget(screen, session, header, option, value)
    elif option in CHOICES:
        _critic(screen, session, header, option, value)
    elif option == "agent" and options.find(header.options, option) is None:
        message = f"to switch agents: rookery switch-agent {session} {value or 'AGENT'}"
        raise click.BadParameter(message, param_hint="OPTION")
    elif option is not None and value is not None:
        _choose(screen, session, header, option, value)
    else:
        _show(screen, header, option)


def _show(screen: Screen, header: Header, option: str | None) -> None:
    listed, own = header.options, modes.option_of(header)
    if option in (modes.OPTION, unattended.OPTION):
        listed = [own]
    elif option is not None:
        one = options.find(listed, option)
        if one is None and (listed or option not in NAMES.values()):
            raise click.BadParameter(_unknown(listed), param_hint="OPTION")
        listed = [one] if one else []
    for each in listed if option is not None else [*listed, own]:
        screen.result({"set": _name(each), **each})
        if not screen.as_json:
            _write(screen, each)
    if not screen.as_json:
        _say_pins(screen, header)
        if modes.brief(header):
            screen.note(clean_line(modes.sentence(header)))
    if not listed and header.process["state"] == "absent":
        screen.note("The choices are known once the agent has started.")
    elif not listed:
        screen.note("This agent offers no options.")


def _critic(screen: Screen, session: str, header: Header, option: str, value: str | None) -> None:
    """Set or print the session's own critic switches, whatever its agent is."""
    if value is None:
        chosen = header.critic[CHOICES[option]]
        labels = {True: "on", False: "off", None: "default"}
        screen.result({"set": option, "value": chosen})
        screen.line(f"{option} {labels[chosen]}")
        return
    if value not in ("on", "off", "default"):
        raise click.BadParameter(f"{option} can be: on, off, default.", param_hint="VALUE")
    perform(session, {"do": "set", "option": option, "value": value})
    shown = "the configured value" if value == "default" else value
    screen.note(f"{option} is now {shown}.")


def _budget(screen: Screen, session: str, header: Header, option: str, value: str | None) -> None:
    """Set or print the session's own budget; wider ones are in the configuration."""
    if value is None:
        own = header.budget.get(commands.BUDGETS[option])
        screen.result({"set": option, "value": own})
        screen.line(f"{option} {own or 'default'}")
        return
    command = {"do": "set", "option": option, "value": value}
    if (refusal := commands.check(command, 0)) is not None:
        raise click.BadParameter(refusal.message, param_hint="VALUE")
    perform(session, command)
    screen.note(f"{option} is now {header_of(session).budget[commands.BUDGETS[option]]}.")


def _unknown(offered: list[Json]) -> str:
    known = ", ".join(clean_line(_name(each)) for each in offered)
    return f"this agent has {known or 'no options'}."


def _name(option: Json) -> str:
    """Return the name by which an option is set: mode, model, effort, or its id."""
    return NAMES.get(option["category"]) or str(option["id"])


def _write(screen: Screen, option: Json) -> None:
    paint = screen.paint
    name, title = clean_line(_name(option)), clean_line(option["name"])
    value = option["value"]
    screen.line(name if name.lower() == title.lower() else f"{name} · {title}")
    choices = option["choices"] or [
        {"value": choice, "name": "", "description": ""} for choice in _free(value)
    ]
    for choice in choices:
        current = choice["value"] == value
        mark = paint.in_("running", paint.sign("here")) if current else " "
        shown = clean_line(_spelled(choice["value"]))
        label = clean_line(choice["name"])
        more = [label if label != shown else "", clean_line(choice["description"])]
        rest = f" {paint.sign('dot')} ".join(part for part in more if part)
        line = f"  {mark} {shown}" + (f"  {paint.faint(cut(rest, 100))}" if rest else "")
        screen.line(line + (" (current)" if current else ""))


def _free(value: object) -> list[object]:
    """Return the choices of an option that lists none."""
    if isinstance(value, bool):
        return [True, False]
    return [value] if value is not None else []


def _spelled(value: object) -> str:
    return dumps(value) if isinstance(value, bool) else str(value)


def _say_pins(screen: Screen, header: Header) -> None:
    now = {"mode": header.mode, "model": header.model, "effort": header.effort}
    for name in NAMES.values():
        value = header.wanted.get(name)
        if value is not None and value != now[name]:
            screen.note(f"{name} {clean_line(str(value))} will be used at the agent's next start.")


def _choose(screen: Screen, session: str, header: Header, name: str, value: str) -> None:
    known = options.find(header.options, name)
    given: str | bool = value
    if known is not None and isinstance(known["value"], bool):
        if value.lower() not in TRUTHS:
            raise click.BadParameter(f"{name} is true or false.", param_hint="VALUE")
        given = TRUTHS[value.lower()]
    if not value.strip():
        raise click.BadParameter("the value is empty.", param_hint="VALUE")
    if name in (modes.OPTION, unattended.OPTION):
        _choose_confirm(screen, session, name, value)
        return
    outcome = perform(session, {"do": "set", "option": name, "value": given}).update
    if outcome.get("confirmed") is True or outcome.get("sessionUpdate") != "_session":
        now = options.find(header_of(session).options, name)
        shown = clean_line(_spelled(now["value"])) if now else value
        screen.note(f"{name} is now {shown}.")
    else:
        screen.note(f"{name} {clean_line(value)} will be used at the agent's next start.")


def _choose_confirm(screen: Screen, session: str, name: str, value: str) -> None:
    command = {"do": "set", "option": name, "value": value, "told": f"set {name} {value}"}
    if name == modes.OPTION:
        command["value"] = approvals.id_of(value) or value
    refusal = commands.check(command, 0)
    if refusal is not None:
        raise click.BadParameter(refusal.message, param_hint="VALUE")
    perform(session, command)
    sentence = clean_line(modes.sentence(header_of(session)))
    screen.note(f"{sentence} This applies to this session.")
