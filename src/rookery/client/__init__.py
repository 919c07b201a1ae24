"""Access to a session from outside its worker: find or start the worker, listen, and send
commands."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.client import create, deletion, environment, reading, warm_agent
else:
    __getattr__ = late_modules(__name__)
