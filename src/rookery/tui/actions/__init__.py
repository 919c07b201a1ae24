"""The handlers behind keys, windows and slash commands."""

from typing import TYPE_CHECKING

from rookery import late_modules

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
