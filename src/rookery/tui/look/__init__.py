"""The looks of the terminal interface: the style of each name in a theme, and the keys of what a
block offers."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.tui.look import colours, keyboard, names
else:
    __getattr__ = late_modules(__name__)
