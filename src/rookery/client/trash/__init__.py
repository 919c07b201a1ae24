"""Removed sessions, which can be restored for two weeks."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.client.trash import emptying
else:
    __getattr__ = late_modules(__name__)
