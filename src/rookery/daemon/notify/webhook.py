"""Sending notifications to a webhook that the user configured."""

import http.client
import threading
import urllib.error
import urllib.request
from typing import override
from urllib.parse import urlsplit

from rookery.daemon.notify.shapes import Post

TRY_TIMEOUT = 10.0
"""Seconds for one try."""
PAUSES = (1.0, 5.0)
"""Seconds before each further try."""
PASSING = frozenset({408, 425, 429})
"""Answers after which another try may succeed, besides 500 and above."""


class Undelivered(Exception):
    """Raised when a notification was not delivered; the message says why, without the address,
    which may be a secret."""

    def __init__(self, why: str, status: int = 0) -> None:
        super().__init__(why)
        self.status = status

    @property
    def is_passing(self) -> bool:
        return not self.status or self.status in PASSING or self.status >= 500


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: the post goes only to the configured address."""

    @override
    def redirect_request(self, *_: object) -> None:
        return None


def send(post: Post, stopping: threading.Event) -> None:
    """Post the notification, with retries. Blocks. Raises Undelivered."""
    for pause in (*PAUSES, None):
        try:
            return send_once(post)
        except Undelivered as error:
            if pause is None or not error.is_passing or stopping.wait(pause):
                raise
    return None


def send_once(post: Post) -> None:
    """Post the notification, trying once. Raises Undelivered."""
    try:
        parts = urlsplit(post.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Undelivered("notify.webhook is not an http or https address", 400)
        request = urllib.request.Request(post.url, post.body, dict(post.headers), method="POST")  # noqa: S310 - checked above
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=TRY_TIMEOUT):
            return
    except urllib.error.HTTPError as error:
        error.close()
        raise Undelivered(f"it answered {error.code}", error.code) from None
    except urllib.error.URLError as error:
        raise Undelivered(f"{error.reason}") from None
    except (ValueError, http.client.InvalidURL):
        raise Undelivered("notify.webhook is not a valid address", 400) from None
    except (OSError, http.client.HTTPException) as error:
        raise Undelivered(str(error) or type(error).__name__) from None
