"""Code and the output of commands as lines of runs."""

from rookery.core.json.safe_text import clean
from rookery.render import code, terminal
from rookery.render.runs import Line, styled

TOKENS = {kind: f"token={kind}" if kind else "ink" for kind in code.KINDS}


def highlighted(text: str, language: str, *names: str) -> list[Line]:
    """Return a line for each line of the text; `names`: of the style under the tokens' own."""
    return [
        [(piece, styled(TOKENS[kind], *names)) for piece, kind in line]
        for line in code.tokens(text, language)
    ]


def printed(text: str, *names: str, longest: int = terminal.LONGEST_LINE) -> list[Line]:
    """Return the lines that a terminal would show, in the program's own colours."""
    return [
        [(piece, styled(*names, terminal.name_of(style))) for piece, style in line]
        for line in terminal.lines_of(text, longest)
    ]


def source(text: str, name: str = "ink") -> list[Line]:
    """Return a text line by line, as it was written."""
    return [[(row, name)] if row else [] for row in clean(text).split("\n")]
