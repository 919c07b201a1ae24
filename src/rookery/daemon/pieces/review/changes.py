"""What changed in a session's directory: the files, their hunks, and what can be done with them."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import quote

from rookery.client.work_tree.changes import Change, Changes, File, Hunk
from rookery.core.json import Json, secrets
from rookery.core.json.safe_text import count
from rookery.daemon.pieces.icons import icon
from rookery.export.html import diff
from rookery.export.html.diff import marked
from rookery.export.html.text import esc_line, tag
from rookery.render import code
from rookery.render.code import Tokens
from rookery.render.diff import Row, of_hunk, pairs, rows_of
from rookery.render.plain import clean

ROWS = 3_000
"""Lines that are shown at first; files after them are loaded when they are asked for."""
FILE_ROWS = 20_000
COLOURED = 1_500
"""Lines whose code is coloured."""
SPLIT, UNIFIED = "split", "unified"
NOTES = {
    "binary": "Binary file.",
    "large": "Too large to show.",
    "conflict": "Merge conflict.",
    "submodule": "Submodule: another commit.",
    "cut": "More is not shown: the changes are larger than 2 MiB.",
    "mode": "Only its permissions changed.",
    "empty": "Empty file.",
}
STATES = {
    "added": "added",
    "modified": "changed",
    "deleted": "deleted",
    "renamed": "renamed",
    "untracked": "new",
}
KINDS = {"+": "add", "-": "cut", " ": ""}
SIGNS = {"+": "+", "-": "−", " ": ""}


class Shown(NamedTuple):
    """How the changes are shown."""

    session: str
    view: str = UNIFIED
    began: str = ""
    """The commit of the session's beginning, where it is not the last one."""
    at: str = ""
    """The base that was asked for."""
    branch: str = ""
    working: str = ""
    """The agent, while it works."""
    hooks: tuple[str, ...] = ()
    read_only: bool = False
    side: bool = False

    @property
    def address(self) -> str:
        return f"/sessions/{quote(self.session)}/changes"


def rendered(found: Changes, shown: Shown) -> str:
    """All of it."""
    left, body = ROWS, ""
    for file in found.files:
        lines = sum(len(hunk.lines) for hunk in file.hunks)
        body += section(file, shown, full=lines <= left or left == ROWS)
        left -= min(lines, left - 1) if left > 1 else 0
    cut = tag("p", NOTES["cut"], "soft more") if found.cut else ""
    inner = (
        f'<div class="patch">{_list(found)}{body}{cut}</div>{_forms(found, shown)}'
        if found.files
        else _nothing(shown)
    )
    return _frame(shown, found.base, _head(found, shown) + inner, bool(found.files))


def refused(message: str, remedy: str, shown: Shown, edits: Sequence[Json] = ()) -> str:
    """Instead of changes. `edits`: what agents said that they changed, as parts of blocks."""
    words = tag("p", esc_line(message)) + (tag("p", esc_line(remedy), "soft") if remedy else "")
    if edits:
        words = tag("p", f"{esc_line(message)} These are the agent's own edits, the newest first.")
    inner = tag("div", words, "empty") + "".join(map(_edit, edits))
    return _frame(shown, "", _bar(shown, "", "") + inner, False)


def _edit(part: Json) -> str:
    signs = [row.sign for row in rows_of(part)]
    change = Change(str(part["path"]), "", "", signs.count("+"), signs.count("-"))
    title = f'<span class="path"><bdi>{esc_line(change.path)}</bdi></span>{_counts(change)}'
    return tag("section", f"<h3>{title}</h3>{diff.rendered(part)}", "file")


def _frame(shown: Shown, base: str, inner: str, any_: bool) -> str:
    told = sha256(inner.encode(errors="replace")).hexdigest()[:16]
    about = f'data-session="{esc_line(shown.session)}" data-base="{esc_line(base)}"'
    about += f' data-at="{esc_line(shown.at)}" data-view="{shown.view}" data-known="{told}"'
    about += f' data-working="{esc_line(shown.working)}"' if shown.working else ""
    about += ' data-any="1"' if any_ else ""
    return f'<section class="changes" aria-label="Changes" {about}>{inner}</section>'


def _nothing(shown: Shown) -> str:
    words = "Nothing changed since the session began." if shown.at else "Nothing to review."
    more = "" if shown.at else tag("p", "Files that differ from the last commit show up here.")
    return tag("div", tag("p", words) + more, "empty")


# --- the head ------------------------------------------------------------------------------------


def _head(found: Changes, shown: Shown) -> str:
    base = found.base[:8] or "an empty tree"
    name = f"{esc_line(shown.branch, 60)} " if shown.branch and not shown.at else ""
    against = f"against <code>{name}{esc_line(base)}</code>"
    if shown.began and not shown.at:
        against += f' · <a data-do="base" href="?base={shown.began}">since the session began</a>'
    elif shown.at:
        against += ' · <a data-do="base" href="?">since the last commit</a>'
    return _bar(shown, against, _acts(found, shown))


def _bar(shown: Shown, against: str, acts: str) -> str:
    back = f'<a class="button quiet icon" href="/sessions/{quote(shown.session)}"'
    back += f' aria-label="Back to the session">{icon("back")}</a>'
    close = (
        '<button type="button" class="quiet icon" data-do="close-side" aria-label="Close changes">'
        f"{icon('close')}</button>"
    )
    other = '<button type="button" class="quiet small" data-do="timeline">Timeline</button>'
    title = f"{'' if shown.side else back}<h2>Changes</h2>{other if shown.side else ''}"
    title += f'<span class="soft">{against}</span>'
    shut = close if shown.side else ""
    return f'<header class="side-head">{title}<span class="acts">{acts}{shut}</span></header>'


def _acts(found: Changes, shown: Shown) -> str:
    if not found.files:
        return ""
    other = UNIFIED if shown.view == SPLIT else SPLIT
    view = (
        f'<a class="button small wide" data-do="view" data-view="{other}" href="?view={other}">'
        f"{other.capitalize()}</a>"
    )
    if shown.read_only:
        return view
    return view + '<button type="button" class="small" data-do="commit-form">Commit…</button>'


def _list(found: Changes) -> str:
    rows = "".join(_entry(file) for file in found.files)
    return f'<nav class="files" aria-label="Changed files">{rows}</nav>'


def _entry(file: File) -> str:
    change = file.change
    state = STATES.get(change.state, "changed")
    said = "" if change.state == "modified" else tag("span", state, "soft")
    return (
        f'<a href="#{_id(change.path)}"><span class="path"><bdi>{esc_line(change.path)}</bdi>'
        f"</span>{said}{_counts(change)}</a>"
    )


def _counts(change: Change) -> str:
    if change.added is None or change.removed is None:
        return ""
    added = tag("span", f"+{change.added}", "done") if change.added else ""
    removed = tag("span", f"−{change.removed}", "failed") if change.removed else ""
    return tag("span", f"{added} {removed}".strip(), "counts")


def _forms(found: Changes, shown: Shown) -> str:
    if shown.read_only:
        return ""
    files = "".join(
        f'<label><input type="checkbox" name="file" value="{quote(file.change.path)}"'
        f' data-digest="{file.digest}" checked> <bdi>{esc_line(file.change.path)}</bdi></label>'
        for file in found.files
        if file.note not in ("submodule", "conflict") and _is_plain(file.change.path)
    )
    hooks = f" Runs {esc_line(', '.join(shown.hooks))}." if shown.hooks else ""
    total = count(len(found.files), "file")
    commit = (
        '<form class="commit" data-do="commit" hidden><label>Message<textarea name="message" '
        'rows="3" required maxlength="20000" placeholder="What changed, and why"></textarea>'
        "</label>"
        f"<details><summary>{total}</summary><div>{files}</div></details>"
        '<pre class="said" hidden></pre><p><button class="primary">Commit</button>'
        '<button type="button" class="quiet" data-do="commit-form">Cancel</button>'
        f'<span class="soft">{hooks}</span></p></form>'
    )
    return commit + '<div class="comments" hidden></div>'


def _is_plain(path: str) -> bool:
    """Whether git's name of it could be read: it comes back in requests."""
    return "\ufffd" not in path


# --- files ---------------------------------------------------------------------------------------


def section(file: File, shown: Shown, *, full: bool) -> str:
    """`full`: with its hunks; else a link that loads them."""
    change = file.change
    lines = sum(len(hunk.lines) for hunk in file.hunks)
    note = file.note or ("" if file.hunks or change.state != "untracked" else "empty")
    words = tag("p", NOTES[note], "soft more") if note in NOTES else ""
    if not full:
        place = f"?file={quote(change.path)}&amp;view={shown.view}"
        body = f'<p class="more"><a class="button small" data-do="file" href="{place}">'
        body += f"Show {count(lines, 'line')}</a></p>"
    else:
        body = "".join(_hunks(file, shown, colours=lines <= COLOURED))
    before = f"{esc_line(change.before)} → " if change.before else ""
    acts = "" if _is_fixed(file, shown) else _undo("Undo file")
    title = (
        f'<h3><span class="path"><bdi>{before}{esc_line(change.path)}</bdi></span>'
        f"{_counts(change)}{acts}</h3>"
    )
    about = f'data-path="{quote(change.path)}" data-digest="{file.digest}"'
    return f'<section class="file" id="{_id(change.path)}" {about}>{title}{words}{body}</section>'


def _is_fixed(file: File, shown: Shown) -> bool:
    return (
        shown.read_only or file.note in ("submodule", "conflict") or not _is_plain(file.change.path)
    )


def _undo(words: str) -> str:
    return f'<button type="button" class="small danger" data-do="undo">{words}</button>'


def _id(path: str) -> str:
    return "f" + sha256(path.encode(errors="replace")).hexdigest()[:12]


def _hunks(file: File, shown: Shown, *, colours: bool) -> Iterator[str]:
    language = code.language_of(file.change.path) if colours else ""
    whole = "000000" in file.modes or _is_fixed(file, shown)  # it is undone with its file
    room = FILE_ROWS
    for hunk in file.hunks:
        lines = _readable(hunk)[:room]
        room -= len(lines)
        rows = of_hunk(lines, hunk.old, hunk.new)
        told = code.tokens("\n".join(row.text for row in rows), language)
        tokens = dict(zip(map(id, rows), told, strict=False))
        table = _split(rows, tokens) if shown.view == SPLIT else _unified(rows, tokens)
        button = "" if whole else _undo("Undo hunk")
        head = f'<div class="hunk-head"><span>@@ {esc_line(hunk.head, 120)}</span>{button}</div>'
        kind = " two" if shown.view == SPLIT else ""
        yield (
            f'<div class="hunk{kind}" data-hunk="{hunk.id}">{head}<div class="diff">'
            f"<table>{table}</table></div></div>"
        )
        if room <= 0:
            yield tag("p", f"… of {count(sum(len(h.lines) for h in file.hunks), 'line')}", "more")
            return


def _readable(hunk: Hunk) -> list[str]:
    """Its lines, safe to show: secrets are hidden, and none becomes two."""
    lines = [line.decode("utf-8", "replace") for line in hunk.lines if line[:1] != b"\\"]
    text = secrets.covered("\n".join(line[1:].replace("\r", "") for line in lines))
    shown = text.split("\n") if lines else []
    return [line[:1] + clean(row) for line, row in zip(lines, shown, strict=True)]


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

    found = ""
    for at, (left, right) in enumerate(pairs(rows)):
        place = _place(right or left)
        old = half(left, left.old if left else None)
        found += f"<tr{place}{_first(at)}>{old}{half(right, right.new if right else None)}</tr>"
    return found


def _place(row: Row | None) -> str:
    """Where a comment on it is: a line of the file, or one that is gone."""
    if row is None:
        return ""
    return f' data-old="{row.old}"' if row.new is None else f' data-new="{row.new}"'


def _first(at: int) -> str:
    return ' tabindex="0"' if at == 0 else ""


def _number(number: int | None) -> str:
    return "<td></td>" if number is None else f"<td>{number}</td>"
