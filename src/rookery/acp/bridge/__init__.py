"""The bridge for editors: an ACP agent on stdio whose sessions are Rookery's."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.acp.bridge import attached, door, login, prompts, relay, sessions
else:
    __getattr__ = late_modules(__name__)
