"""Pure session logic: functions and state machines that touch no clock, file or task."""

from rookery import late_modules

TYPE_CHECKING = False  # as in rookery
if TYPE_CHECKING:
    from rookery.core import asks, dangers, json, policy, tools, vendors, view
else:
    __getattr__ = late_modules(__name__)
