"""One changed file: its hunks, the lines around them, and the actions for it."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import quote, urlencode

from rookery.client.work_tree.changes import Change, File, Hunk
from rookery.client.work_tree.context import Gap, gaps
from rookery.core.json import secrets
from rookery.core.json.safe_text import count
from rookery.core.json.secret_files import hides_values, without_value
from rookery.export.html.diff import marked
from rookery.export.html.text import esc, esc_line, tag
from rookery.render import code
from rookery.render.code import Tokens
from rookery.render.diff import Row, of_hunk, pairs
from rookery.render.runs import clean

FILE_ROWS = 20_000
COLOURED = 1_500
"""Lines whose code is coloured."""
STEP = 20
"""Lines around a hunk that are added at once."""
SPLIT, UNIFIED = "split", "unified"
NOTES = {
    "binary": "Binary file.",
    "large": "Too large to show.",
    "conflict": "Merge conflict.",
    "submodule": "Submodule: another commit.",
    "cut": "More is not shown: the changes are larger than 2 MiB.",
    "mode": "Only its permissions changed.",
    "empty": "Empty file.",
    "values": "Values are hidden: files like this hold secrets.",
}
KINDS = {"+": "add", "-": "cut", " ": ""}
SIGNS = {"+": "+", "-": "−", " ": ""}


class Scope(NamedTuple):
    """A range that can be compared: its query string and its label."""

    query: str
    label: str


class Shown(NamedTuple):
    """How the changes are shown: the view, the range, and what can be done with them."""

    session: str
    view: str = UNIFIED
    at: str = ""
    """The base that was asked for."""
    scope: str = ""
    """The query of the scope."""
    scopes: Sequence[Scope] = ()
    turns: Sequence[Scope] = ()
    """Of single turns, the newest first."""
    past: bool = False
    """By snapshots: these files may differ from those on the disk."""
    note: str = ""
    branch: str = ""
    working: str = ""
    """The agent, while it works."""
    hooks: tuple[str, ...] = ()
    read_only: bool = False
    side: bool = False

    @property
    def address(self) -> str:
        return f"/sessions/{quote(self.session)}/changes"

    @property
    def is_fixed(self) -> bool:
        """Whether undoing and committing is impossible here."""
        return self.read_only or self.past


def section(file: File, shown: Shown, *, full: bool, whole: bool = False) -> str:
    """Render a file: with its hunks if `full`, else with a link that loads them. `whole` means that
    the hunks have all lines."""
    change = file.change
    lines = sum(len(hunk.lines) for hunk in file.hunks)
    note = file.note or ("" if file.hunks or change.state != "untracked" else "empty")
    if file.hunks and hides(change):
        note = "values"
    remark = tag("p", NOTES[note], "soft more") if note in NOTES else ""
    if not full:
        body = f'<p class="more"><a class="button small" data-do="file" {_href(file, shown)}>'
        body += f"Show {count(lines, 'line')}</a></p>"
    else:
        body = "".join(_hunks(file, shown, colours=lines <= COLOURED, whole=whole))
    before = f"{esc_line(change.before)} → " if change.before else ""
    title = (
        f'<h3><span class="path"><bdi>{before}{esc_line(change.path)}</bdi></span>'
        f'{counts(change)}<span class="acts">{_acts(file, shown, full, whole)}</span></h3>'
    )
    about = f'data-path="{quote(change.path)}" data-digest="{file.digest}"'
    about += f' data-print="{_fingerprint(file)}"'
    return (
        f'<section class="file" id="{id_of(change.path)}" {about}>{title}{remark}{body}</section>'
    )


def _fingerprint(file: File) -> str:
    """Return a hash that differs for each state of the file's changes."""
    fields = [file.change.path, file.digest, file.note, *(hunk.id for hunk in file.hunks)]
    return sha256("\0".join(fields).encode(errors="replace")).hexdigest()[:16]


def _acts(file: File, shown: Shown, full: bool, whole: bool) -> str:
    toggle = ""
    if full and (whole or any(gaps(file))) and is_plain(file.change.path):
        label, more = ("Changes only", {}) if whole else ("Whole file", {"whole": "1"})
        link = _href(file, shown, **more)
        toggle = f'<a class="button quiet small" data-do="file" {link}>{label}</a>'
    fixed = shown.is_fixed or is_foreign(file)
    return toggle + ("" if fixed else _undo("Undo file"))


def _href(file: File, shown: Shown, **more: str) -> str:
    """Return the link to a single file, as attributes."""
    query = urlencode({"file": file.change.path, "view": shown.view, **more})
    query += f"&{shown.scope}" if shown.scope else ""
    return f'href="?{esc(query)}"'


def is_foreign(file: File) -> bool:
    """Tell whether the file can be neither undone nor committed from here."""
    return file.note in ("submodule", "conflict") or not is_plain(file.change.path)


def is_plain(path: str) -> bool:
    """Tell whether git's path could be decoded: it comes back in requests."""
    return "\ufffd" not in path


def counts(change: Change) -> str:
    if change.added is None or change.removed is None:
        return ""
    added = tag("span", f"+{change.added}", "done") if change.added else ""
    removed = tag("span", f"−{change.removed}", "failed") if change.removed else ""
    return tag("span", f"{added} {removed}".strip(), "counts")


def _undo(label: str) -> str:
    return f'<button type="button" class="small danger" data-do="undo">{label}</button>'


def id_of(path: str) -> str:
    return "f" + sha256(path.encode(errors="replace")).hexdigest()[:12]


# --- hunks ---------------------------------------------------------------------------------------


def _hunks(file: File, shown: Shown, *, colours: bool, whole: bool) -> Iterator[str]:
    language = code.language_of(file.change.path) if colours else ""
    fixed = "000000" in file.modes or shown.is_fixed or is_foreign(file)  # undone with its file
    between = [None] * (len(file.hunks) + 1) if whole else gaps(file)
    room = FILE_ROWS
    for hunk, gap in zip(file.hunks, between, strict=False):
        lines = _readable(file.change, hunk)[:room]
        room -= len(lines)
        rows = of_hunk(lines, hunk.old, hunk.new)
        button = "" if fixed else _undo("Undo hunk")
        within = "" if hides(file.change) else secrets.masked(hunk.head)
        caption = f"<span>@@ {esc_line(within, 120)}</span>"
        head = _gap(file, shown, gap, f"{caption}{button}", above=hunk.new > 1 and gap is not None)
        kind = " two" if shown.view == SPLIT else ""
        yield (
            f'<div class="hunk{kind}" data-hunk="{hunk.id}">{head}<div class="diff">'
            f"<table>{_table(rows, language, shown)}</table></div></div>"
        )
        if room <= 0:
            yield tag("p", f"… of {count(sum(len(h.lines) for h in file.hunks), 'line')}", "more")
            return
    if between[-1] is not None:
        yield _gap(file, shown, between[-1], "<span></span>", above=False)


def _gap(file: File, shown: Shown, gap: Gap | None, inner: str, *, above: bool) -> str:
    """Render the head of a hunk, with links that show more of the lines above it; or the foot below
    the last hunk."""
    if gap is None or not is_plain(file.change.path):
        return f'<div class="hunk-head">{inner}</div>'
    size = gap.last - gap.first + 1 if gap.last else 0
    ways = list[tuple[str, str, str]]()
    if above and size > STEP:
        ways.append(("up", f"↑ {STEP}", f"Show {STEP} lines above"))
    if gap.first > 1 and (size > STEP or not gap.last):
        ways.append(("down", f"↓ {STEP}", f"Show {STEP} more lines below"))
    every = f"Show {count(size, 'unchanged line')}" if size else "Show the rest of the file"
    ways.append(("all", f"All {size:,}" if size > STEP else f"+{size}" if size else "All", every))
    link = _href(file, shown, whole="1")
    buttons = "".join(
        f'<a class="button quiet small" data-do="lines" data-way="{way}" {link}'
        f' aria-label="{label}" title="{label}">{text}</a>'
        for way, text, label in ways
    )
    about = f'data-first="{gap.first}" data-last="{gap.last}" data-shift="{gap.shift}"'
    return f'<div class="hunk-head" {about}><span class="ways">{buttons}</span>{inner}</div>'


def lines_between(path: str, lines: Sequence[str], gap: Gap, shown: Shown) -> str:
    """Render rows of unchanged lines. `lines` are all lines of the file, safe to show."""
    last = min(gap.last, len(lines), gap.first + FILE_ROWS)
    texts = [f" {line}" for line in lines[gap.first - 1 : last]]
    rows = of_hunk(texts, gap.first - gap.shift, gap.first)
    language = code.language_of(path) if len(texts) <= COLOURED else ""
    end = ' data-end="1"' if last >= len(lines) else ""
    return f'<table data-last="{last}"{end}>{_table(rows, language, shown)}</table>'


def hides(change: Change) -> bool:
    return hides_values(change.path) or hides_values(change.before)


def readable(change: Change, lines: Sequence[bytes]) -> list[str]:
    """Decode lines for display: secrets are hidden, and no line becomes two."""
    texts = [line.decode("utf-8", "replace").replace("\r", "") for line in lines]
    rows = secrets.covered("\n".join(texts)).split("\n") if texts else []
    return [clean(without_value(row) if hides(change) else row) for row in rows]


def _readable(change: Change, hunk: Hunk) -> list[str]:
    lines = [line for line in hunk.lines if line[:1] != b"\\"]
    texts = readable(change, [line[1:] for line in lines])
    return [
        line[:1].decode("ascii", "replace") + row for line, row in zip(lines, texts, strict=True)
    ]


def _table(rows: tuple[Row, ...], language: str, shown: Shown) -> str:
    line_tokens = code.tokens("\n".join(row.text for row in rows), language)
    tokens = dict(zip(map(id, rows), line_tokens, strict=False))
    return _split(rows, tokens) if shown.view == SPLIT else _unified(rows, tokens)


def _unified(rows: tuple[Row, ...], tokens: dict[int, Tokens]) -> str:
    return "".join(
        f'<tr class="{KINDS[row.sign]}"{_place(row)}{_first(at)}>{_number(row.old)}'
        f"{_number(row.new)}<td>{SIGNS[row.sign]}</td><td>{marked(tokens[id(row)], row)}</td></tr>"
        for at, row in enumerate(rows)
    )


def _split(rows: tuple[Row, ...], tokens: dict[int, Tokens]) -> str:
    def half(row: Row | None, number: int | None) -> str:
        if row is None:
            return '<td></td><td class="none"></td>'
        text = marked(tokens[id(row)], row)
        return f'{_number(number)}<td class="{KINDS[row.sign]}">{text}</td>'

    html = ""
    for at, (left, right) in enumerate(pairs(rows)):
        place = _place(right or left)
        old = half(left, left.old if left else None)
        html += f"<tr{place}{_first(at)}>{old}{half(right, right.new if right else None)}</tr>"
    return html


def _place(row: Row | None) -> str:
    """Return attributes that say where a comment on the row belongs: a line of the file, or a
    removed one."""
    if row is None:
        return ""
    return f' data-old="{row.old}"' if row.new is None else f' data-new="{row.new}"'


def _first(at: int) -> str:
    return ' tabindex="0"' if at == 0 else ""


def _number(number: int | None) -> str:
    return "<td></td>" if number is None else f"<td>{number}</td>"
