"""Viewing a file: numbered lines, one part at a time."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote, urlencode

from rookery.client.work_tree.viewer import LINES, Part
from rookery.core import units
from rookery.core.json.safe_text import count
from rookery.core.json.secrets import masked
from rookery.daemon.pieces.review import head
from rookery.export.html.code import highlighted
from rookery.export.html.text import esc, esc_line, tag
from rookery.render import code

WRAP = '<button type="button" class="small" data-do="wrap-lines" aria-pressed="false">Wrap</button>'
COPY = '<button type="button" class="small" data-do="copy-path">Copy path</button>'


class Shown(NamedTuple):
    session: str
    path: str = ""
    """As it was asked for."""
    line: int = 0
    side: bool = False

    def address(self, path: str, **more: int) -> str:
        asked = {"path": path, **{name: number for name, number in more.items() if number}}
        return esc(f"/sessions/{quote(self.session)}/file?{urlencode(asked)}")


def rendered(part: Part, shown: Shown) -> str:
    size = units.size(part.size)
    about = size if part.binary else f"{count(part.lines, 'line')} · {size}"
    if part.binary:
        return _frame(shown, part.path, about, _empty("Binary file."))
    if not part.lines:
        return _frame(shown, part.path, about, _empty("Empty file."))
    note = "Values are hidden: files like this hold secrets." if part.masked else ""
    note = tag("p", note, "soft more") if note else ""
    table = f"<table>{lines(part, shown)}</table>"
    return _frame(shown, part.path, about, f'{note}<div class="diff">{table}</div>')


def lines(part: Part, shown: Shown) -> str:
    """Render the rows of a table, with links to earlier and later lines around them."""
    path = masked(part.path)
    rows = highlighted("\n".join(part.rows), code.language_of(path)).split("\n")
    html, after = "", part.first + len(part.rows)
    if part.first > 1:
        first = max(1, part.first - LINES)
        html += _more(shown, path, "Earlier lines", first=first, last=part.first - 1)
    for number, row in enumerate(rows, part.first):
        here = ' class="here"' if number == shown.line else ""
        html += f'<tr id="L{number}"{here}><td>{number}</td><td>{row}</td></tr>'
    if after <= part.lines:
        html += _more(shown, path, "Later lines", first=after, last=after + LINES - 1)
    return html


def _more(shown: Shown, path: str, label: str, *, first: int, last: int) -> str:
    address = shown.address(path, first=first, last=last)
    link = f'<a class="button small" data-do="file-part" href="{address}">{label}</a>'
    return f'<tr class="part"><td colspan="2">{link}</td></tr>'


def refused(message: str, remedy: str, shown: Shown) -> str:
    return _frame(shown, shown.path, "", _empty(message, remedy))


def choice(paths: Sequence[str], shown: Shown, *, more: bool) -> str:
    """Render a list of files to choose from; `more` means that there are others."""
    listed = "".join(
        f'<a data-do="file-view" data-path="{esc(path)}" href="{shown.address(path)}">'
        f'<span class="path"><bdi>{esc_line(masked(path))}</bdi></span></a>'
        for path in paths
    )
    if more:
        listed += tag("p", "There are more files. To find one, type some of its letters.", "soft")
    inner = (
        f'<nav class="files" aria-label="Files">{listed}</nav>' if paths else _empty("No files.")
    )
    return _frame(shown, "", "", inner)


def _empty(message: str, remedy: str = "") -> str:
    more = tag("p", esc_line(remedy), "soft") if remedy else ""
    return tag("div", tag("p", esc_line(message)) + more, "empty")


def _frame(shown: Shown, path: str, about: str, inner: str) -> str:
    path = masked(path)
    acts = (WRAP if "<table>" in inner else "") + (COPY if about else "")
    name = f'<h2 class="path" title="{esc_line(path)}"><bdi>{esc_line(path) or "Files"}</bdi></h2>'
    name += f'<span class="soft">{about}</span>'
    top = head.rendered(shown.session, name, acts, side=shown.side, close="Close the file")
    go = (
        '<form class="go" data-do="go-file" role="search" aria-label="Files"><input name="path" '
        'autocomplete="off" spellcheck="false" aria-label="Go to a file" '
        'placeholder="Go to a file, such as src/app.py:42"></form>'
    )
    attributes = f'data-session="{esc_line(shown.session)}" data-path="{esc(path)}"'
    attributes += f' data-line="{shown.line or ""}"'
    body = f'<div class="patch" tabindex="0" role="region" aria-label="Lines">{inner}</div>'
    return f'<section class="viewer" aria-label="File" {attributes}>{top}{go}{body}</section>'
