"""Building blocks of windows: forms, fields, rows, small dialogs."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.tui.windows.parts import form, modals
else:
    __getattr__ = late_modules(__name__)
