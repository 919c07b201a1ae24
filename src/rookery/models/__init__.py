"""The saved models of Rookery's own agent: reading, checking, testing and changing them. Needs no
SDK."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.models import choice, documents, probe, profiles, providers
else:
    __getattr__ = late_modules(__name__)
