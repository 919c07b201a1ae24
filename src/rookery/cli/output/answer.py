"""A turn's output to a pipe: the agent's messages as they stream, without those of sub-agents.

They are separated by empty lines. Everything else is a line on stderr (`Transcript`, brief)."""

from rookery.cli.output.safe import clean
from rookery.cli.output.screen import Screen
from rookery.core.agent.chunks import CHILD
from rookery.core.blocks import Op
from rookery.core.blocks.tools import is_sub_agents
from rookery.core.json import Event, kind_of, lenient

QUIET = ".quiet"
"""The end of the id of a block that may come inside a message."""


class Answer:
    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._open = ""  # the block of the current message
        self._held = ""  # newlines at its end, written if more follows
        self._begun = False  # whether anything of it is written
        self.spoke = False

    def hear(self, event: Event, ops: list[Op]) -> None:
        """Write what an event adds. `ops`: the operations on the document that it became."""
        content = lenient.mapping(event.update, "content")
        if kind_of(event.update) == CHILD:
            return
        if kind_of(event.update) != "agent_message_chunk" or content.get("type") != "text":
            new = any(op[0] == "put" and not op[1]["id"].endswith(QUIET) for op in ops)
            if new or kind_of(event.update) == "plan":  # which is printed again
                self.close()
            return
        if is_sub_agents(event.update) or not ops:
            return
        name = ops[0][1]["id"] if ops[0][0] == "put" else ops[0][1]
        if name != self._open:
            self.close()
            self._open = name
        self._say(clean(lenient.text(content, "text")))

    def close(self) -> None:
        """End the current message."""
        if self._begun:
            self._screen.write("\n")
        self._open, self._held, self._begun = "", "", False

    def _say(self, text: str) -> None:
        text = text if self._begun else text.lstrip("\n")
        body = text.rstrip("\n")
        if body:
            apart = "\n" if self.spoke and not self._begun else ""
            self._screen.write(apart + self._held + body)
            self._begun = self.spoke = True
            self._held = ""
        self._held += text[len(body) :] if self._begun else ""
