"""Text processing that every face needs before anything is styled: blocks, rows, runs and
tokens."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.render import ask_choices, call, diff, lines
else:
    __getattr__ = late_modules(__name__)
