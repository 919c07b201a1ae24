"""The changes in a session's directory: the files, the range that is compared, and the actions for
them."""

from collections.abc import Sequence
from hashlib import sha256
from urllib.parse import quote

from rookery.client.work_tree.changes import Change, Changes, File
from rookery.core.json import Json
from rookery.core.json.safe_text import count
from rookery.daemon.pieces.icons import icon
from rookery.daemon.pieces.review import head
from rookery.daemon.pieces.review.changed_file import (
    NOTES,
    SPLIT,
    UNIFIED,
    Scope,
    Shown,
    counts,
    id_of,
    is_foreign,
    section,
)
from rookery.export.html import diff
from rookery.export.html.text import esc, esc_line, tag
from rookery.render.diff import rows_of

ROWS = 3_000
"""Lines that are shown at first; files after them are loaded when they are asked for."""
STATES = {
    "added": "added",
    "modified": "changed",
    "deleted": "deleted",
    "renamed": "renamed",
    "untracked": "new",
}


def rendered(diff: Changes, shown: Shown) -> str:
    """Render all changes."""
    left, body = ROWS, ""
    for file in diff.files:
        lines = sum(len(hunk.lines) for hunk in file.hunks)
        body += section(file, shown, full=lines <= left or left == ROWS)
        left -= min(lines, left - 1) if left > 1 else 0
    cut = tag("p", NOTES["cut"], "soft more") if diff.cut else ""
    inner = (
        f'<div class="beside">{_list(diff)}<div class="patch">{body}{cut}</div></div>'
        f"{_forms(diff, shown)}"
        if diff.files
        else _nothing(shown)
    )
    note = tag("p", esc_line(shown.note), "soft more") if shown.note else ""
    return _frame(shown, diff.base, _head(diff, shown) + note + inner, bool(diff.files))


def refused(message: str, remedy: str, shown: Shown, edits: Sequence[Json] = ()) -> str:
    """Render a refusal instead of changes. `edits` are the changes that agents reported, as parts
    of blocks."""
    text = tag("p", esc_line(message)) + (tag("p", esc_line(remedy), "soft") if remedy else "")
    if edits:
        text = tag("p", f"{esc_line(message)} These are the agent's own edits, the newest first.")
    inner = tag("div", text, "empty") + "".join(map(_edit, edits))
    return _frame(shown, "", _bar(shown, _scopes(shown), "") + inner, False)


def _edit(part: Json) -> str:
    signs = [row.sign for row in rows_of(part)]
    change = Change(str(part["path"]), "", "", signs.count("+"), signs.count("-"))
    title = f'<span class="path"><bdi>{esc_line(change.path)}</bdi></span>{counts(change)}'
    return tag("section", f"<h3>{title}</h3>{diff.rendered(part)}", "file")


def _frame(shown: Shown, base: str, inner: str, any_: bool) -> str:
    fingerprint = sha256(inner.encode(errors="replace")).hexdigest()[:16]
    about = f'data-session="{esc_line(shown.session)}" data-base="{esc_line(base)}"'
    about += f' data-scope="{esc(shown.scope)}" data-view="{shown.view}" data-known="{fingerprint}"'
    about += f' data-working="{esc_line(shown.working)}"' if shown.working else ""
    about += ' data-any="1"' if any_ else ""
    return f'<section class="changes" aria-label="Changes" {about}>{inner}</section>'


def _nothing(shown: Shown) -> str:
    if shown.scope:
        return tag("div", tag("p", "Nothing changed."), "empty")
    more = tag("p", "Files that differ from the last commit show up here.")
    return tag("div", tag("p", "Nothing to review.") + more, "empty")


# --- the head ------------------------------------------------------------------------------------


def _head(diff: Changes, shown: Shown) -> str:
    if shown.past:
        return _bar(shown, _scopes(shown), _acts(diff, shown))
    base = diff.base[:8] or "an empty tree"
    name = f"{esc_line(shown.branch, 60)} " if shown.branch and not shown.at else ""
    against = f'<span class="soft against">against <code>{name}{esc_line(base)}</code></span>'
    return _bar(shown, _scopes(shown) + against, _acts(diff, shown))


def _scopes(shown: Shown) -> str:
    """Render the choice of the range to compare."""
    if not (shown.scopes or shown.turns):
        return ""
    inner = "".join(_scope(each, shown) for each in shown.scopes)
    if shown.turns:
        turns = "".join(_scope(each, shown) for each in shown.turns)
        inner += f'<optgroup label="One turn">{turns}</optgroup>'
    return f'<select class="scope" aria-label="What is compared">{inner}</select>'


def _scope(each: Scope, shown: Shown) -> str:
    chosen = " selected" if each.query == shown.scope else ""
    return f'<option value="{esc(each.query)}"{chosen}>{esc_line(each.label, 80)}</option>'


def _bar(shown: Shown, against: str, acts: str) -> str:
    other = '<button type="button" class="quiet small" data-do="timeline">Timeline</button>'
    title = f"<h2>Changes</h2>{other if shown.side else ''}"
    title += f'<span class="what">{against}</span>'
    query = f"?{esc(shown.scope)}" if shown.scope else ""
    large = f'<a class="button quiet icon wide" href="{shown.address}{query}" title="Full screen"'
    large += f' aria-label="Full screen">{icon("expand")}</a>'
    acts += large if shown.side else ""
    return head.rendered(shown.session, title, acts, side=shown.side, close="Close changes")


def _acts(diff: Changes, shown: Shown) -> str:
    if not diff.files:
        return ""
    other = UNIFIED if shown.view == SPLIT else SPLIT
    query = f"&{shown.scope}" if shown.scope else ""
    view = (
        f'<a class="button small wide" data-do="view" data-view="{other}"'
        f' href="?{esc(f"view={other}{query}")}">{other.capitalize()}</a>'
    )
    if shown.is_fixed:
        return view
    return view + '<button type="button" class="small" data-do="commit-form">Commit…</button>'


def _list(diff: Changes) -> str:
    """Render the list of files; a single file needs none, since its own head says it all."""
    if len(diff.files) < 2:
        return ""
    rows = "".join(_entry(file) for file in diff.files)
    fold = (
        '<button type="button" class="quiet small" data-do="files" aria-expanded="true">'
        f"{count(len(diff.files), 'file')}</button>"
    )
    return f'<nav class="files" aria-label="Changed files">{fold}<div>{rows}</div></nav>'


def _entry(file: File) -> str:
    change = file.change
    state = STATES.get(change.state, "changed")
    badge = "" if change.state == "modified" else tag("span", state, "soft")
    return (
        f'<a data-do="to-file" href="#{id_of(change.path)}"><span class="path">'
        f"<bdi>{esc_line(change.path)}</bdi></span>{badge}{counts(change)}</a>"
    )


def _forms(diff: Changes, shown: Shown) -> str:
    comments = "" if shown.read_only else '<div class="comments" hidden></div>'
    if shown.is_fixed:
        return comments
    files = "".join(
        f'<label><input type="checkbox" name="file" value="{quote(file.change.path)}"'
        f' data-digest="{file.digest}" checked> <bdi>{esc_line(file.change.path)}</bdi></label>'
        for file in diff.files
        if not is_foreign(file)
    )
    hooks = f" Runs {esc_line(', '.join(shown.hooks))}." if shown.hooks else ""
    total = count(len(diff.files), "file")
    commit = (
        '<form class="commit" data-do="commit" hidden><label>Message<textarea name="message" '
        'rows="3" required maxlength="20000" placeholder="What changed, and why"></textarea>'
        "</label>"
        f"<details><summary>{total}</summary><div>{files}</div></details>"
        '<pre class="said" hidden></pre><p><button class="primary">Commit</button>'
        '<button type="button" class="quiet" data-do="commit-form">Cancel</button>'
        f'<span class="soft">{hooks}</span></p></form>'
    )
    return commit + comments
