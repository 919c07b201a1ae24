"""Private parts of Textual 8 that are used or overridden, all of them but the driver's (`driver`).
Each is unnecessary once the test that names it fails: Textual has a public way then.

A mixin here has no base at run time: Textual takes the style sheet of the first base that is a
widget."""

from collections.abc import Container, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.geometry import Region
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.app import App
    from textual.driver import Driver
    from textual.screen import Screen
    from textual.widget import Widget as Base
    from textual.widgets import TextArea
else:
    Base = TextArea = object


class _Key(Enum):
    ALT_ENTER = "alt+enter"


def learn() -> None:
    """Teach Textual the sequences that terminals without the Kitty protocol send for a key that it
    does not know from them. Without this, Alt+Enter is Enter: it would steer where it should queue.
    """
    known = cast(dict[str, Any], ANSI_SEQUENCES_KEYS)
    known["\x1b\r"] = (_Key.ALT_ENTER,)


def keymap(app: "App[Any]") -> Mapping[str, str]:
    """Return the keys of each action as Textual names them: an app can only set them."""
    return app._keymap


def driver_of(app: "App[Any]") -> "Driver | None":
    return app._driver


def forget_keys(widget: "Base", keys: Container[str]) -> None:
    """Take keys from the library's own bindings of a widget: they have no names, by which a keymap
    could move them. What was taken before is given back."""
    merged = type(widget)._merged_bindings
    assert merged is not None
    widget._bindings = merged.copy()
    named = widget._bindings.key_to_bindings
    for key in [key for key in named if key in keys and not any(each.id for each in named[key])]:
        del named[key]


class AtOnce(Base):
    """Scrolls without animation, whoever asks: news would move its target."""

    def _scroll_to(self, *places: Any, **how: Any) -> bool:
        return super()._scroll_to(*places, **{**how, "animate": False})


class Field(TextArea):
    """A text area that is asked before its size changes."""

    def sizing(self) -> None:
        raise NotImplementedError

    def _refresh_size(self) -> None:
        self.sizing()
        super()._refresh_size()

    @property
    def theme_in_use(self) -> object:
        return self._theme


class KeptLines(Base):
    """Caches a widget's lines until it changes: whenever one widget changes, at every key, Textual
    asks those around it for all of theirs."""

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


class PaintedAtOnce(Base):
    """Is painted as soon as it has changed: the screen's next frame may be 16 ms away, and paints
    everything else that changed with it."""

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
