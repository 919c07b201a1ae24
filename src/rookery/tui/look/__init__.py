"""Rendering blocks as lines of a terminal: pure functions of a block, a width and a look."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.tui.look import block, colours
else:
    __getattr__ = late_modules(__name__)
