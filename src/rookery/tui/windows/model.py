"""The windows for saved models: their list, and the form that sets one up and tests it with one
call before it is saved."""

from rookery.client import warm_agent
from rookery.client.start import connectable
from rookery.core.json import Json
from rookery.forms import models
from rookery.forms.form import Saved
from rookery.forms.lists import Row, model_rows
from rookery.models import profiles
from rookery.tui.keys import bindings
from rookery.tui.keys.map import label
from rookery.tui.windows.parts.form import SavedForm
from rookery.tui.windows.parts.section import SectionScreen


class ModelForm(SavedForm):
    """The form for a model; returns {"words": …} when the model was saved."""

    BINDINGS = bindings.MODEL

    def __init__(self, settings: profiles.Settings, name: str = "") -> None:
        super().__init__(models.ModelForm(settings, name))

    def action_test(self) -> None:
        if (answers := self.checked()) is not None:
            self.tell("Testing the model …")
            self.run_form(lambda: self.form.test(self.home, answers), self._tested)

    def action_keep(self) -> None:
        if (answers := self.checked()) is not None:
            self.tell("Saving …")
            self.run_form(lambda: self.form.keep(self.home, answers), self.saved)

    def deliver(self, answers: Json) -> None:
        self.tell("Testing the model …")
        super().deliver(answers)

    def _tested(self, outcome: Saved) -> None:
        if outcome.ok:
            self.tell(f"{outcome.message} Not saved yet.")
        else:
            self.saved(outcome)

    def saved(self, outcome: Saved) -> None:
        super().saved(outcome)
        if outcome.ok:  # the first session finds the agent loaded
            self.shell.reader.fetch(
                lambda: warm_agent.ahead(self.home, connectable), lambda _: None
            )
        if not outcome.ok and not outcome.wrong:
            key = label(self.app, "model.keep")
            self.tell(f"✗ {outcome.message} Not saved; {key} saves it untested.")


class ModelsScreen(SectionScreen[None]):
    LIST = "models"
    NEW = "models.new"
    REMOVES = (
        "Remove the model {}?",
        "Its key is deleted. Sessions that use it need another model.",
    )
    BINDINGS = bindings.MODELS

    def load(self) -> tuple[profiles.Settings, str]:
        return profiles.look(self.home)

    def shown(self, loaded: tuple[profiles.Settings, str]) -> list[Row]:
        self._saved, problem = loaded
        if problem:
            self.tell(problem)
        return model_rows(self._saved)

    def choose(self, row: Row) -> None:
        self.shell.ask(ModelForm(self._saved, row.name), self._set_up)

    def action_new(self) -> None:
        self.shell.ask(ModelForm(self._saved), self._set_up)

    def _set_up(self, answer: Json) -> None:
        self.acted(Saved(True, answer["words"]))
