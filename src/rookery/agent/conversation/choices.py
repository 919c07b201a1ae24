"""The choices of a session: the mode (ACP's mode and an option are one setting), the model, its
effort, and whether it streams. The conversation applies them before its next step."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rookery.core.json import Json
from rookery.core.policy import approvals
from rookery.wire import choices

ALWAYS_ASK = "always-ask"
RISK_BASED = "risk-based"
ALWAYS_APPROVE = "always-approve"
PLAN = approvals.PLAN
MODE_OF = {
    approvals.EVERY: ALWAYS_ASK,
    approvals.RISKY: RISK_BASED,
    approvals.ALL: ALWAYS_APPROVE,
    approvals.PLAN: PLAN,
}
"""The id of each of Rookery's words here."""
MODES = tuple(
    (MODE_OF[each.id], each.title, f"{each.more[:1].upper()}{each.more[1:]}.")
    for each in approvals.TABLE
)
MODE_IDS = tuple(mode for mode, _, _ in MODES)
EFFORTS = (
    ("default", "Default", "As set for the model."),
    ("none", "None", "No reasoning, if the model allows that."),
    ("low", "Low", "Quick answers."),
    ("medium", "Medium", "Balanced."),
    ("high", "High", "Thorough."),
    ("xhigh", "Extra high", "As long as it takes."),
)
EFFORT_IDS = tuple(effort for effort, _, _ in EFFORTS)
SWITCH = {True: True, False: False, "on": True, "off": False}


class ChoiceValues(NamedTuple):
    """A session's choices as plain values."""

    mode: str = ALWAYS_ASK
    model: str = ""
    """A saved model's name; "": the default."""
    effort: str = "default"
    streaming: bool = True


class Choices:
    """A session's choices and what it offers. `models`: the name and model of each saved one.
    `efforts`: the levels that a model takes."""

    def __init__(
        self,
        wanted: ChoiceValues,
        models: Sequence[tuple[str, str]],
        *,
        booleans: bool,
        efforts: Callable[[str], Sequence[str]] = lambda _: EFFORT_IDS,
    ) -> None:
        self.wanted = wanted
        self._models = list(models)
        self._booleans = booleans
        self._efforts = efforts
        names = [name for name, _ in self._models]
        if self._models and wanted.model not in names:
            self.wanted = wanted._replace(model=names[0])
        self._forget_effort()

    def state(self) -> Json:
        """Return the state for the replies to session/new, load, resume and fork."""
        return choices.state(self.modes(), self.options())

    def modes(self) -> Json:
        listed = [{"id": id, "name": name, "description": why} for id, name, why in MODES]
        return {"currentModeId": self.wanted.mode, "availableModes": listed}

    def options(self) -> list[Json]:
        options = [_select("mode", "Mode", "mode", self.wanted.mode, MODES)]
        if self._models:
            models = [(name, name, model) for name, model in self._models]
            options.append(_select("model", "Model", "model", self.wanted.model, models))
        effort, offered = self.wanted.effort, self._offered_efforts()
        listed = [each for each in EFFORTS if each[0] in offered]
        options.append(_select("effort", "Effort", "thought_level", effort, listed))
        options.append(self._streaming())
        return options

    def _offered_efforts(self) -> Sequence[str]:
        model = dict(self._models).get(self.wanted.model, "")
        return self._efforts(model) if model else EFFORT_IDS

    def _forget_effort(self) -> None:
        """Reset the effort to the default if the model does not take it."""
        if self.wanted.effort not in self._offered_efforts():
            self.wanted = self.wanted._replace(effort=EFFORT_IDS[0])

    def _streaming(self) -> Json:
        about = "Show the answer as it is written."
        if self._booleans:
            kind: Json = {"type": "boolean", "currentValue": self.wanted.streaming}
            return {"id": "streaming", "name": "Streaming", "description": about, **kind}
        values = [("on", "On", about), ("off", "Off", "Show whole messages.")]
        value = "on" if self.wanted.streaming else "off"
        return _select("streaming", "Streaming", None, value, values)

    def model_names(self) -> list[str]:
        return [name for name, _ in self._models]

    def set_option(self, id: str, value: Any) -> list[Json]:
        """Set an option and return the updates that announce it. Raises UnknownChoice."""
        if id == "streaming" and isinstance(value, bool | str) and value in SWITCH:
            value = SWITCH[value]  # either form, whichever the client was offered
        else:
            choices.check(self.options(), id, value)
        self.wanted = self.wanted._replace(**{id: value})
        self._forget_effort()
        updates = [choices.mode_update(value)] if id == "mode" else []
        return [*updates, choices.options_update(self.options())]


def wanted_of(saved: Mapping[str, Any]) -> ChoiceValues:
    """Return the choices saved earlier, without those that are no longer offered."""
    valid = {
        "mode": saved.get("mode") in MODE_IDS,
        "model": isinstance(saved.get("model"), str),
        "effort": saved.get("effort") in EFFORT_IDS,
        "streaming": isinstance(saved.get("streaming"), bool),
    }
    return ChoiceValues(**{name: saved[name] for name, is_valid in valid.items() if is_valid})


def _select(
    id: str, name: str, category: str | None, value: str, values: Sequence[tuple[str, str, str]]
) -> Json:
    options = [
        {"value": each, "name": title, **({"description": why} if why else {})}
        for each, title, why in values
    ]
    option: Json = {"type": "select", "id": id, "name": name}
    option |= {"category": category} if category else {}
    return option | {"currentValue": value, "options": options}
