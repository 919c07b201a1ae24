"""A tool call as a card: a line with its state, verb and object, then what the user would check."""

from collections.abc import Iterable, Sequence
from typing import Any

from rookery import render
from rookery.cli.output import lines
from rookery.cli.output.paint import Paint
from rookery.cli.output.safe import clean, clean_line
from rookery.core.blocks import Block, Document, captions
from rookery.core.json import lenient

COMMAND_LINES = 16
"""Lines shown of a command."""


def headline(
    block: Block, terminals: list[Block], paint: Paint, cwd: str, *, durations: bool = True
) -> str:
    """Return the first line of a card, with the mark of its state: `edit src/app.py +12 −3`, `run
    pytest -q · 4.2 s · exit 0`."""
    changes = ""
    if counts := render.call.changes(block):
        added = paint.in_("done", f"+{counts[0]}")
        changes = f" {added} {paint.in_('failed', f'{paint.sign("minus")}{counts[1]}')}"
    dot = f" {paint.sign('dot')} "
    extras = render.call.extras(block, terminals, block.get("seconds") if durations else None)
    rest = dot + paint.faint(dot.join(extra for extra, _ in extras)) if extras else ""
    return f"{paint.mark(captions.mark_of(block))} {title(block, cwd)}{changes}{rest}"


def title(block: Block, cwd: str) -> str:
    """Return the call in a few words."""
    return " ".join(piece for piece in captions.call_words(block, cwd) if piece)


def details(
    block: Block,
    terminals: list[Block],
    paint: Paint,
    *,
    full: bool,
    shown: Sequence[dict[str, Any]] | None = None,
) -> list[str]:
    """Return the lines of diffs and output, or else of the arguments. `shown`: parts that the
    call's ask already showed above, with its command; None: the call did not ask."""
    if captions.is_rejected(block) and not captions.diffs(block):
        return []
    if block.get("kind") in captions.QUIET and block["status"] != "failed" and not full:
        return []
    several = len(captions.diffs(block)) > 1
    rows = _command_lines(block, paint, full=full) if shown is None else []
    shown = shown or ()
    for part in captions.parts_of(block):
        if part in shown:
            continue
        if part["type"] == "diff" and several:
            rows.append(clean_line(part["path"]))
        text = lenient.text(part, "text") if part["type"] in ("markdown", "terminal") else ""
        output = captions.as_output(block, text) if part["type"] == "markdown" else text
        if part["type"] == "terminal" or (text and output is not None):
            rows += lines.of_output(captions.unfenced(output or ""), paint, full=full)
        else:
            rows += lines.of_part(part, paint, full=full)
    for terminal in terminals:
        rows += lines.of_output(terminal["text"], paint, full=full)
    if not rows and not any(part in shown for part in captions.parts_of(block)):
        rows = [paint.faint(argument) for argument in _arguments(block)]
    return rows


def _command_lines(block: Block, paint: Paint, *, full: bool) -> list[str]:
    """Return the lines of a command of several lines; a shorter one is in the headline."""
    command = captions.command_of(block) if captions.is_command(block) else ""
    if "\n" not in command:
        return []
    rows = [f"{paint.sign('edge')} {line}" for line in clean(command).split("\n")]
    return [paint.faint(line) for line in lines.middle(rows, COMMAND_LINES, paint, full)]


def _arguments(block: Block) -> list[str]:
    if block.get("kind") == "execute" or "input" not in block:
        return []
    return [lines.short_json(block["input"]["value"], 200)]


class LateOutput:
    """Output that commands print after their cards were written: a command may outlive its call."""

    def __init__(self) -> None:
        self._sent: dict[str, int] = {}
        """Characters written, by terminal."""
        self._cut: dict[str, Document] = {}
        """Terminals whose last line is incomplete."""

    def written(self, terminals: Iterable[Block]) -> None:
        """Record that a card shows these terminals as they are now."""
        self._sent |= {each["id"]: len(each["text"]) for each in terminals}

    def take(self, document: Document, terminal: Block, *, rest: bool) -> str:
        """Return the lines not written yet; `rest`: also an incomplete one."""
        name, text = str(terminal["id"]), str(terminal["text"])
        sent = self._sent.get(name, 0)
        over = rest or terminal.get("exit") is not None or bool(terminal.get("signal"))
        end = max(sent, len(text) if over else text.rfind("\n") + 1)
        self._sent[name] = end
        self._cut.pop(name, None)
        if end < len(text):
            self._cut[name] = document
        return text[sent:end]

    def left(self) -> list[tuple[Document, Block]]:
        """Return the terminals with an incomplete line."""
        cut = [(document, document.blocks.get(name)) for name, document in self._cut.items()]
        return [(document, block) for document, block in cut if block is not None]
