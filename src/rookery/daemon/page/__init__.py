"""The page: each screen is a file with its addresses."""

from rookery.daemon.page import changes, files, fleet, session

ROUTERS = (files.router, fleet.router, session.router, changes.router)
