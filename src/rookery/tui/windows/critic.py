"""The critic's settings in one form: those of config.toml, and the judge of Rookery's own agent."""

from rookery.core.json.events import Json
from rookery.core.limits import CRITICS
from rookery.home import config
from rookery.models import setup
from rookery.models.profiles import Settings
from rookery.tui.windows.parts.fields import described
from rookery.tui.windows.setting import SettingsForm, schema

JUDGE = "judge"
BESIDE = "critic.command"
"""The field before it."""
USUAL = "usual"
OFF = "off"
MODEL = "model:"
"""Before a model's name, since one may be called "off"."""


class CriticForm(SettingsForm):
    """Ends with the changes that were written."""

    def __init__(self, found: config.Config, saved: Settings) -> None:
        self._judge = chosen(saved)
        self._saved: Json = {}
        super().__init__("Critic", CRITICS, found)
        fields = list(schema(CRITICS)["properties"].items())
        at = [name for name, _ in fields].index(BESIDE) + 1
        fields.insert(at, (JUDGE, field(saved)))
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
            lambda: setup.outcome(lambda: setup.judge(home, wanted(wished))),
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


def chosen(saved: Settings) -> str:
    if not saved.critic.enabled:
        return OFF
    return f"{MODEL}{saved.critic.judge}" if saved.critic.judge else USUAL


def field(saved: Settings) -> Json:
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


def wanted(wished: str) -> Json:
    if wished == OFF:
        return {"enabled": False}
    judge = wished.removeprefix(MODEL) if wished.startswith(MODEL) else ""
    return {"enabled": True, "judge": judge}
