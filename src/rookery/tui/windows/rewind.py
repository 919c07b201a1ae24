"""The window for a rewind: a preview of what it would do, and a choice of how much of it to do."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static

from rookery.core.json import Json
from rookery.core.json.safe_text import count
from rookery.core.turn import rewind_preview
from rookery.core.turn.rewind_preview import OWN, Preview
from rookery.forms.lists import Row
from rookery.render.runs import clean_line
from rookery.tui.keys import bindings
from rookery.tui.windows.choice import ChoiceScreen

SHOWN = 200
"""Paths of each kind."""
SIGNS = {"created": "+", "changed": "~", "removed": "-"}
BOTH, FILES, CONVERSATION, ALL = "both", "files", "conversation", "all"


class RewindScreen(ChoiceScreen):
    BINDINGS = bindings.PREVIEW
    KIND = "window list preview"

    def __init__(self, preview: Preview, again: str = "") -> None:
        place = rewind_preview.place(preview)
        title = "Undo the rewind?" if preview.undo else f"Rewind to {place}?"
        super().__init__(title, ways(preview))
        self._preview, self._again = preview, again

    def body(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            yield Static(_content(self._preview, self._again))
        yield OptionList(compact=True, markup=False)
        yield Static("", classes="told quiet", id="told", markup=False)

    def action_page_up(self) -> None:
        self._scroll(-1)

    def action_page_down(self) -> None:
        self._scroll(1)

    def _scroll(self, pages: int) -> None:
        area = self.query_one(VerticalScroll)
        area.scroll_relative(y=pages * max(1, area.size.height - 1), animate=False)


def ways(preview: Preview) -> list[Row]:
    """Return the possible rewinds, the usual one first."""
    own, total = preview.own, preview.total
    verb = "Bring back" if preview.undo else "Rewind"
    alone = Row(CONVERSATION, f"{verb} only the conversation")
    if not preview.target:
        return [alone]
    if not preview.undo and not preview.hides and not preview.shows:  # it stays as it is
        rows = [Row(FILES, f"{verb} {count(own, 'file')}")] if own else []
        return [*rows, *([Row(ALL, f"{verb} all {count(total, 'file')}")] if total > own else [])]
    rows = [
        Row(BOTH, f"{verb} {count(own, 'file')} and the conversation"),
        Row(FILES, f"{verb} only {count(own, 'file')}"),
    ]
    rows = rows if own else [Row(BOTH, f"{verb} the conversation, and no file")]
    rows += [alone] if own else []
    if total > own:
        more = "also what this session did not change alone"
        rows.append(Row(ALL, f"{verb} all {count(total, 'file')} and the conversation", more))
    return rows


def is_moot(preview: Preview) -> bool:
    """Tell whether neither a file nor the conversation would change."""
    return not (preview.undo or preview.total or preview.hides or preview.shows)


def command(preview: Preview, way: str) -> Json:
    what: Json = {"undo": True} if preview.undo else {"turn": preview.turn}
    stays = not (preview.undo or preview.hides or preview.shows)
    what |= {"files": way != CONVERSATION, "conversation": way != FILES and not stays}
    yes = preview.fingerprint if way == ALL else preview.own_fingerprint
    return {"do": "rewind", **what} | ({"fingerprint": yes} if way != CONVERSATION else {})


def _content(preview: Preview, again: str) -> Content:
    parts: list[tuple[str, str]] = []
    if again:
        parts.append((f"{again}\n\n", "$warning"))
    parts.append((f"{rewind_preview.about_files(preview)}\n", ""))
    parts.append((f"{rewind_preview.about_conversation(preview)}\n", ""))
    parts += [(f"{clean_line(text)}\n", "$warning") for text in preview.notes]
    for group in rewind_preview.groups(preview):
        stays = "" if group.by == OWN else ", left alone"
        parts.append((f"\n{clean_line(group.title)}{stays}\n", "bold"))
        for change in group.changes[:SHOWN]:
            parts.append((f"  {SIGNS.get(change.kind, '~')} {clean_line(change.path)}\n", ""))
        if group.total > SHOWN:
            parts.append((f"  … and {count(group.total - SHOWN, 'more file')}\n", "$ink-2"))
    left = [*rewind_preview.left_alone(preview)]
    if left:
        parts.append(("\nNever touched\n", "bold"))
        parts += [(f"  {clean_line(text)}\n", "$ink-2") for text in left]
    return Content.assemble(*parts)
