"""An agent's tool calls: their names, places, output and terminals."""

from rookery import late_modules

TYPE_CHECKING = False  # as in rookery
if TYPE_CHECKING:
    from rookery.core.tools import git_patches
else:
    __getattr__ = late_modules(__name__)
