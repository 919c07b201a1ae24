"""One process starts hundreds of apps. Textual parses the same rules for each of them, in a tenth
of a second of processor time; here they are parsed once for each set of variables."""

from typing import Any

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

_parse = Stylesheet._parse_rules
_parsed: dict[tuple[Any, ...], list[RuleSet]] = {}


def _parse_once(sheet: Stylesheet, css: str, *place: Any, **more: Any) -> list[RuleSet]:
    variables = frozenset(sheet._variables.items())
    key = (variables, css, place, tuple(more.items()))
    if key not in _parsed:
        _parsed[key] = _parse(sheet, css, *place, **more)
    return _parsed[key]


Stylesheet._parse_rules = _parse_once  # type: ignore[method-assign]
