"""The transcript: loaded pages, layout, scrolling."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.tui.transcript import folding, outline, pages, painting
else:
    __getattr__ = late_modules(__name__)
