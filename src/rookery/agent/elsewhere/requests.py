"""HTTP requests to an agent server or to the cloud, whose failures are messages that tell the user
what to do."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx

from rookery.agent.process.place import Place
from rookery.agent.provider.told import ActionableError
from rookery.agents.elsewhere import CLOUD
from rookery.core.json import Json
from rookery.models.secrets import Secret
from rookery.wire.params import AUTH_REQUIRED

REQUEST_TIMEOUT = 20.0
"""Seconds for a response. Whatever takes longer runs in the background over there."""
CONNECTING = 5.0
NOTICED = 3.0
"""Seconds after which somebody who waits wonders why."""
DETAIL = 300
"""Characters of a server's own words."""


@contextmanager
def waiting(place: Place, tell: Callable[[str], None]) -> Iterator[None]:
    """Show a notice of what is waited for, once it takes long."""
    name = place.name()
    notice = f"Waiting for {name[0].lower() + name[1:] if name.startswith('The ') else name}.\n"
    timer = threading.Timer(NOTICED, tell, [notice])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Unreachable(ActionableError):
    """The server does not respond, or cannot serve us now: a later try may succeed."""


class Requests:
    """Requests with the user's key. `header`: its name, and the text before the key in it."""

    def __init__(self, place: Place, url: str, key: Secret, header: tuple[str, str]) -> None:
        self.place = place
        self.url = url
        name, before = header
        headers = {name: before + key.reveal()} if key else {}
        waits = httpx.Timeout(REQUEST_TIMEOUT, connect=CONNECTING)
        self._client = httpx.Client(base_url=url, headers=headers, timeout=waits)

    def close(self) -> None:
        self._client.close()

    def get(self, path: str, **more: Any) -> Any:
        return self.ask("GET", path, **more)

    def post(self, path: str, body: Json | None = None, **more: Any) -> Any:
        return self.ask("POST", path, json=body if body is not None else {}, **more)

    def ask(
        self,
        method: str,
        path: str,
        *,
        missing: bool = False,
        also: Sequence[int] = (),
        **more: Any,
    ) -> Any:
        """Send a request and return the JSON of the response; None for the statuses in `also` and,
        with `missing`, for what does not exist. Raises ActionableError."""
        try:
            answer = self._client.request(method, path, **more)
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise self._unreachable(str(error) or type(error).__name__) from error
        if answer.status_code in also or (answer.status_code == 404 and missing):
            return None
        if answer.status_code in (401, 403):
            raise ActionableError(
                f"{self.place.name()} refused the key. {how_to_log_in(self.place)}",
                "auth",
                AUTH_REQUIRED,
            )
        if answer.status_code >= 500 or answer.status_code in (404, 409, 429):
            raise self._unreachable(_status(answer))
        if answer.is_redirect:  # the key does not follow
            message = f"{self.place.name()} says that it is at {answer.headers.get('Location')}."
            raise ActionableError(
                f"{message} If that is right, use that address instead.", "provider"
            )
        if answer.is_error:
            message = f"{self.place.name()} refused a request ({path})."
            raise ActionableError(f"{message}\n{_status(answer)}", "provider")
        try:
            return answer.json() if answer.content else None
        except (ValueError, RecursionError):
            raise self.foreign() from None

    def foreign(self) -> ActionableError:
        """Return the error for a host that responds, but is no agent server."""
        what = "the cloud's API" if self.place.cloud else "the agent server's API"
        return ActionableError(
            f"{self.place.name()} does not speak {what}. Check the address.", "provider"
        )

    def _unreachable(self, detail: str) -> Unreachable:
        name = self.place.name()
        return Unreachable(f"{name} does not respond. {_remedy(self.place, detail)}\n{detail}")


def _remedy(place: Place, detail: str) -> str:
    if "CERTIFICATE_VERIFY" in detail:
        return "Its certificate cannot be verified. If it is your own, name it in SSL_CERT_FILE."
    if "[SSL" in detail:
        return "It does not seem to speak TLS. If it is yours, try http:// instead of https://."
    if place.cloud:
        return "Check the network, then try again."
    return "Start it or check the address, then try again."


def how_to_log_in(place: Place) -> str:
    flag = f"--cloud --remote {place.url}" if place.cloud else f"--remote {place.url}"
    return f"Save a valid one: rookery agents add NAME {flag.replace(f' --remote {CLOUD}', '')}"


def _status(answer: httpx.Response) -> str:
    return f"HTTP {answer.status_code} {answer.text[:DETAIL]}".strip()
