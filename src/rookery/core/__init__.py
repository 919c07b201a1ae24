"""Pure session logic: functions and state machines that touch no clock, file or task."""

from rookery import late_modules

TYPE_CHECKING = False  # as in typing, which takes milliseconds to load
if TYPE_CHECKING:
    from rookery.core import asks, json, policy, vendors, view
else:
    __getattr__ = late_modules(__name__)
