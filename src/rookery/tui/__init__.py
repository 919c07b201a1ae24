"""The terminal interface: shows blocks and sends actions; it knows no kinds of events."""

from rookery import TYPE_CHECKING, late_modules

if TYPE_CHECKING:
    from rookery.tui import (
        actions,
        entry,
        look,
        new_session,
        pictures,
        shell,
        splash,
        surroundings,
        system,
        transcript,
        widgets,
        windows,
        worker_watch,
        writing,
    )
else:
    __getattr__ = late_modules(__name__)
