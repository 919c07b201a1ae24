"""Settings, models, MCP servers, agents and rules: forms to draw and fill in, and lists of what is
saved. Secrets are accepted and never sent back; the user has to agree to anything that asks less
than before."""

from typing import Annotated, Any, TypedDict

from rookery.client.config import in_force
from rookery.core.refusals import Refused
from rookery.forms import catalog
from rookery.forms.catalog import Deed, FormName, ListName
from rookery.forms.form import Form, Saved, complaint
from rookery.forms.sections import FORMS, LISTS
from rookery.operations.calling.carrying import preview_of
from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, Preview, read, work

GROUP = "Setup"
PERSON = "change settings"
MAX_TEXT, MAX_VALUES = 20_000, 200
LOOSER = "This allows more than before."

Which = Annotated[FormName, Arg("The form.")]
WhichList = Annotated[ListName, Arg("The list.")]
Entry = Annotated[
    str, Arg("Which entry of a list; empty: a new one.", max_length=200, reason="not_found")
]
Row = Annotated[str, Arg("The entry's name.", max_length=200, pattern="^.", reason="not_found")]
Values = Annotated[
    dict[str, Any],
    Arg("Omitted fields stay unchanged; null removes a value, empty keeps a secret."),
]
Untested = Annotated[bool, Arg("Save a model without testing it.")]
Do = Annotated[Deed, Arg("What to do with the entry.")]
Held = Annotated[
    str, Arg("The fingerprint of the settings that wait.", pattern="^.", max_length=100)
]


class HeldSettings(TypedDict):
    """Settings that were loosened while an agent was running, and do not apply."""

    fingerprint: Annotated[str, "Empty: nothing needs confirmation."]
    loosens: list[str]


class Overview(TypedDict):
    forms: Annotated[dict[str, str], "Titles by name."]
    lists: Annotated[dict[str, str], "Titles by name."]
    held: HeldSettings


class Drawn(TypedDict):
    """A form: draw its fields, send back what was changed."""

    title: str
    form: Annotated[dict[str, Any], "The fields, as ACP's restricted JSON schema."]
    values: Annotated[dict[str, Any], "The current values, without secrets."]
    tests: Annotated[bool, "Whether it can be tested before it is saved."]


class Listed(TypedDict):
    name: str
    title: str
    more: str
    sign: Annotated[str, "`on`, `off` or `bad`."]
    tag: str
    login: Annotated[bool, "Whether there is a login: the form `login`, `server_login`."]


class Rows(TypedDict):
    rows: list[Listed]
    problem: Annotated[str, "What is wrong with the file; may be empty."]


class SetupOutcome(TypedDict):
    """The outcome; if it is not done, what is wrong with which field."""

    summary: str
    done: bool
    wrong: Annotated[dict[str, str], "By field: a sentence for the user."]
    name: Annotated[str, "Its name now."]


@read("Settings", on="rookery", group=GROUP, role="all", typed=False)
def setup(at: At) -> Overview:
    """List what can be set up, and what waits for your confirmation."""
    held = in_force.settings(at.home).held
    waits: HeldSettings = {"fingerprint": "", "loosens": []}
    if held is not None:
        waits = {"fingerprint": held.fingerprint, "loosens": list(held.loosens)}
    titles = [{name: each.title for name, each in of.items()} for of in (FORMS, LISTS)]
    return {"forms": titles[0], "lists": titles[1], "held": waits}


@work("Confirm settings", on="rookery", group=GROUP, person=PERSON, typed=False, once="harmless")
def confirm_settings(at: At, held: Held) -> SetupOutcome:
    """Apply settings that were loosened while an agent was running."""
    in_force.confirm(at.home, held)
    return _outcome(Saved(True, "The settings apply."))


@read("A form of the settings", on="rookery", group=GROUP, role="all", typed=False)
def settings_form(at: At, form: Which, name: Entry = "") -> Drawn:
    """Read the fields of a form and what is in them."""
    drawn = catalog.form_of(at.home, form, name)
    fields, values = drawn.schema, drawn.values
    return {"title": drawn.title, "form": fields, "values": values, "tests": drawn.tests}


def _loosens(
    at: At, form: Which, values: Values, name: Entry = "", untested: Untested = False
) -> Preview | None:
    del untested
    filled = catalog.form_of(at.home, form, name)
    answers = catalog.answers_of(filled, _bounded(values))
    return None if filled.check(answers) else _shown(filled.loosens(at.home, answers), form, name)


@work(
    "Save settings",
    on="rookery",
    group=GROUP,
    person=PERSON,
    preview=_loosens,
    typed=False,
    once="harmless",
)
def save_settings(
    at: At, form: Which, values: Values, name: Entry = "", untested: Untested = False
) -> SetupOutcome:
    """Save what was changed in a form. What can be tested is tested first."""
    filled = catalog.form_of(at.home, form, name)
    answers = catalog.answers_of(filled, _bounded(values))
    if wrong := filled.check(answers):
        return _outcome(_invalid(wrong), filled)
    save = filled.keep if untested else filled.save
    return _outcome(save(at.home, answers), filled)


@work("Test settings", on="rookery", group=GROUP, person=PERSON, typed=False, once="harmless")
def try_settings(at: At, form: Which, values: Values, name: Entry = "") -> SetupOutcome:
    """Test a model as it is filled in, without saving it."""
    filled = catalog.form_of(at.home, form, name)
    if not filled.tests:
        raise Refused("not_here", "This cannot be tested before it is saved.")
    answers = catalog.answers_of(filled, _bounded(values))
    if wrong := filled.check(answers):
        return _outcome(_invalid(wrong), filled)
    return _outcome(filled.test(at.home, answers), filled)


@read("A list of the settings", on="rookery", group=GROUP, role="all", typed=False)
def settings_list(at: At, list_: WhichList) -> Rows:
    """List what is saved: models, MCP servers, agents or rules."""
    rows, problem = catalog.rows_of(at.home, list_)
    listed = [
        Listed(
            name=row.name,
            title=row.title,
            more=row.more,
            sign=row.sign,
            tag=row.tag,
            login=row.login,
        )
        for row in rows
    ]
    return {"rows": listed, "problem": problem}


def _loosens_list(at: At, list_: WhichList, name: Row, do: Do) -> Preview | None:
    return _shown(catalog.loosens(at.home, list_, name, do), list_, name, do)


@work(
    "Change a list of the settings",
    on="rookery",
    group=GROUP,
    person=PERSON,
    preview=_loosens_list,
    typed=False,
    once="harmless",
)
def change_settings_list(at: At, list_: WhichList, name: Row, do: Do) -> SetupOutcome:
    """Test, remove or turn off something that is saved, or make it the default."""
    return _outcome(catalog.done(at.home, list_, name, do))


def _shown(loosens: list[str], *facts: str) -> Preview | None:
    return preview_of("\n".join(loosens), *facts) if loosens else None


def _bounded(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values if they are not too many or too large. Raises Refused."""
    texts = [each for value in values.values() for each in (value, *_parts(value))]
    if len(values) > MAX_VALUES or any(
        isinstance(each, str) and len(each) > MAX_TEXT for each in texts
    ):
        message = f"At most {MAX_VALUES} values, of at most {MAX_TEXT} characters each."
        raise Refused("invalid", message, kind="usage")
    return values


def _parts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _invalid(wrong: dict[str, str]) -> Saved:
    return Saved(False, "Some fields are not valid.", wrong)


def _outcome(saved: Saved, form: Form | None = None) -> SetupOutcome:
    fields = {} if form is None else form.fields
    wrong = {name: complaint(name, fields.get(name), why) for name, why in saved.wrong.items()}
    return {"summary": saved.message, "done": saved.ok, "wrong": wrong, "name": saved.name}
