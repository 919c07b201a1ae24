"""Blocks as lines of a terminal: runs of text, each with the names of its style. Every face that
writes on a terminal gets a block's lines from here and gives the names their looks."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.render.lines import ask, block, diff, markdown, view
else:
    __getattr__ = late_modules(__name__)
