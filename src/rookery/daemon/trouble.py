"""Error handling for periodic work: an error in one round ends neither the next round nor the
daemon."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from rookery.daemon.metrics.measures import FAILURES

_log = logging.getLogger("rookery.daemon")


class Trouble:
    """Logs an error once, until a different one occurs or a round succeeds."""

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._logged = ""

    @contextmanager
    def survived(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, the next round may go well
            self.note(error)
        else:
            self.note(None)

    def note(self, error: Exception | None) -> None:
        if error is not None:
            FAILURES.add(self._doing)
        text = "" if error is None else f"{type(error).__name__}: {error}"
        if error is not None and text != self._logged:
            bug = None if isinstance(error, OSError) else error
            _log.warning("%s: %s", self._doing, text, exc_info=bug)
        self._logged = text
