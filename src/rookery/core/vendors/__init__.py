"""The particulars of each vendor's agent: detection, profile, options, logins, errors."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.core.vendors import options, profiles
else:
    __getattr__ = late_modules(__name__)
