"""Settings of config.toml as forms, from the table of settings; the critic's with the judge of
Rookery's own agent; and how it condenses."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from rookery.client.config import edit
from rookery.core.json import Json, lenient
from rookery.core.limits import (
    AT_ONCE,
    CRITICS,
    NEXT_SCREEN,
    BadValue,
    Setting,
    checked,
    range_of,
    written,
)
from rookery.home import config
from rookery.models import setup
from rookery.models.profiles import Settings
from rookery.tui.keys import bindings
from rookery.tui.look.runs import clean_line
from rookery.tui.windows.parts.fields import described
from rookery.tui.windows.parts.form import FormScreen

JUDGE = "judge"
BESIDE = "critic.command"
"""The field before it."""
USUAL = "usual"
OFF = "off"
MODEL = "model:"
"""Before a model's name, since one may be called "off"."""


def schema(table: Sequence[Setting]) -> Json:
    return {"properties": {each.key: _field(each) for each in table}}


def _field(setting: Setting) -> Json:
    default = setting.default
    usual = _usual(default)
    soon = setting.effect in (AT_ONCE, NEXT_SCREEN)
    later = "" if soon else f"takes effect {setting.effect}"
    said = [setting.more.replace("`", "'"), f"default {usual}", later]
    if not isinstance(default, bool) and not isinstance(default, str):
        said.insert(1, range_of(setting))
    field: Json = {
        "title": f"{setting.name.replace('_', ' ').capitalize()}: {setting.brief}",
        "called": setting.name,
        "description": " · ".join(words for words in said if words),
    }
    if isinstance(default, bool):
        return {**field, "type": "boolean"}
    if isinstance(default, int | float):
        return {**field, "type": "number", "hint": usual}
    words = [str(word) for word in setting.limit]
    return {**field, "type": "string", **({"enum": words} if words else {})}


def _usual(default: Any) -> str:
    match default:
        case None | "":
            return "none"
        case bool():
            return "yes" if default else "no"
        case str():
            return default
    return written(default)


def wrong_number(setting: Setting, value: Any) -> str:
    """What the file's reader would only correct."""
    try:
        checked(setting, value, exact=True)
    except BadValue as error:
        return str(error)
    return ""


class SettingsForm(FormScreen):
    """Ends with the changes that were written."""

    BINDINGS = bindings.SAVED

    def __init__(self, title: str, table: Sequence[Setting], found: config.Config) -> None:
        self._table = {each.key: each for each in table}
        self._before = {each.key: config.value_of(found, each) for each in table}
        shown = {
            key: value
            for key, value in self._before.items()
            if isinstance(value, bool)
            or value != self._table[key].default
            or (isinstance(value, str) and self._table[key].limit)
        }
        super().__init__(title, schema(table), shown)

    def about(self, field: object) -> str:
        return clean_line(lenient.text(field, "description"))

    def check(self, answers: Json) -> dict[str, str]:
        wrong = super().check(answers)
        for key, value in answers.items():
            if key not in wrong and (why := wrong_number(self._table[key], value)):
                wrong[key] = why
        return wrong

    def deliver(self, answers: Json) -> None:
        changes: Json = {}
        for key, setting in self._table.items():
            usual = setting.default
            value = answers.get(key, usual)
            if value != self._before[key] and (value or self._before[key] != ""):
                changes[key] = None if value in (usual, None, "") else value
        if not changes:
            self.done({})
            return
        self.save(partial(edit.change, self.home, changes), partial(self._ended, changes))

    def _ended(self, changes: Json, why: str) -> None:
        named = next((key for key in changes if f" {key} " in why), "")
        if named:
            self.mark({named: why.partition(f" {named} ")[2].rstrip(".")})
        elif why:
            self.tell(f"✗ {why}")
        else:
            self.done(changes)

    def done(self, changes: Json) -> None:
        self.dismiss(changes)


class CriticForm(SettingsForm):
    """Ends with the changes that were written."""

    def __init__(self, found: config.Config, saved: Settings) -> None:
        self._judge = _judge(saved)
        self._saved: Json = {}
        super().__init__("Critic", CRITICS, found)
        fields = list(schema(CRITICS)["properties"].items())
        at = [name for name, _ in fields].index(BESIDE) + 1
        fields.insert(at, (JUDGE, _judge_field(saved)))
        self._schema = {"properties": dict(fields)}
        self._values = {**self._values, JUDGE: self._judge}
        self.fields = fields

    def check(self, answers: Json) -> dict[str, str]:
        return super().check({key: each for key, each in answers.items() if key != JUDGE})

    def deliver(self, answers: Json) -> None:
        """The judge first: it may be rejected."""
        rest = {key: each for key, each in answers.items() if key != JUDGE}
        wished = answers.get(JUDGE, self._judge)
        if wished == self._judge:
            super().deliver(rest)
            return
        home = self.home
        self.fetch(
            lambda: setup.outcome(lambda: setup.judge(home, _judge_wanted(wished))),
            lambda outcome: self._judged(outcome, wished, rest),
        )

    def _judged(self, outcome: setup.Outcome, wished: str, rest: Json) -> None:
        if not outcome.ok:
            self.mark({JUDGE: f": {outcome.words}"})
            return
        self._judge, self._saved = wished, {JUDGE: wished}
        super().deliver(rest)

    def done(self, changes: Json) -> None:
        super().done({**self._saved, **changes})


def _judge(saved: Settings) -> str:
    if not saved.critic.enabled:
        return OFF
    return f"{MODEL}{saved.critic.judge}" if saved.critic.judge else USUAL


def _judge_field(saved: Settings) -> Json:
    names = list(saved.profiles)
    gone = saved.critic.judge if saved.critic.judge not in (*names, "") else ""
    titles = {USUAL: "OpenHands' critic, for models from its proxy"}
    titles |= {f"{MODEL}{name}": f"the model {name}" for name in names}
    titles |= {f"{MODEL}{gone}": f"the model {gone} (removed)"} if gone else {}
    titles[OFF] = "none"
    choices = [{"const": value, "title": title} for value, title in titles.items()]
    return described(
        "Judge: judges the turns of Rookery's own agent",
        "A saved model reviews the work. · takes effect with the next turn",
        oneOf=choices,
    )


def _judge_wanted(wished: str) -> Json:
    if wished == OFF:
        return {"enabled": False}
    judge = wished.removeprefix(MODEL) if wished.startswith(MODEL) else ""
    return {"enabled": True, "judge": judge}


OWN_MODEL = "none"
"""The choice of the conversation's own model."""


class CondenserForm(FormScreen):
    """Ends with {"words": …} when it was changed."""

    BINDINGS = bindings.SAVED

    def __init__(self, found: Settings) -> None:
        names = list(found.profiles)
        own = {"const": OWN_MODEL, "title": "the conversation's own"}
        models = [own, *({"const": name, "title": name} for name in names)]
        fields: Json = {
            "enabled": described("Condense long conversations", type="boolean"),
            "max_size": described(
                "Condense above this many events", type="integer", minimum=10, maximum=100_000
            ),
            "keep_first": described(
                "Keep this many of the first events",
                "less than half of the number above",
                type="integer",
                minimum=0,
            ),
            "profile": described("Model that condenses", oneOf=models),
        }
        now = found.condenser
        shown = now._asdict() | {"profile": now.profile if now.profile in names else OWN_MODEL}
        required = ["max_size", "keep_first"]
        super().__init__("Long conversations", {"properties": fields, "required": required}, shown)

    def check(self, answers: Json) -> dict[str, str]:
        wrong = super().check(answers)
        if not wrong and answers["keep_first"] >= answers["max_size"] // 2:
            wrong["keep_first"] = "must be less than half of the number above"
        return wrong

    def deliver(self, answers: Json) -> None:
        profile = answers.get("profile", OWN_MODEL)
        wanted = {
            "enabled": bool(answers.get("enabled")),
            "max_size": answers["max_size"],
            "keep_first": answers["keep_first"],
            "profile": "" if profile == OWN_MODEL else profile,
        }
        change = partial(setup.condense, self.home, wanted)
        self.fetch(lambda: setup.outcome(change), self._ended)

    def _ended(self, outcome: setup.Outcome) -> None:
        if outcome.ok:
            self.dismiss({"words": outcome.words})
        else:
            self.tell(f"✗ {outcome.words}")
