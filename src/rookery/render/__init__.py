"""Text processing that every face needs before anything is styled: blocks, rows, runs and
tokens."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.render import ask_choices, call, diff, lines
else:
    __getattr__ = late_modules(__name__)
