"""The routes under /api, one file for each kind of resource."""

from rookery.daemon.api import (
    about,
    commands,
    devices,
    history,
    login,
    session_list,
    sessions,
    stream,
)

ROUTERS = (
    about.router,
    login.router,
    session_list.router,
    sessions.router,
    commands.router,
    history.router,
    stream.router,
    devices.router,
)
