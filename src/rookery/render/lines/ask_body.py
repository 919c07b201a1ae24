"""The content of an ask as lines: in full on the card, except that a very long text is cut to its
beginning and its end; all of it in the window."""

from typing import Any

from rookery.core.blocks import Block, asks
from rookery.render.diff import GAP, Row, rows_of
from rookery.render.lines import diff, part
from rookery.render.lines.view import View
from rookery.render.runs import Line, broken, clean, clean_line, count, prefixed, styled, wrap

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
    """Return the content for the card; lines left out are counted, with the key for them. Nothing
    is left out in print: nobody is to answer what they have not seen."""
    lines: list[Line] = []
    for piece in asks.pieces(block, view.agent, view.cwd, short=False):
        lines += _printed(piece, view) if view.printed else _on_card(piece, view)
    return lines if view.printed else _ends(lines, CARD - TAIL, TAIL, view)


def _printed(piece: asks.Piece, view: View) -> list[Line]:
    if piece.look == "plan" and piece.title and not view.alone:  # it is just above
        return prefixed(wrap([(clean_line(piece.title), "soft")], view.prose), [(_EDGE, "faint")])
    return _whole(piece, view)


def _on_card(piece: asks.Piece, view: View) -> list[Line]:
    match piece.look:
        case "words":
            return wrap([(clean_line(piece.text), "ink")], view.prose)
        case "note":
            return wrap([(clean_line(piece.text), "needs")], view.prose)
        case "diff":
            return [*_path(piece), *_change(piece.part or {}, view)]
        case "plan" if piece.title:
            way = f" · {view.controls.hint('block.open', 'to show it here')}"
            title: Line = [(clean_line(piece.title), "soft"), (way, "needs want=open")]
            return prefixed(wrap(title, view.prose), [(_EDGE, "faint")])
        case "plan":
            return part.rendered(_plan(piece), view._replace(opened=True))
    width = max(1, view.width - len(_EDGE))
    text = piece.text.strip("\n")
    lines = text.split("\n")
    style = "soft" if piece.look == "input" else "ink"
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
    return prefixed(body, [(_EDGE, "faint")])


def _plan(piece: asks.Piece) -> dict[str, Any]:
    return {"type": "markdown", "text": piece.text}


def _path(piece: asks.Piece) -> list[Line]:
    return [[(clean_line(piece.text), "heading")]] if piece.text else []


def _ends(lines: list[Line], head: int, tail: int, view: View) -> list[Line]:
    """Return the first and the last lines."""
    if len(lines) <= head + tail:
        return lines
    return [*lines[:head], _more(len(lines) - head - tail, "line", view), *lines[-tail:]]


def _more(number: int, noun: str, view: View) -> Line:
    key = view.controls.hint("block.open", "to show all")
    return [(f"… {count(max(1, number), f'more {noun}')} · {key}", "needs want=open")]


def _change(change: dict[str, Any], view: View) -> list[Line]:
    old, new = str(change.get("old") or ""), str(change.get("new") or "")
    if len(old) + len(new) > LARGEST:
        more = old.count("\n") + new.count("\n") - WHOLE
        return [*_beginning(old, new, view), _more(more, "line", view)]
    rows = rows_of(change)
    longest = max((len(row.text) for row in rows), default=0)
    if longest > MAX_LINE_LENGTH:
        return _ends(whole_change(change, view.width), WHOLE - TAIL, TAIL, view)
    lines = diff.rendered(change, view, WHOLE)
    more = len(rows) - WHOLE
    return [*lines[:-1], _more(more, "line", view)] if more > 0 else lines


def _beginning(old: str, new: str, view: View) -> list[Line]:
    """Return the first lines of a large change, not compared."""
    sides = [("-", side) for side in _first(old)] + [("+", side) for side in _first(new)]
    rows = [Row(sign, None, None, clean(text)) for sign, text in sides]
    return [line for row in rows for line in _row(row, 0, view.width)][:WHOLE]


def _first(text: str) -> list[str]:
    return text[: WHOLE * MAX_LINE_LENGTH].split("\n")[:WHOLE] if text else []


# --- in the window -------------------------------------------------------------------------------


def whole(block: Block, view: View) -> list[Line]:
    """Return the whole content. May take a while: do not call it on the screen's thread."""
    lines: list[Line] = []
    view = view._replace(opened=True)
    for piece in asks.pieces(block, view.agent, view.cwd):
        if piece.look == "words":
            lines += [[], *wrap([(clean_line(piece.text), "heading")], view.width)]
        else:
            lines += _whole(piece, view)
    for each in block["parts"]:
        if asks.says_more(each, block):
            lines += [[], *part.rendered(each, view)]
    return lines or [[("No more details.", "soft")]]


def _whole(piece: asks.Piece, view: View) -> list[Line]:
    match piece.look:
        case "plan":
            return part.rendered(_plan(piece), view._replace(opened=True))
        case "words":
            return wrap([(clean_line(piece.text), "ink")], view.width)
        case "note":
            return wrap([(clean_line(piece.text), "needs")], view.width)
        case "diff":
            return [*_path(piece), *whole_change(piece.part or {}, view.width)]
    style = "soft" if piece.look == "input" else "ink"
    rows = _code(piece.text.strip("\n"), max(1, view.width - len(_EDGE)), style)
    return prefixed(rows, [(_EDGE, "faint")])


def whole_change(change: dict[str, Any], width: int) -> list[Line]:
    rows = rows_of(change)
    wide = diff.number_width(rows)
    return [line for row in rows for line in _row(row, wide, width)]


def _row(row: Row, wide: int, width: int) -> list[Line]:
    if row.sign == GAP:
        return [[("⋯".rjust(wide), "faint")]]
    number = f"{row.number or '':>{wide}} " if wide else ""
    style = styled("ink", diff.ground(row))
    lead: Line = [(number, "faint"), (f"{row.sign} ", diff.ink(row))]
    blank = " " * (len(number) + 2)
    pieces = broken(row.text, max(1, width - len(blank))) or [""]
    return prefixed([[(piece, style)] for piece in pieces], lead, [(blank, "")])


def _code(text: str, width: int, style: str) -> list[Line]:
    """Return code as lines, broken as a terminal does it: blanks matter."""
    return [
        [(piece, style)]
        for line in clean(text).split("\n")
        for piece in (broken(line, width) if line else [""])
    ]
