"""The actions of a block, and the ways to answer an ask, as lines with their keys."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from rookery.core.blocks import Block, asks, captions
from rookery.core.json import lenient
from rookery.render.ask_choices import ALWAYS, always_words, choices
from rookery.render.lines.view import Controls, View
from rookery.render.runs import (
    Line,
    clean,
    clean_line,
    cut,
    prefixed,
    styled,
    trimmed,
    width_of,
    width_of_line,
    wrap,
)
from rookery.tui.keys.map import first

LEAST_CODE = 8
"""Columns of a command that still say something."""

ALL_ALIKE = {-1: "allow", -2: "reject"}
"""In the place of the action that waits for its confirmation: what is done with all asks that are
alike."""


class Pressed(NamedTuple):
    """The keys that the user has pressed so far, at the block that is drawn."""

    doubtful: int | None = None
    """The action that waits for its confirmation."""
    more: bool = False
    """Whether an ask shows every way to answer it."""
    explains: bool = False
    """Whether an ask shows what it would do."""
    chosen: str = ""
    """The key that answers it in a moment."""
    focused: bool = False
    """Whether the block has the cursor."""


class Keyboard(Controls):
    folds = True

    def __init__(
        self, keys: Mapping[str, str] = MappingProxyType({}), pressed: Pressed | None = None
    ) -> None:
        """Take the user's own keys, by name."""
        self._keys = keys
        self._pressed = pressed or Pressed()
        self.explains = self._pressed.explains

    def key(self, name: str) -> str:
        """Return the first key for an action, as it is written on the keyboard."""
        return first(self._keys, name)

    def hint(self, name: str, purpose: str) -> str:
        return f"{self.key(name)} {purpose}"

    def actions(self, block: Block, view: View) -> list[Line]:
        offered = captions.actions_of(block)
        return [line for at, each in enumerate(offered) for line in self._action(at, each, view)]

    def answers(self, block: Block, view: View) -> list[Line]:
        second = self._pressed.doubtful
        return self._ways(block, view) if second is None else self._second_step(block, second, view)

    def _action(self, place: int, action: dict[str, Any], view: View) -> list[Line]:
        label = clean_line(str(action.get("label") or ""))
        press = f"act={place}"
        number = self.key(f"ask.option{place + 1}") if place < 9 else " "
        key: Line = [(f" {number} ", f"key {press}"), (" ", "")]
        if why := clean_line(str(action.get("disabled") or "")):
            off: Line = [(f" {number}  ", "faint")]
            lines = wrap([(label, "soft strike"), (f"  {why}", "soft")], view.prose - 4)
            return prefixed(lines, off, [("    ", "")])
        runs = [(label, f"ink {press}")]
        if self._pressed.doubtful == place:
            hint = f"  {self.hint('ask.confirm', 'to confirm, any other key to go back')}"
            runs.append((hint, "failed bold"))
        elif action.get("danger"):
            runs.append(("  asks you to confirm", "soft"))
        return prefixed(wrap(runs, max(1, view.prose - 4)), key, [("    ", "")])

    def _second_step(self, block: Block, place: int, view: View) -> list[Line]:
        """Return what the first key chose, for confirmation before it is done."""
        if verdict := ALL_ALIKE.get(place):
            return self._all_alike(block, verdict, view)
        action, lines = block["actions"][place], list[Line]()
        if action.get("kind") in ALWAYS:
            head = str(action["label"]) if action.get("reach") else "Allow from now on: "
            lines += wrap([(clean_line(head), "soft")], view.prose)
            rule = wrap([(always_words(action), "ink")], max(1, view.prose - 2))
            lines += prefixed(rule, [("  ", "")])
        purpose = "to confirm," if action.get("danger") else "to always allow this,"
        return [*lines, self._confirm(purpose, view)]

    def _all_alike(self, block: Block, verdict: str, view: View) -> list[Line]:
        """Return all asks that one key answers, each in full."""
        same = lenient.sequence(block, "same")
        lines: list[Line] = []
        for at, each in enumerate(same, 1):
            rows = clean(lenient.text(each, "text")).split("\n")
            width = max(1, view.prose - 4)
            wrapped = [line for row in rows for line in wrap([(row, "ink")], width)]
            lines += prefixed(wrapped, [(f" {at}. ", "soft")], [("    ", "")])
        return [*lines, self._confirm(f"to {verdict} these {len(same)} once,", view)]

    def _confirm(self, purpose: str, view: View) -> Line:
        press = "choose=ask.confirm"
        go: Line = [(f" {self.key('ask.confirm')} ", f"key {press}")]
        go.append((f" {purpose} ", f"heading {press}"))
        return trimmed([*go, ("any other key to go back", "soft choose=back")], view.width)

    def _ways(self, block: Block, view: View) -> list[Line]:
        """Return each way to answer with its key; those rarely used only on demand."""
        seen, more = choices(block)
        lines = self._flow([(each.name, each.label) for each in seen], view)
        if not more:
            return self._going(lines)
        if not self._pressed.more:
            return self._going(self._flow([("ask.more", "more options")], view, lines))
        lines.append([])
        for each in more:
            if each.place is not None:
                lines += self._action(each.place, block["actions"][each.place], view)
        rest = [(each.name, each.label) for each in more if each.place is None]
        split = [("block.split", "diff side by side")] if asks.shows_diff(block) else []
        lines += self._flow([*rest, ("block.copy", "copy"), *split], view)
        lines.append([(f" {self.hint('ask.more', 'fewer options')}", "faint")])
        return lines

    def _flow(
        self, keys: list[tuple[str, str]], view: View, lines: list[Line] | None = None
    ) -> list[Line]:
        """Return the keys with their labels, as many on a line as fit."""
        lines = lines or [[]]
        for name, text in keys:
            press = styled(f"choose={name}", "reverse" if name == self._pressed.chosen else "")
            key = f" {self.key(name)} "
            fitted = _fitting(text, view.width - width_of(key) - 3)
            group: Line = [(key, f"key {press}"), (f" {fitted} ", f"ink {press}"), (" ", "")]
            if lines[-1] and width_of_line([*lines[-1], *group]) > view.prose:
                lines.append([])
            lines[-1] += group
        return [trimmed(line, view.width) for line in lines]

    def _going(self, lines: list[Line]) -> list[Line]:
        """Add the key that leads to the ask, unless it has the focus."""
        if self._pressed.focused:
            return lines
        return [*lines, [(f" {self.hint('ask.next', 'to answer')}", "needs")]]


def _fitting(text: str, room: int) -> str:
    """Cut the code in a label that is too long: what follows the code says how far the answer
    reaches."""
    before, _, rest = text.partition("`")
    code, _, after = rest.rpartition("`")
    left = room - width_of(f"{before}``{after}")
    return f"{before}`{cut(code, left)}`{after}" if code and left >= LEAST_CODE else text
