"""Building blocks of windows: forms, fields, rows, small dialogs."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.tui.windows.parts import form, modals
else:
    __getattr__ = late_modules(__name__)
