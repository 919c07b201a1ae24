"""The forms for settings of config.toml, built from the table of settings; for the critic, with the
judge of Rookery's own agent; and for how that agent condenses conversations."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

from rookery.agents import registry
from rookery.client.config import edit
from rookery.core import units
from rookery.core.asks import forms
from rookery.core.json import Json
from rookery.core.limits import (
    AT_ONCE,
    NEXT_SCREEN,
    BadValue,
    Setting,
    checked,
    range_of,
    written,
)
from rookery.core.settings import definitions
from rookery.core.settings.loosening import loosened
from rookery.core.settings.notify import EFFECT
from rookery.forms.form import PASSWORD, Form, Saved, choices, described, in_titles
from rookery.forms.sections import FORMS, Section
from rookery.home import config, confirmed
from rookery.models import profiles, saved_models
from rookery.models.profiles import Settings

NO_AGENT = "Rookery's own, or the demo until a model is set up"
LONG = 120
"""Seconds from which on a default is also said in minutes, hours or days."""
JUDGE = "judge"
BESIDE = "critic.command"
"""The field before it."""
USUAL = "usual"
OFF = "off"
MODEL = "model:"
"""Before a model's name, since one may be called "off"."""


def schema(table: Sequence[Setting], agents: Mapping[str, str] = MappingProxyType({})) -> Json:
    """Return the fields of the settings. `agents`: the titles of those that can be chosen."""
    called = {each.name: each.label for each in table if "_" in each.name}
    return {"properties": {each.key: _field(each, called, agents) for each in table}}


def _field(setting: Setting, called: Mapping[str, str], agents: Mapping[str, str]) -> Json:
    sentences = [_sentence(setting.brief), setting.more, _range(setting)]
    if setting.effect not in (AT_ONCE, NEXT_SCREEN, EFFECT):
        sentences.append(f"Takes effect {setting.effect.partition(' (')[0]}.")
    field: Json = {
        "type": setting.kind,
        "title": setting.label,
        "description": in_titles(" ".join(filter(None, sentences)), called),
        "ranged": True,
    }
    if setting.secret:
        return field | {"format": PASSWORD}
    if setting.how == "agent":
        return field | {"oneOf": choices({"": NO_AGENT, **agents})}
    if setting.choices:
        keys = ("const", "title", "description")
        named = [dict(zip(keys, each, strict=True)) for each in setting.choices]
        return field | {"oneOf": named}
    if setting.kind in ("integer", "number"):
        least, most = setting.limit
        return field | {"minimum": least, "maximum": most, "hint": written(setting.default)}
    hint = setting.example or str(setting.default or "")
    return field if setting.kind == "boolean" else field | {"hint": hint.strip('"')}


def _range(setting: Setting) -> str:
    """Return a sentence on what may be entered, and what is there if nothing is."""
    match usual := setting.default:
        case bool():
            return f"{'On' if usual else 'Off'} by default."
        case int() | float():
            shown = units.size(usual) if setting.unit == "bytes" else f"{usual:,.10g}"
            is_long = setting.unit == "seconds" and usual >= LONG
            spelled = f" ({units.duration(usual)})" if is_long else ""
            return f"{range_of(setting)}; by default {shown}{spelled}."
    if setting.choices:
        [title] = (title for value, title, _ in setting.choices if value == usual)
        return f"By default: {title}."
    return _sentence(setting.unit) if len(setting.unit.split()) > 2 and not setting.how else ""


def _sentence(text: str) -> str:
    is_word = text.partition(" ")[0].rstrip(",").isalpha()
    text = f"{text[:1].upper()}{text[1:]}" if is_word else text
    return text if text.endswith("…") else f"{text}."


def wrong_number(setting: Setting, value: object) -> str:
    """Return what is wrong with a number that the file's reader would only correct."""
    try:
        checked(setting, value, exact=True)
    except BadValue as error:
        return str(error)
    return ""


class SettingsForm(Form):
    def __init__(self, section: Section, current: config.Config) -> None:
        table, chosen = section.settings, current.default_agent
        agents = {name: registry.title_of(name) for name in registry.names(current.agents)}
        agents |= {chosen: agents.get(chosen, chosen)} if chosen else {}
        self.title, self.schema = section.title, schema(table, agents)
        self._table = {each.key: each for each in table}
        self._before = {each.key: config.value_of(current, each) for each in table}
        self.values = {key: value for key, value in self._before.items() if self._is_said(key)}
        for key, setting in self._table.items():
            if setting.secret and self._before[key]:
                self.fields[key] |= {"hint": "unchanged", "clears": True}

    def _is_said(self, key: str) -> bool:
        """Whether the field shows a value: neither the default nor a secret."""
        value, setting = self._before[key], self._table[key]
        chosen = isinstance(value, bool) or bool(forms.choices(self.fields[key]))
        return not setting.secret and (chosen or value != setting.default)

    def check(self, answers: Json) -> dict[str, str]:
        numbers = {
            key: why
            for key, value in answers.items()
            if key in self._table
            and value is not None
            and (why := wrong_number(self._table[key], value))
        }
        return super().check(answers) | numbers

    def changes(self, answers: Json) -> Json:
        """Return the values to write; None for the default. A secret that is not entered is
        kept."""
        changed: Json = {}
        for key, setting in self._table.items():
            usual, before = setting.default, self._before[key]
            value = answers.get(key, before if setting.secret else usual)
            if value != before and (value or before != ""):
                changed[key] = None if value in (usual, None, "") else value
        return changed

    def loosens(self, home: str, answers: Json) -> list[str]:
        edited = now = config.load(home)
        for key, value in self.changes(answers).items():
            usual = self._table[key].default
            new = ("" if usual is None else usual) if value is None else value
            edited = definitions.with_value(edited, self._table[key], new)
        more = loosened(
            confirmed.guarded_settings(home, now), confirmed.guarded_settings(home, edited)
        )
        return [self._titled(sentence) for sentence in more]

    def _titled(self, sentence: str) -> str:
        """Replace the key and its values in a sentence by the field's title and their names."""
        key, _, rest = sentence.partition(" ")
        if (setting := self._table.get(key)) is None:
            return sentence
        for value, title, _ in setting.choices:
            rest = re.sub(rf'"?\b{value}\b"?', f"“{title}”", rest)
        return f"{setting.label} {rest}"

    def save(self, home: str, answers: Json) -> Saved:
        changes = self.changes(answers)
        if not changes:
            return Saved(True, "Nothing was changed.")
        why = edit.attempt(partial(edit.change, home, changes))
        named = next((key for key in changes if f" {key} " in why), "")
        if named:
            return Saved(False, why, {named: why.partition(f" {named} ")[2].rstrip(".")})
        if why:
            return Saved(False, why)
        titles = ", ".join(self._table[key].label for key in changes)
        return Saved(True, f"Saved: {titles}.", changes=tuple(changes))


class CriticForm(SettingsForm):
    def __init__(self, current: config.Config, saved: Settings) -> None:
        super().__init__(FORMS["critic"], current)
        self._judge = _judge(saved)
        fields = list(self.fields.items())
        at = [name for name, _ in fields].index(BESIDE) + 1
        fields.insert(at, (JUDGE, _judge_field(saved)))
        self.schema = {"properties": dict(fields)}
        self.values = {**self.values, JUDGE: self._judge}

    def check(self, answers: Json) -> dict[str, str]:
        return super().check(_without_judge(answers))

    def save(self, home: str, answers: Json) -> Saved:
        """Save the judge first, since it may be rejected, then the rest."""
        rest = _without_judge(answers)
        wished = answers.get(JUDGE, self._judge)
        if wished == self._judge:
            return super().save(home, rest)
        outcome = saved_models.outcome(lambda: saved_models.judge(home, _judge_wanted(wished)))
        if not outcome.ok:
            return Saved(False, outcome.message, {JUDGE: f": {outcome.message}"})
        self._judge = wished
        after = super().save(home, rest)
        changes = (JUDGE, *after.changes)
        more = after.message.removeprefix("Saved: ") if after.changes else ""
        message = f"Saved: Judge, {more}" if more else "Saved: Judge."
        message = message if after.ok else after.message
        return after._replace(message=message, changes=changes)


def _without_judge(answers: Json) -> Json:
    return {key: each for key, each in answers.items() if key != JUDGE}


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
    return described(
        "Judge",
        "Reviews the turns of Rookery's own agent. Takes effect with the next turn.",
        oneOf=choices(titles),
        ranged=True,
    )


def _judge_wanted(wished: str) -> Json:
    if wished == OFF:
        return {"enabled": False}
    judge = wished.removeprefix(MODEL) if wished.startswith(MODEL) else ""
    return {"enabled": True, "judge": judge}


OWN_MODEL = "none"
"""The choice of the conversation's own model."""


class CondenserForm(Form):
    def __init__(self, saved: Settings) -> None:
        names = list(saved.profiles)
        models = {OWN_MODEL: "the conversation's own"} | {name: name for name in names}
        fields: Json = {
            "enabled": described("Summaries", "Summarise long conversations.", type="boolean"),
            "share": described(
                "Share of the context",
                "Summarise once this much of it is used, in percent.",
                type="integer",
                minimum=10,
                maximum=profiles.MOST_SHARE,
            ),
            "max_size": described(
                "Number of events",
                "Also summarise above so many. 0: no limit.",
                type="integer",
                minimum=0,
                maximum=100_000,
            ),
            "keep_first": described(
                "First events",
                "They are kept as they are: less than half of the number above.",
                type="integer",
                minimum=0,
            ),
            "profile": described("Model", "The one that summarises.", oneOf=choices(models)),
        }
        now = saved.condenser
        profile = now.profile if now.profile in names else OWN_MODEL
        self.title = FORMS["condenser"].title
        self.schema = {"properties": fields, "required": ["share", "max_size", "keep_first"]}
        self.values = {
            "enabled": now.enabled,
            "share": now.share,
            "max_size": now.max_size,
            "keep_first": now.keep_first,
            "profile": profile,
        }

    def check(self, answers: Json) -> dict[str, str]:
        wrong = super().check(answers)
        if wrong:
            return wrong
        size = answers["max_size"]
        if 0 < size < profiles.LEAST_SIZE:
            wrong["max_size"] = f"must be 0, or at least {profiles.LEAST_SIZE}"
        elif size and answers["keep_first"] >= size // 2:
            wrong["keep_first"] = "must be less than half of the number above"
        return wrong

    def save(self, home: str, answers: Json) -> Saved:
        profile = answers.get("profile", OWN_MODEL)
        wanted = {
            "enabled": bool(answers.get("enabled")),
            "share": answers["share"],
            "max_size": answers["max_size"],
            "keep_first": answers["keep_first"],
            "profile": "" if profile == OWN_MODEL else profile,
        }
        outcome = saved_models.outcome(partial(saved_models.condense, home, wanted))
        return Saved(outcome.ok, outcome.message)
