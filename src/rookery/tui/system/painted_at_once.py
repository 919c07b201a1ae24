"""A widget that is painted as soon as it has changed: the screen's next frame may be 16 ms away,
and paints everything else that changed with it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.widget import Widget as Base
else:
    Base = object  # Textual takes the style sheet of the first base that is a widget


class PaintedAtOnce(Base):
    def _check_refresh(self) -> None:
        """Paint the widget; Textual calls this when the widget has done all it was asked to."""
        if self._repaint_required and self._can_be_painted():
            self._repaint_required = False
            screen = self.screen
            screen._compositor.update_widgets({self})
            self.app._display(screen, screen._compositor.render_update(screen_stack=[]))
        super()._check_refresh()

    def _can_be_painted(self) -> bool:
        """Tell whether the widget can be painted now: not under a window, nor before a layout, when
        the next frame paints it."""
        if not self.is_attached or not self.display or self._closing or self.app._batch_count:
            return False
        screen = self.screen
        moves = screen._layout_required or self._layout_required or self._scroll_required
        shown = screen is self.app.screen and self in screen._compositor.visible_widgets
        return shown and not moves


def after_this_key(screen: "Screen[object]") -> None:
    """Delay the screen's next frame until the widget with the focus has taken its key."""
    screen._update_timer.pause()
    screen.check_idle()
