"""Rendering code, terminal output and JSON as HTML, with classes for tokens and colours."""

import colorsys
import json
from functools import lru_cache

from rookery.core.json.safe_text import count
from rookery.export.html.text import esc, tag
from rookery.render import code, terminal

MOST_LINES, MOST_TEXT = 2_000, 400_000
"""Lines and characters shown of one output: its end, as a terminal would."""

LONGEST_CODE = 400_000
LONGEST_JSON, DEEPEST = 40_000, 40

HUES = ("red", "yellow", "green", "cyan", "blue", "magenta")
_SIXTEEN = ("", "red", "green", "yellow", "blue", "magenta", "cyan", "")
_LEVELS = (0, 95, 135, 175, 215, 255)


def highlighted(text: str, language: str) -> str:
    """Render the text with a class for each token that is styled."""
    shown, cut = text[:LONGEST_CODE], len(text) - LONGEST_CODE
    lines = ("".join(_token(*token) for token in line) for line in code.tokens(shown, language))
    more = f"\n{left_out(cut, 'more character')}" if cut > 0 else ""
    return "\n".join(lines) + more


def left_out(number: int, noun: str) -> str:
    return tag("span", f"… {count(number, noun)}", "more")


@lru_cache(maxsize=64)
def token_class(kind: str) -> str:
    """Return the class of a token, such as `t-literal-string`."""
    return "t-" + kind.lower().replace(".", "-")


def _token(text: str, kind: str) -> str:
    return tag("span", esc(text), token_class(kind)) if kind else esc(text)


def as_json(value: object) -> str:
    """Render a value as indented JSON."""
    if isinstance(value, str):
        return esc(value[:LONGEST_JSON])
    try:
        text = json.dumps(_pruned(value, DEEPEST), indent=2, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return f"a {type(value).__name__}"
    cut = len(text) - LONGEST_JSON
    more = f"\n{left_out(cut, 'more character')}" if cut > 0 else ""
    return highlighted(text[:LONGEST_JSON], "json") + more


def _pruned(value: object, levels: int) -> object:
    if isinstance(value, dict | list) and levels <= 0:
        return "… (nested too deeply)"
    if isinstance(value, dict):
        return {str(key): _pruned(each, levels - 1) for key, each in value.items()}
    return [_pruned(each, levels - 1) for each in value] if isinstance(value, list) else value


# --- terminals -----------------------------------------------------------------------------------


def printed(text: str) -> str:
    """Render a command's output as a terminal would show it; if there is too much, only its end."""
    text = text.strip("\n")
    cut = max(0, len(text) - MOST_TEXT)
    text = text[cut:]
    rows = text.rsplit("\n", MOST_LINES)
    lost = 0
    if len(rows) > MOST_LINES:
        lost, text = rows[0].count("\n") + 1, "\n".join(rows[1:])
    notice = left_out(lost, "earlier line") if lost else ""
    notice = left_out(cut, "earlier character") if cut else notice
    lines = map(printed_line, terminal.lines_of(text))
    return (f"{notice}\n" if notice else "") + "\n".join(lines)


def printed_line(line: terminal.Line) -> str:
    return "".join(_run(*run) for run in line)


def _run(text: str, style: terminal.Style) -> str:
    kind = style_class(style)
    return tag("span", esc(text), kind) if kind else esc(text)


@lru_cache(maxsize=1000)
def style_class(style: terminal.Style) -> str:
    """Return classes for a style. Colours become hues that are readable in both themes; those that
    a program chose may not be."""
    names = [f"f-{name}" for name in (hue(style.colour),) if name]
    names += [f"g-{name}" for name in (hue(style.ground),) if name]
    return " ".join([*names, *sorted(f"s-{flag}" for flag in style.flags)])


def hue(colour: terminal.Colour) -> str:
    """Return one of HUES, grey, or "" for a colour close to the text's or the background's."""
    if colour is None:
        return ""
    if isinstance(colour, tuple):
        return _nearest(*colour)
    if colour < 16:
        return "grey" if colour == 8 else _SIXTEEN[colour % 8]
    if colour >= 232:
        return "grey" if 238 <= colour <= 248 else ""
    cube = colour - 16
    return _nearest(*(_LEVELS[each] for each in (cube // 36, cube // 6 % 6, cube % 6)))


def _nearest(red: int, green: int, blue: int) -> str:
    turn, much, light = colorsys.rgb_to_hsv(red / 255, green / 255, blue / 255)
    if much < 0.2 or light < 0.2:
        return "grey" if 0.35 < light < 0.75 else ""
    return HUES[round(turn * 6) % 6]
