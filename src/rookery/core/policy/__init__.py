"""The rules and modes that answer asks without asking the user."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.core.policy import explained, modes, rule_choices
else:
    __getattr__ = late_modules(__name__)
