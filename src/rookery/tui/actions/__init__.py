"""The handlers behind keys, windows and slash commands."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.tui.actions import (
        going_back,
        leaving,
        operating,
        racing,
        restoring,
        seeking,
        slash_commands,
        working,
    )
else:
    __getattr__ = late_modules(__name__)
