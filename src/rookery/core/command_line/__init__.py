"""Parses command lines as a shell would: rules and the guard judge what runs, not mere words."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.core.command_line import escape_hatches, read_only, shell, syntax
else:
    __getattr__ = late_modules(__name__)
