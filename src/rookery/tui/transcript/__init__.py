"""The transcript: loaded pages, layout, scrolling."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.tui.transcript import folding, outline, pages, painting
else:
    __getattr__ = late_modules(__name__)
