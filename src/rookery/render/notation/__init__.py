"""Notations that extend CommonMark: formulas, diagrams, footnotes."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.render.notation import diagrams, formulas, syntax
else:
    __getattr__ = late_modules(__name__)
