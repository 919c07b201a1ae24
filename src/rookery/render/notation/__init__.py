"""Notations that extend CommonMark: formulas, diagrams, footnotes."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.render.notation import diagrams, formulas, syntax
else:
    __getattr__ = late_modules(__name__)
