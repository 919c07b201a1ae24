"""The forms for settings of config.toml, built from the table of settings; for the critic, with the
judge of Rookery's own agent; and for how that agent condenses conversations."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from rookery.client.config import edit
from rookery.core.json import Json
from rookery.core.limits import (
    AT_ONCE,
    CRITICS,
    INTERFACES,
    NEXT_SCREEN,
    NUMBERS,
    BadValue,
    Setting,
    checked,
    range_of,
    written,
)
from rookery.core.policy import approvals
from rookery.core.settings import definitions
from rookery.core.settings.devices import DEVICES
from rookery.core.settings.loosening import loosened
from rookery.core.settings.notify import EFFECT, NOTIFY
from rookery.core.settings.sandbox import SANDBOX
from rookery.core.settings.web import WEB
from rookery.forms.form import PASSWORD, Form, Saved, choices, described, in_titles
from rookery.home import config, confirmed
from rookery.models import profiles, saved_models
from rookery.models.profiles import Settings

PLACES: dict[str, tuple[str, tuple[Setting, ...]]] = {
    "interface": ("Interface", INTERFACES),
    "worker": (
        "Sessions and workers",
        (*definitions.PLAIN, *definitions.SESSION, *definitions.AGENT),
    ),
    "sandbox": ("Sandbox", SANDBOX),
    "web": ("Web", WEB),
    "limits": ("Times and limits", (*NUMBERS, *DEVICES)),
    "notify": ("Notifications", NOTIFY),
}
"""Parts of config.toml with a form each; the critic has one of its own."""

JUDGE = "judge"
BESIDE = "critic.command"
"""The field before it."""
USUAL = "usual"
OFF = "off"
MODEL = "model:"
"""Before a model's name, since one may be called "off"."""


TITLES = {
    "interface.diff": "Diffs",
    "interface.cards_expanded": "Tool cards",
    "interface.plan_opens": "Plan",
    "interface.compact_list": "Session list",
    "interface.pictures": "Pictures",
    "node_path": "Node.js",
    "show_tool_durations": "Tool durations",
    "session.confirm": approvals.TITLE,
    "session.budget_turn": "Budget per turn",
    "session.budget_session": "Budget per session",
    "session.budget_day": "Budget per day",
    "agent.warm": "Warm start",
    "web.fetch": "Web pages",
    "web.allow": "Private hosts",
    "web.search": "Web search",
    "web.search_key": "Search key",
    "web.search_url": "Search address",
    "sandbox.kind": "Sandbox",
    "sandbox.allow": "Allowed hosts",
    "sandbox.read": "Readable paths",
    "sandbox.pids": "Process limit",
    "sandbox.args": "Engine arguments",
    "worker.cancel_grace": "Cancel timeout",
    "worker.budget_grace": "Grace after a budget",
    "worker.force_end_after": "Force end",
    "worker.silent_after": "Silence timeout",
    "worker.silent_after_cost": "Silence timeout after the cost",
    "worker.off_protocol_grace": "Silence timeout for background work",
    "worker.idle_stop_secs": "Idle timeout",
    "worker.read_stop_secs": "Idle timeout once read",
    "worker.abandoned_after": "Abandoned workers",
    "worker.crash_within": "Early exit",
    "worker.crash_most": "Failed starts",
    "worker.crash_window": "Window for failed starts",
    "worker.worker_crash_most": "Worker restarts",
    "worker.stop_grace": "Stop timeout",
    "worker.switch_grace": "Switch timeout",
    "worker.delete_grace": "Delete timeout",
    "worker.chunk_window": "Merge window",
    "worker.line_bytes": "Line length",
    "worker.queue_drain": "Queued prompts",
    "worker.queue_most": "Queue length",
    "worker.queue_bytes": "Prompt size",
    "worker.terminal_keep": "Terminal output",
    "worker.confirm_destructive": "Destructive actions",
    "worker.max_workers": "Workers",
    "worker.max_cold_starts": "Starting workers",
    "worker.rate_limit_auto_resume": "Resend after a rate limit",
    "worker.rate_limit_grace": "Rate limit margin",
    "worker.rate_limit_least": "Shortest rate limit wait",
    "worker.rate_limit_most": "Rate limit attempts",
    "worker.ask_timeout": "Question timeout",
    "worker.keep_events": "Event limit",
    "worker.snapshot_file_bytes": "Snapshot file size",
    "notify.asks": "Questions",
    "notify.ends": "Finished turns",
    "notify.failures": "Failed turns",
    "notify.webhook_shape": "Webhook format",
    "notify.push_private": "Private networks",
    "notify.most": "Limit",
    "critic.enabled": "Critic",
    "critic.refine": "Automatic retry",
    "critic.score_below": "Minimum score",
    "critic.issue_at": "Issue threshold",
    "critic.iterations": "Retries",
}
"""The titles of settings in forms, if their keys do not read as words."""


def title_of(setting: Setting) -> str:
    return TITLES.get(setting.key) or setting.name.replace("_", " ").capitalize()


def schema(table: Sequence[Setting]) -> Json:
    called = {each.name: title_of(each) for each in table if "_" in each.name}
    return {"properties": {each.key: _field(each, called) for each in table}}


def _field(setting: Setting, called: Mapping[str, str]) -> Json:
    default = setting.default
    usual = _named(default).lower() if setting.meant else _usual(default)
    soon = setting.effect in (AT_ONCE, NEXT_SCREEN, EFFECT)
    later = "" if soon else f"takes effect {setting.effect}"
    details = [in_titles(setting.more, called), f"default {usual}", later]
    if not isinstance(default, bool) and not isinstance(default, str):
        details.insert(1, range_of(setting))
    brief = setting.brief.partition(": ")[0] if setting.meant else setting.brief
    field: Json = {
        "title": f"{title_of(setting)}: {in_titles(brief, called)}",
        "called": title_of(setting),
        "description": " · ".join(terms for terms in details if terms),
        "ranged": True,
    }
    if isinstance(default, bool):
        return {**field, "type": "boolean"}
    if isinstance(default, int | float):
        return {**field, "type": "number", "hint": usual}
    if setting.secret:
        return {**field, "type": "string", "format": PASSWORD}
    terms = [str(word) for word in setting.limit]
    if setting.meant is not None:
        return {**field, "type": "string", "oneOf": choices({word: _named(word) for word in terms})}
    return {**field, "type": "string", **({"enum": terms} if terms else {})}


def _named(value: str) -> str:
    """Return the title of a value of `session.confirm`."""
    return approvals.BY_ID[value].title


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
    """Return what is wrong with a number that the file's reader would only correct."""
    try:
        checked(setting, value, exact=True)
    except BadValue as error:
        return str(error)
    return ""


class SettingsForm(Form):
    def __init__(self, title: str, table: Sequence[Setting], current: config.Config) -> None:
        self.title, self.schema = title, schema(table)
        self._table = {each.key: each for each in table}
        self._before = {each.key: config.value_of(current, each) for each in table}
        self.values = {key: value for key, value in self._before.items() if self._is_said(key)}
        for key, setting in self._table.items():
            if setting.secret and self._before[key]:
                self.fields[key]["hint"] = "unchanged"

    def _is_said(self, key: str) -> bool:
        """Whether the field shows a value: neither the default nor a secret."""
        value, setting = self._before[key], self._table[key]
        chosen = isinstance(value, str) and bool(setting.limit)
        return not setting.secret and (
            isinstance(value, bool) or value != setting.default or chosen
        )

    def check(self, answers: Json) -> dict[str, str]:
        wrong = super().check(answers)
        for key, value in answers.items():
            if (
                value is not None
                and key not in wrong
                and (why := wrong_number(self._table[key], value))
            ):
                wrong[key] = why
        return wrong

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
        for value in setting.limit if setting.meant else ():
            rest = re.sub(rf"\b{value}\b", f"“{_named(str(value))}”", rest)
        return f"{title_of(setting)} {rest}"

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
        titles = ", ".join(title_of(self._table[key]) for key in changes)
        return Saved(True, f"Saved: {titles}.", changes=tuple(changes))


class CriticForm(SettingsForm):
    def __init__(self, current: config.Config, saved: Settings) -> None:
        super().__init__("Critic", CRITICS, current)
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
        "Judge: reviews the turns of Rookery's own agent",
        "a saved model · takes effect with the next turn",
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
            "enabled": described("Summarise long conversations", type="boolean"),
            "share": described(
                "Summarise when this much of the context is used",
                "percent",
                type="integer",
                minimum=10,
                maximum=profiles.MOST_SHARE,
            ),
            "max_size": described(
                "Also summarise above this many events",
                "0: no limit",
                type="integer",
                minimum=0,
                maximum=100_000,
            ),
            "keep_first": described(
                "First events to keep as they are",
                "less than half of the number above",
                type="integer",
                minimum=0,
            ),
            "profile": described("Model that summarises", oneOf=choices(models)),
        }
        now = saved.condenser
        profile = now.profile if now.profile in names else OWN_MODEL
        self.title = "Long conversations"
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
