"""Support for writing prompts: history, files, clipboard, slash commands."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.tui.writing import clipboard, commands, drafts, pasted
else:
    __getattr__ = late_modules(__name__)
