"""Irreversible actions, program by program. Most of it is tables: a line names the words and
options that make a command dangerous, and describes in a few words what it does."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.core.dangers import catalogue, overwrites, sql
else:
    __getattr__ = late_modules(__name__)
