"""The agents that can be run by name, and where their programs are."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.agents import downloads, elsewhere, image, install, registry
else:
    __getattr__ = late_modules(__name__)
