"""The agent's questions and permission requests, and their answers."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.core.asks import kept_asks
else:
    __getattr__ = late_modules(__name__)
