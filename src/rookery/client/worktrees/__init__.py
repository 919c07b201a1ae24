"""Git worktrees of sessions: created in Rookery's home, compared, merged, dropped, cleaned up."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.client.worktrees import create, drop, own_git, repository, upkeep
else:
    __getattr__ = late_modules(__name__)
