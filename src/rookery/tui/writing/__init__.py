"""Support for writing prompts: history, files, clipboard, slash commands."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.tui.writing import clipboard, commands, drafts, pasted
else:
    __getattr__ = late_modules(__name__)
