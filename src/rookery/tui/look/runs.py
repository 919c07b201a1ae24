"""Lines of runs as strips of the screen: the names of styles get their looks."""

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from rookery.render import runs
from rookery.render.runs import Measure
from rookery.tui.look.palette import Look

type Run = tuple[str, Style]
type Line = list[Run]

PICTURE = "\U0010eeee"
"""Each cell of a picture begins with it; no text from outside has it (`clean`)."""

Measure.width, Measure.chopped = cell_len, chop_cells


def painted(line: runs.Line, look: Look) -> Line:
    """Return a line with styles for their names."""
    named = look.named
    return [(text, named[names]) for text, names in line]


def strip_of(line: Line) -> Strip:
    return Strip([Segment(text, style) for text, style in line if text])
