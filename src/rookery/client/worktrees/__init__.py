"""Git worktrees of sessions: created in Rookery's home, compared, merged, dropped, cleaned up."""

from typing import TYPE_CHECKING

from rookery import late_modules

if TYPE_CHECKING:
    from rookery.client.worktrees import create, drop, own_git, repository, upkeep
else:
    __getattr__ = late_modules(__name__)
