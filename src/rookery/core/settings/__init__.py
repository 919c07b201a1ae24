"""Settings as values: their definitions, former names, and which changes loosen them."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.core.settings import keys
else:
    __getattr__ = late_modules(__name__)
