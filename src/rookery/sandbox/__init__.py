"""Sandboxes, which keep an agent inside its session's directories (docs/sandbox.md)."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.sandbox import bwrap, engine, kinds, placeholders, plan, visible
else:
    __getattr__ = late_modules(__name__)
