"""Pictures drawn in the terminal: what it can draw, and the encoding of each protocol."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.tui.pictures import shown
else:
    __getattr__ = late_modules(__name__)
