"""The saved models of Rookery's own agent: reading, checking, testing and changing them. Needs no
SDK."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.models import choice, documents, probe, profiles, providers
else:
    __getattr__ = late_modules(__name__)
