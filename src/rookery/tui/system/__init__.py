"""The terminal's surroundings: other programs, notifications, the clock."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.tui.system import external_programs, git_branch, notifications, user_shell
else:
    __getattr__ = late_modules(__name__)
