"""Access to a session from outside its worker: find or start the worker, listen, and send
commands."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.client import create, deletion, environment, reading, trash, update, warm_agent
else:
    __getattr__ = late_modules(__name__)
