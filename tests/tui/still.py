"""The program without its reader thread: it shows what a test gives it, and what it would send is
kept."""

from collections.abc import Callable, Sequence
from typing import Any

from textual.widgets import Input

from rookery.client.attach import Attachment
from rookery.core.blocks.document import Block
from rookery.core.header import EMPTY
from rookery.core.json.events import Json
from rookery.core.limits import Interface
from rookery.core.view.fleet import fleet_block, head_of
from rookery.core.view.states import in_order
from rookery.tui.app import Rookery
from rookery.tui.messages import FleetChanged, Opened, SetUpFound
from rookery.tui.reader import ReaderThread
from rookery.tui.shell import Start
from rookery.tui.splash import SetUp
from rookery.tui.transcript.answer_guard import AnswerGuard
from tests.tui.gallery import NOW

Input.cursor_blink = False  # a slow machine would take its picture without the cursor


class AtOnce(ReaderThread):
    """What a window asks for is there when it asked."""

    def fetch[Found](self, work: Callable[[], Found], then: Callable[[Found], object]) -> None:
        then(work())


class Still(Rookery):
    """No session is read, nothing is sent; windows read the files of `home`. An ask waits for F2,
    and a key answers it without a pause."""

    def __init__(
        self,
        opened: Opened | None = None,
        theme: str = "rookery-dark",
        home: str = "/nowhere",
        taste: Interface | None = None,
    ) -> None:
        taste = taste or Interface(theme=theme.removeprefix("rookery-"))
        super().__init__(Start(home, "/work", taste=taste, clock=lambda: NOW))
        self.reader = AtOnce(home, self.post_message)
        self.kept: list[Json] = []
        self.found_here = SetUp("/work", installed=("claude",))
        self._given = opened
        self.asking.takes_focus = False
        self.sent: list[Json] = []
        self.files: list[Attachment] = []

    def _begin(self) -> None:
        self.composer.cursor_blink = False
        self.transcript.asks.guard = AnswerGuard(0, 0)
        self.on_fleet_changed(FleetChanged(fleet()))
        self.on_set_up_found(SetUpFound(self.found_here))
        if self._given is not None:
            self.session = self.composer.session = self._given.session
            self.fleet.mark_shown(self.session)
            self.on_opened(self._given)

    def look_around(self) -> None:
        """Everything is known."""

    def branch_of(self, cwd: str) -> str:
        return "main"

    def keep_taste(self, **changes: Any) -> None:
        self.kept.append(changes)

    def send(self, command: Json, session: str = "", files: Sequence[Attachment] = ()) -> None:
        self.sent.append(command)
        self.files += files


def fleet() -> list[Block]:
    rows = (
        ("b2", "Tidy up the build scripts", "running", "codex", 0),
        ("a1b2c3", "Explain the parser", "running", "claude", 1),
        ("c3", "Write the release notes, with everything in them", "idle", "demo", 0),
    )
    return in_order([a_session(*row) for row in rows])


def a_session(
    name: str, title: str, state: str, agent: str, asks: int = 0, queue: int = 0, reason: str = ""
) -> Block:
    header = EMPTY.with_(id=name, title=title, state=state, agent=agent)
    header = header.with_(
        turn=1,
        since=NOW,
        reason=reason,
        queue=[{"id": str(n)} for n in range(queue)],
        asks={str(n): {} for n in range(asks)},
    )
    return fleet_block(head_of(header, 1, NOW), awake=state != "idle")
