"""The terminal's surroundings: other programs, notifications, the clock."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.tui.system import external_programs, git_branch, notifications, user_shell
else:
    __getattr__ = late_modules(__name__)
