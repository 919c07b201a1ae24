"""The web page: one file per screen, with its routes."""

from rookery.daemon.page import (
    changes,
    files,
    fleet,
    inbox,
    installed,
    new,
    race,
    saved,
    search,
    session,
    settings,
    timeline,
    trash,
    usage,
)
from rookery.daemon.page.review import file

# `settings` takes every address below /settings that none before it takes.
ROUTERS = (
    changes.router,
    file.router,
    files.router,
    fleet.router,
    inbox.router,
    installed.router,
    new.router,
    race.router,
    saved.router,
    trash.router,
    search.router,
    session.router,
    settings.router,
    timeline.router,
    usage.router,
)
