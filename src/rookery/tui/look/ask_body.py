"""The content of an ask as lines: in full on the card, except that a very long text is cut to its
beginning and its end; all of it in the window."""

from typing import Any

from rich.style import Style

from rookery.core.blocks import Block, asks
from rookery.render.diff import GAP, Row, rows_of
from rookery.tui.look import diff, part
from rookery.tui.look.palette import Look
from rookery.tui.look.runs import Line, broken, clean, clean_line, count, prefixed, wrap
from rookery.tui.look.view import View

WHOLE = 100
"""Lines of a command, of arguments or of a change that a card shows."""
HEAD, TAIL = 12, 4
"""Lines of what is longer."""
CARD = 200
"""Lines in total."""
LARGEST = 40_000
"""Larger changes are only compared in the window: that takes a moment."""
MAX_LINE_LENGTH = 1000
"""Longer lines of a change have no colours."""

_EDGE = "│ "


# --- on the card ---------------------------------------------------------------------------------


def on_card(block: Block, view: View) -> list[Line]:
    """Return the content for the card; lines left out are counted, with the key for them."""
    lines: list[Line] = []
    for piece in asks.pieces(block, view.agent, view.cwd, short=False):
        lines += _on_card(piece, view)
    return _ends(lines, CARD - TAIL, TAIL, view)


def _on_card(piece: asks.Piece, view: View) -> list[Line]:
    look = view.look
    match piece.look:
        case "words":
            return wrap([(clean_line(piece.text), look.ink)], view.prose)
        case "note":
            return wrap([(clean_line(piece.text), look.needs)], view.prose)
        case "diff":
            return [*_path(piece, look), *_change(piece.part or {}, view)]
        case "plan" if piece.title:
            key = f"{view.key('block.open')} to show it here"
            way = (f" · {key}", look.needs + Style.from_meta({"want": "open"}))
            title = wrap([(clean_line(piece.title), look.soft), way], view.prose)
            return prefixed(title, [(_EDGE, look.faint)])
        case "plan":
            return part.rendered(_plan(piece), view._replace(opened=True))
    width = max(1, view.width - len(_EDGE))
    text = piece.text.strip("\n")
    lines = text.split("\n")
    style = look.soft if piece.look == "input" else look.ink
    if len(lines) > WHOLE:
        head = _code("\n".join(lines[:HEAD]), width, style)
        tail = _code("\n".join(lines[-TAIL:]), width, style)
        more = [_more(len(lines) - HEAD - TAIL, "line", view)]
        body = [*head[:HEAD], *more, *tail[-TAIL:]]
    elif len(text) > WHOLE * width:
        head = _code(text[: HEAD * width], width, style)[:HEAD]
        tail = _code(text[-TAIL * width :], width, style)[-TAIL:]
        body = [*head, _more(len(text) - (HEAD + TAIL) * width, "character", view), *tail]
    else:
        rows = _code(text, width, style)
        body = rows if len(rows) <= WHOLE else _ends(rows, HEAD, TAIL, view)
    return prefixed(body, [(_EDGE, look.faint)])


def _plan(piece: asks.Piece) -> dict[str, Any]:
    return {"type": "markdown", "text": piece.text}


def _path(piece: asks.Piece, look: Look) -> list[Line]:
    return [[(clean_line(piece.text), look.heading)]] if piece.text else []


def _ends(lines: list[Line], head: int, tail: int, view: View) -> list[Line]:
    """Return the first and the last lines."""
    if len(lines) <= head + tail:
        return lines
    return [*lines[:head], _more(len(lines) - head - tail, "line", view), *lines[-tail:]]


def _more(number: int, noun: str, view: View) -> Line:
    key = view.key("block.open")
    text = f"… {count(max(1, number), f'more {noun}')} · {key} to show all"
    return [(text, view.look.needs + Style.from_meta({"want": "open"}))]


def _change(change: dict[str, Any], view: View) -> list[Line]:
    old, new = str(change.get("old") or ""), str(change.get("new") or "")
    if len(old) + len(new) > LARGEST:
        more = old.count("\n") + new.count("\n") - WHOLE
        return [*_beginning(old, new, view), _more(more, "line", view)]
    rows = rows_of(change)
    longest = max((len(row.text) for row in rows), default=0)
    if longest > MAX_LINE_LENGTH:
        lines = whole_change(change, view.width, view.look)
        return _ends(lines, WHOLE - TAIL, TAIL, view)
    lines = diff.rendered(change, view.width, view.look, split=view.split, most=WHOLE)
    more = len(rows) - WHOLE
    return [*lines[:-1], _more(more, "line", view)] if more > 0 else lines


def _beginning(old: str, new: str, view: View) -> list[Line]:
    """Return the first lines of a large change, not compared."""
    sides = [("-", side) for side in _first(old)] + [("+", side) for side in _first(new)]
    rows = [Row(sign, None, None, clean(text)) for sign, text in sides]
    return [line for row in rows for line in _row(row, 0, view.width, view.look)][:WHOLE]


def _first(text: str) -> list[str]:
    return text[: WHOLE * MAX_LINE_LENGTH].split("\n")[:WHOLE] if text else []


# --- in the window -------------------------------------------------------------------------------


def whole(block: Block, agent: str, cwd: str, width: int, look: Look) -> list[Line]:
    """Return the whole content. May take a while: do not call it on the screen's thread."""
    lines: list[Line] = []
    view = View(width, look, agent, cwd, opened=True)
    for piece in asks.pieces(block, agent, cwd):
        match piece.look:
            case "plan":
                lines += part.rendered(_plan(piece), view)
            case "words":
                lines += [[], *wrap([(clean_line(piece.text), look.heading)], width)]
            case "note":
                lines += wrap([(clean_line(piece.text), look.needs)], width)
            case "diff":
                lines += _path(piece, look)
                lines += whole_change(piece.part or {}, width, look)
            case _:
                style = look.soft if piece.look == "input" else look.ink
                rows = _code(piece.text.strip("\n"), max(1, width - len(_EDGE)), style)
                lines += prefixed(rows, [(_EDGE, look.faint)])
    for each in block["parts"]:
        if asks.says_more(each, block):
            lines += [[], *part.rendered(each, view)]
    return lines or [[("No more details.", look.soft)]]


def whole_change(change: dict[str, Any], width: int, look: Look) -> list[Line]:
    rows = rows_of(change)
    wide = diff.number_width(rows)
    return [line for row in rows for line in _row(row, wide, width, look)]


def _row(row: Row, wide: int, width: int, look: Look) -> list[Line]:
    if row.sign == GAP:
        return [[("⋯".rjust(wide), look.faint)]]
    number = f"{row.number or '':>{wide}} " if wide else ""
    style = look.ink + diff.ground(row, look)
    lead: Line = [(number, look.faint), (f"{row.sign} ", diff.ink(row, look))]
    blank = " " * (len(number) + 2)
    pieces = broken(row.text, max(1, width - len(blank))) or [""]
    return prefixed([[(piece, style)] for piece in pieces], lead, [(blank, look.plain)])


def _code(text: str, width: int, style: Style) -> list[Line]:
    """Return code as lines, broken as a terminal does it: blanks matter."""
    return [
        [(piece, style)]
        for line in clean(text).split("\n")
        for piece in (broken(line, width) if line else [""])
    ]
