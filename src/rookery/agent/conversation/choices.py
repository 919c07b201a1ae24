"""What a person can choose in a session: the mode (as ACP's mode and as an option, which are one
setting with two faces), the model, its effort, and whether it streams. What is chosen is a wish
until the conversation has taken it over between two steps."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

type Json = dict[str, Any]

ALWAYS_ASK = "always-ask"
RISK_BASED = "risk-based"
ALWAYS_APPROVE = "always-approve"
MODES = (
    (ALWAYS_ASK, "Always ask", "Every action that no rule allows waits for you."),
    (RISK_BASED, "Ask when risky", "Only what is risky or outside your directories waits for you."),
    (ALWAYS_APPROVE, "Always approve", "Only what cannot be undone waits for you."),
)
MODE_IDS = tuple(mode for mode, _, _ in MODES)
EFFORTS = (
    ("default", "Default", "As the model's profile says."),
    ("none", "None", "No reasoning, where the model allows that."),
    ("low", "Low", "Quick answers."),
    ("medium", "Medium", "Balanced."),
    ("high", "High", "Thorough."),
    ("xhigh", "Extra high", "As long as it takes."),
)
EFFORT_IDS = tuple(effort for effort, _, _ in EFFORTS)


class Wanted(NamedTuple):
    """A session's choices as plain values."""

    mode: str = ALWAYS_ASK
    model: str = ""
    """The name of a profile; "": the default one."""
    effort: str = "default"
    streaming: bool = True


class UnknownChoice(ValueError):
    """Not among what was offered."""


class Choices:
    """`models`: the saved profiles, each with its model's name. `efforts`: those that a model
    takes."""

    def __init__(
        self,
        wanted: Wanted,
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
        """What the answers to session/new, load, resume and fork say."""
        return {"modes": self.modes(), "configOptions": self.options()}

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
        """One that the model does not take."""
        if self.wanted.effort not in self._offered_efforts():
            self.wanted = self.wanted._replace(effort=EFFORT_IDS[0])

    def _streaming(self) -> Json:
        if self._booleans:
            about = "Show the answer while it is being written."
            kind: Json = {"type": "boolean", "currentValue": self.wanted.streaming}
            return {"id": "streaming", "name": "Streaming", "description": about, **kind}
        values = [
            ("on", "On", "Show the answer while it is being written."),
            ("off", "Off", "Show whole messages."),
        ]
        value = "on" if self.wanted.streaming else "off"
        return _select("streaming", "Streaming", None, value, values)

    def model_names(self) -> list[str]:
        return [name for name, _ in self._models]

    def set_mode(self, mode: str) -> list[Json]:
        """Returns the updates that tell it. Raises UnknownChoice."""
        if mode not in MODE_IDS:
            raise UnknownChoice(f"unknown mode {mode!r}: there are {', '.join(MODE_IDS)}")
        self.wanted = self.wanted._replace(mode=mode)
        return [
            {"sessionUpdate": "current_mode_update", "currentModeId": mode},
            self.options_update(),
        ]

    def set_model(self, name: str) -> list[Json]:
        if name not in self.model_names():
            known = ", ".join(self.model_names())
            raise UnknownChoice(f"there is no model {name!r}: there are {known}")
        self.wanted = self.wanted._replace(model=name)
        self._forget_effort()
        return [self.options_update()]

    def set_option(self, id: str, value: Any) -> list[Json]:
        """Returns the updates that tell it, beside the answer with the complete list."""
        match id:
            case "mode":
                return self.set_mode(str(value))
            case "model":
                return self.set_model(str(value))
            case "effort":
                if value not in self._offered_efforts():
                    raise UnknownChoice(f"option 'effort' has no value {value!r}")
                self.wanted = self.wanted._replace(effort=value)
            case "streaming":
                known = {True: True, False: False, "on": True, "off": False}
                if not isinstance(value, bool | str) or value not in known:
                    raise UnknownChoice(f"option 'streaming' has no value {value!r}")
                self.wanted = self.wanted._replace(streaming=known[value])
            case _:
                raise UnknownChoice(f"unknown option {id!r}")
        return [self.options_update()]

    def options_update(self) -> Json:
        return {"sessionUpdate": "config_option_update", "configOptions": self.options()}


def wanted_of(saved: Mapping[str, Any], default: Wanted) -> Wanted:
    """What was chosen before; what is no longer offered is forgotten."""
    mode, model = saved.get("mode"), saved.get("model")
    effort, streaming = saved.get("effort"), saved.get("streaming")
    return Wanted(
        mode if mode in MODE_IDS else default.mode,
        model if isinstance(model, str) and model else default.model,
        effort if effort in EFFORT_IDS else default.effort,
        streaming if isinstance(streaming, bool) else default.streaming,
    )


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
