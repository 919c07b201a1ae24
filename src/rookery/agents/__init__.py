"""The agents that can be run by name, and where their programs are."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.agents import downloads, elsewhere, image, install, registry
else:
    __getattr__ = late_modules(__name__)
