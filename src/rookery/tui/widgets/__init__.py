"""The widgets of the screen."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.tui.widgets import feedback, find_bar, side_panel, status_line, suggestions
else:
    __getattr__ = late_modules(__name__)
