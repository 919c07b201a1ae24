"""The parts of the app that the first paint does without, each loaded on first use."""

import os
from functools import cached_property
from typing import TYPE_CHECKING

from rookery.tui.shell import Shell
from rookery.tui.system.private import driver_of

if TYPE_CHECKING:
    from rookery.tui.actions.answers import Answers
    from rookery.tui.actions.composer import ComposerActions
    from rookery.tui.actions.seeking import Seeking
    from rookery.tui.pictures.shown import Pictures
    from rookery.tui.splash import SetUp
    from rookery.tui.surroundings import Surroundings
    from rookery.tui.system.driver import Answered
    from rookery.tui.system.notifications import Notifications
    from rookery.tui.widgets.feedback import Feedback
    from rookery.tui.widgets.find_bar import FindBar
    from rookery.tui.widgets.side_panel import SidePanel


class Parts(Shell):
    @cached_property
    def surroundings(self) -> "Surroundings":
        from rookery.tui.surroundings import Surroundings

        return Surroundings(self)

    @cached_property
    def desk(self) -> "ComposerActions":
        from rookery.tui.actions.composer import ComposerActions

        return ComposerActions(self)

    @cached_property
    def asking(self) -> "Answers":
        from rookery.tui.actions.answers import Answers

        return Answers(self)

    @cached_property
    def seeking(self) -> "Seeking":
        from rookery.tui.actions.seeking import Seeking

        return Seeking(self)

    @cached_property
    def calling(self) -> "Notifications":
        from rookery.tui.system.notifications import Notifications

        return Notifications(self._write, os.environ)

    @cached_property
    def set_up(self) -> "SetUp":
        """The agents and settings found here: a guess until they have been looked for."""
        from rookery.tui.splash import SetUp

        return SetUp(self.start.cwd, self.start.agent or "demo", bool(self.start.agent))

    @cached_property
    def pictures(self) -> "Pictures":
        """The pictures, loaded with the first one."""
        from rookery.tui.pictures.shown import Pictures
        from rookery.tui.system.driver import Driver

        driver = driver_of(self)
        return Pictures(self, driver if isinstance(driver, Driver) else None)

    def on_answered(self, message: "Answered") -> None:
        self.pictures.answered(message)

    def read_drafts(self) -> dict[str, str]:
        from rookery.tui.writing import drafts

        return drafts.read(self.start.home)

    def keep_drafts(self, texts: dict[str, str], shown: set[str]) -> None:
        from rookery.tui.writing import drafts

        drafts.keep(self.start.home, texts, shown)

    @property
    def panel(self) -> "SidePanel":
        from rookery.tui.widgets.side_panel import SidePanel

        return self.below(SidePanel)

    @property
    def find_bar(self) -> "FindBar":
        from rookery.tui.widgets.find_bar import FindBar

        return self.below(FindBar)

    @property
    def feedback(self) -> "Feedback":
        from rookery.tui.widgets.feedback import Feedback

        return self.below(Feedback)

    def _write(self, text: str) -> None:
        """Write to the terminal unchanged."""
        driver = driver_of(self)
        if driver is not None and not self.is_headless:
            driver.write(text)
