"""Login with a ChatGPT subscription, also at another server, and with pages and messages that are
Rookery's.

Made for openhands-sdk 1.58, whose page about a failed login fails itself (its style has braces, and
it is a format string), whose server is a constant, and whose advice about a taken port is a
variable that nothing reads. Unnecessary once its page is shown, and server and messages can be
given."""

import threading
import webbrowser
from collections.abc import Callable
from html import escape
from typing import Any

from openhands.sdk.llm.auth import openai

PAGE = (
    "<!DOCTYPE html><html><head><title>Rookery</title></head>"
    '<body style="font-family: system-ui; text-align: center; margin-top: 20vh">'
    "<h1>{title}</h1><p>{text}</p></body></html>"
)
WORDS = {
    "callback timeout": "The login was not finished within 5 minutes.",
    "is already in use": (
        f"Port {openai.DEFAULT_OAUTH_PORT} is in use, perhaps by another login. End that one first."
    ),
    "device auth timed out": "The code was not entered within 15 minutes.",
    "invalid state": "The answer that came back belongs to another login. Begin again.",
}
"""Our messages, by a part of the SDK's own."""


class _Failed(str):
    """Our own error page, in place of the string that the SDK formats."""

    __slots__ = ()

    def format(self, *_: Any, error: str = "", **__: Any) -> str:  # type: ignore[override]
        return PAGE.format(title="You are not logged in", text=escape(error))


def use_issuer(issuer: str) -> None:
    """Log in at another server than OpenAI's; "": at theirs."""
    if issuer and issuer != openai.ISSUER:
        openai.ISSUER = issuer
        openai.JWKS_URL = f"{issuer}/.well-known/jwks.json"


def words_of(error: Exception) -> str:
    """Return why a login failed, for the user."""
    message = str(error) or type(error).__name__
    return next((ours for theirs, ours in WORDS.items() if theirs in message.lower()), message)


def install(on_url: Callable[[str], None]) -> None:
    """Install the patch. `on_url` is called with the address that the browser is to open."""
    opened = webbrowser.open
    done = PAGE.format(title="You are logged in", text="Close this page and go back to Rookery.")
    openai._HTML_SUCCESS, openai._HTML_ERROR = done, _Failed()

    def open_and_tell(url: str, new: int = 0, autoraise: bool = True) -> bool:
        """Open the browser without waiting for it: some return only when they are closed."""
        on_url(url)
        threading.Thread(target=opened, args=(url, new, autoraise), daemon=True).start()
        return True

    webbrowser.open = open_and_tell
