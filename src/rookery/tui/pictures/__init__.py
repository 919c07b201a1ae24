"""Pictures drawn in the terminal: what it can draw, and the encoding of each protocol."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.tui.pictures import shown
else:
    __getattr__ = late_modules(__name__)
