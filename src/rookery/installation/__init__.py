"""How this Rookery was installed: by which program, from where, with which extras; and the command
lines that add an extra, update it, remove it, or move it to its present name.

Standard library only, so that `scripts/install` can run it from a checkout. `importlib.metadata` is
slow to import, so nothing here is called unless something is wrong."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.installation import commands
else:
    __getattr__ = late_modules(__name__)
