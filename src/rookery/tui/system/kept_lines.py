"""Caches a widget's lines until it changes: whenever one widget changes, at every key, Textual asks
those around it for all of theirs."""

from typing import TYPE_CHECKING

from textual.geometry import Region
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.widget import Widget as Base
else:
    Base = object  # Textual takes the style sheet of the first base that is a widget


class KeptLines(Base):
    _kept: tuple[object, list[Strip]] | None = None

    def _set_dirty(self, *regions: Region) -> None:
        """Drop the cached lines: the widget is to be painted again."""
        self._kept = None
        super()._set_dirty(*regions)

    def render_lines(self, crop: Region) -> list[Strip]:
        state = (crop, self.size, self.scroll_offset, self.app.theme)
        if self._kept is None or self._kept[0] != state:
            self._kept = (state, self.made_lines(crop))
        return self._kept[1]

    def made_lines(self, crop: Region) -> list[Strip]:
        return super().render_lines(crop)
