"""Folding events into the view of a session."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.core.view import recap, reduce
else:
    __getattr__ = late_modules(__name__)
