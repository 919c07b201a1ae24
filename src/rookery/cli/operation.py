"""Commands made from the catalogue: each takes its name, arguments and help from an operation. An
operation with a presentation of its own has a module of its name in `cli.looks`."""

import importlib
import os
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, override

import click

from rookery.cli import exits, flags, target
from rookery.cli.flags import (
    OUTCOME,
    complete_agents,
    flag,
    session_argument,
    sessions_argument,
)
from rookery.cli.output import clean_line, standard
from rookery.cli.output.screen import wants_json
from rookery.cli.session.send import Say, for_each, result_of, send
from rookery.core.json import Json
from rookery.core.refusals import NotAgreed
from rookery.operations.catalogue import conditions, filling, moments
from rookery.operations.catalogue.arguments import Argument
from rookery.operations.catalogue.finding import find
from rookery.operations.catalogue.results import text_of
from rookery.operations.catalogue.row import SHOW, Row

READING = "Print JSON."
dry_run = flag("--dry-run", help="Print what would change, and change nothing.")

_LOOKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "looks")
BOUNDLESS = 10**9
"""A greatest number that is so large is not worth a word in help."""
SPAN = "for"
"""How long instead of until when: what a moment's option has beside it."""


def command_of(row: Row) -> click.Command:
    """Build the click command of an operation."""

    look = look_of(row)

    def body(session: str = "", say: Say | None = None, **given: Any) -> int:
        carry_out = _send if row.is_sent else _perform
        return carry_out(row, session, say or standard().note, given, look)

    prints = getattr(look, "JSON", flags.results(READING if row.kind == "read" else OUTCOME))
    made: Any = prints(body)
    if row.traits.preview is not None:
        made = dry_run(flags.yes(made))
    for option in reversed(getattr(look, "OPTIONS", ())):
        made = option(made)
    if row.traits.undo and any(each.about.how == "moment" for each in row.arguments):
        made = flag("--off", hidden=True)(made)  # an earlier word for the operation that undoes it
    own = getattr(look, "ARGUMENTS", {})
    for argument in reversed([each for each in row.arguments if each.about.typed]):
        parameters = [own[argument.name]] if argument.name in own else parameters_of(argument)
        for parameter in reversed(parameters):
            made = parameter(made)
    if "session" in own:
        made = own["session"](made)
    elif row.on_session:
        several = row.traits.on == "sessions"
        argument = getattr(look, "SESSION", sessions_argument if several else session_argument)
        made = for_each(made, argument) if several else argument(made)
    return click.command(row.name, help=_help(row, look))(made)


def look_of(row: Row) -> Any:
    """Return the module that adds to a command, or None. It may define:

    OPTIONS      options that only the command line has
    SESSION      the argument that names the session, or sessions
    ARGUMENTS    replacements for some arguments, by their names; if `session` is replaced,
                 `carry_out` gets that argument, and is called once
    MORE         a paragraph of the help
    carry_out    carries out the operation, prints the outcome, and returns what `--json`
                 prints, or None if it passed that to `Screen.result`; optionally with an exit
                 code
    JSON         the option `--json`, if it needs another help text
    ask          calls a read as the options ask for, and returns its result
    show         prints a read's result as text, and returns what `--json` prints if that is
                 not the result: objects, a line for each"""
    module = row.body.__name__
    if not os.path.isfile(os.path.join(_LOOKS, f"{module}.py")):
        return None
    return importlib.import_module(f"rookery.cli.looks.{module}")


def _help(row: Row, look: Any) -> str:
    lines = "\n".join(f"rookery {row.name} {each}".rstrip() for each in row.traits.examples)
    more = getattr(look, "MORE", "")
    return "\n\n".join(filter(None, [*row.paragraphs, more, f"\b\n{lines}" if lines else ""]))


# --- arguments ---------------------------------------------------------------------------------


def parameters_of(argument: Argument) -> list[Any]:
    """Return the decorators for an argument: one, but two for a moment, which can also be a span
    from now; and one for each choice with a flag of its own."""
    about, name = argument.about, argument.word
    if about.how == "moment":
        clock = f"{about.help} 09:00 (the next one), 2030-01-31, 2030-01-31T09:00."
        rows = [
            (SPAN, f"{argument.name}_{SPAN}", "TIME", "For this long: 30m, 2h, 3d."),
            (name, argument.name, "WHEN", clock),
        ]
        return [
            click.option(f"--{word}", parameter, type=Moment(), metavar=like, help=help_text)
            for word, parameter, like, help_text in rows
        ]
    if about.positional:
        many, like = -1 if about.how == "words" else 1, about.metavar or name.upper()
        needed, of = argument.required, _type(argument)
        like = like if needed else f"[{like}]"
        return [click.argument(argument.name, type=of, nargs=many, metavar=like, required=needed)]
    if about.each:
        return [
            click.option(f"--{choice}", argument.name, flag_value=choice, help=help_text)
            for choice, help_text in about.each.items()
        ]
    default = argument.default
    traits: dict[str, Any] = {"metavar": about.metavar or None}
    if argument.required:
        traits["required"] = True
    else:
        traits["default"] = None if argument.choices and not default else default
        traits["show_default"] = default not in ("", 0, False)
    if about.how == "agent":
        traits["shell_complete"] = complete_agents
    return [
        click.option(
            *([f"-{about.letter}"] if about.letter else []),
            f"--{name}",
            argument.name,
            type=_type(argument),
            is_flag=argument.kind == "boolean",
            multiple=argument.kind == "array",
            help=f"{about.help} 12h, 30d, 2030-01-31." if about.how == "past" else about.help,
            **traits,
        )
    ]


def _type(argument: Argument) -> Any:
    if argument.choices:
        return click.Choice([each for each in argument.choices if each])
    about = argument.about
    if about.how in ("past", "path"):
        return Past() if about.how == "past" else click.Path()
    match argument.kind:
        case "integer":
            most = about.maximum or 0
            return click.IntRange(about.minimum, most if 0 < most < BOUNDLESS else None)
        case "number":
            return click.FloatRange(about.minimum, about.maximum)
        case "boolean":
            return None
    return str


def values_of(row: Row, given: Mapping[str, Any]) -> Json:
    """Convert the given options to the arguments that are sent. Raises UsageError, BadParameter."""
    values: Json = {}
    for argument in row.arguments:
        value = given.get(argument.name)
        if argument.about.how == "moment":
            value = _moment(argument, value, given.get(f"{argument.name}_{SPAN}"))
        if argument.about.how == "words":
            value = _joined(value or ())
        if value not in (None, (), argument.default):
            values[argument.name] = list(value) if isinstance(value, tuple) else value
    if (refusal := row.check(values)) is not None:
        raise click.UsageError(refusal.message)
    return values


def _joined(tokens: Sequence[str]) -> str:
    """Join the words of a text; what the shell was given in quotes is quoted again."""
    return " ".join(
        f'"{word}"' if " " in word.strip() and '"' not in word else word for word in tokens
    )


def _moment(argument: Argument, until: int | None, span: int | None) -> int:
    if (until is None) is (span is None):
        raise click.UsageError(f"Pass --{SPAN} 2h or --{argument.word} 09:00.")
    return until or span or 0


class Moment(click.ParamType[int]):
    """The type of an option for a future time, in milliseconds since the epoch."""

    name = "time"
    read = staticmethod(moments.read)

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            return self.read(str(value), datetime.now().astimezone())
        except ValueError as error:
            self.fail(f"{value!r} {error}.", param, ctx)


class Past(Moment):
    """The type of an option for a past time."""

    read = staticmethod(moments.read_past)


# --- carrying out ------------------------------------------------------------------------------


def _perform(row: Row, session: str, say: Say, given: dict[str, Any], look: Any) -> int:
    """Carry out a work or a read."""
    if hasattr(look, "carry_out"):
        return _looked(look, row, session, say, given)
    asks = getattr(look, "ask", agreed_result)
    result = asks(row, session, given)
    if result is None:
        return exits.DONE
    screen, objects = standard(), None
    if hasattr(look, "show"):
        objects = look.show(result, given)
    elif row.kind == "read":
        for each in text_of(result).splitlines():
            screen.line(clean_line(each))
    elif not screen.as_json:
        say(clean_line(text_of(result)))
    if objects is None:
        result_of(session, result)
    for entry in objects or ():
        screen.result(entry)
    return exits.DONE


def _looked(look: Any, row: Row, session: str, say: Say, given: dict[str, Any]) -> int:
    """Carry out the operation as its look does; return the exit code."""
    outcome = look.carry_out(row, session, _silent if wants_json() else say, given)
    result, code = outcome if isinstance(outcome, tuple) else (outcome, exits.DONE)
    if result is not None:
        result_of(session, result)
    return int(code)


def agreed_result(
    row: Row, session: str, given: dict[str, Any], fingerprint: str = ""
) -> Json | None:
    """Carry out a work or a read and return its result, or None if it was only to be shown.
    `fingerprint` is that of a preview which was already shown and agreed to."""
    yes, dry = given.pop("yes", False), given.pop("dry_run", False)
    values, rookery = values_of(row, given), target.rookery()
    report = _silent if wants_json() else standard().note
    shown = SHOW if dry else fingerprint
    try:
        return rookery.call(row.name, session, report=report, fingerprint=shown, **values)
    except NotAgreed as question:
        if fingerprint:
            raise
        if not _agreed(question, yes=yes, dry=dry):
            return None
        agreed = question.fingerprint
    return rookery.call(row.name, session, report=report, fingerprint=agreed, **values)


def show_only(question: NotAgreed, more: str = "") -> None:
    """Print what `--dry-run` prints."""
    screen = standard()
    screen.result({name: value for name, value in question.question.items() if value})
    for each in question.shown.splitlines():
        screen.line(clean_line(each))
    if not wants_json():
        screen.note(f"Dry run: nothing was done.{more}")


def _agreed(question: NotAgreed, *, yes: bool, dry: bool) -> bool:
    """Tell whether to go ahead. Raises UsageError: a script has to pass --yes."""
    if dry:
        show_only(question, " Run it with --yes to go ahead.")
        return False
    for each in question.shown.splitlines():
        standard().note(clean_line(each))
    if yes:
        return True
    if not flags.in_terminal():
        raise click.UsageError("Nothing was done. To go ahead, pass --yes.")
    return click.confirm("Go ahead?", abort=True, err=True)


def _send(row: Row, session: str, say: Say, given: dict[str, Any], look: Any) -> int:
    """Send the operation to a session as a command."""
    if look is not None:
        return _looked(look, row, session, say, given)
    if given.pop("off", False) and (back := find(row.traits.undo)) is not None:
        if any(given.values()):
            raise click.UsageError("--off takes no time.")
        row, given = back, {}
    values = values_of(row, given)
    head = target.rookery().head(session) or {}
    known = conditions.facts(head, time.time() * 1000)
    if row.traits.needless and not conditions.holds(row, known):
        standard().note(f"{session} {row.traits.needless}.")
        result_of(session, {"needless": row.traits.needless})
        return exits.DONE
    outcome = send(session, row.command(values))
    if wants_json():
        result_of(session, outcome._asdict())
        return exits.DONE
    if notice := filling.confirmation(row, values, session, datetime.now().astimezone()):
        standard().note(notice)
    if row.traits.while_running and known["awake"] and head.get("state") != "idle":
        say(row.traits.while_running)
    return exits.DONE


def _silent(_message: str) -> None:
    """Ignore a message: with `--json` nothing else is printed."""
