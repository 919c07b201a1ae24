"""Updating Rookery, and replacing the workers that an older build started."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.client.update import workers
else:
    __getattr__ = late_modules(__name__)
