"""A worker that does not respond: shown in the status line and in the transcript."""

from rookery.core.blocks.document import Op, make_block
from rookery.core.json.events import Json
from rookery.tui.messages import HungChanged
from rookery.tui.shell import Shell
from rookery.tui.widgets.status import Status

TITLE = "The session's worker does not respond"
WORDS = (
    "Its work is saved, and what you send is queued. If it stays like this, end it with "
    "!rookery stop --now {} (the ! runs it from here); the next prompt wakes the session."
)


class Hung(Shell):
    _hung_block = ""

    def on_hung_changed(self, message: HungChanged) -> None:
        if message.session != self.session:
            return
        self.below(Status).tell_hung(message.session if message.hung else "")
        if self.window.apply(self._ops(self.window.header, message)):
            self.transcript.changed()

    def _ops(self, header: Json, message: HungChanged) -> list[Op]:
        gone, self._hung_block = self._hung_block, ""
        ops: list[Op] = [["drop", gone]] if gone else []
        if message.hung:
            self._hung_block = f"{header['turn']}.hung"
            words = WORDS.format(message.session)
            block = make_block(self._hung_block, "notice", status="warn", title=TITLE, text=words)
            ops.append(["put", block])
        return ops
