"""Logging in with a ChatGPT subscription, at another server too, and with pages and words that are
Rookery's.

Made for openhands-sdk 1.58, whose page about a failed login fails itself (its style has braces, and
it is a format), whose server is a constant, and whose advice about a taken port is a variable that
nobody reads. Unnecessary once its page is shown, and server and words can be given.
"""

import threading
import webbrowser
from collections.abc import Callable
from html import escape
from typing import Any

from openhands.sdk.llm.auth import openai

PAGE = (
    "<!DOCTYPE html><html><head><title>Rookery</title></head>"
    '<body style="font-family: system-ui; text-align: center; margin-top: 20vh">'
    "<h1>{title}</h1><p>{words}</p></body></html>"
)
WORDS = {
    "callback timeout": "The login was not finished within 5 minutes.",
    "is already in use": (
        f"Port {openai.DEFAULT_OAUTH_PORT} is in use, perhaps by another login. End that one first."
    ),
    "device auth timed out": "The code was not entered within 15 minutes.",
    "invalid state": "The answer that came back belongs to another login. Begin again.",
}
"""By a part of the SDK's own."""


class _Failed(str):
    """Its own page, made by `format`."""

    __slots__ = ()

    def format(self, *_: Any, error: str = "", **__: Any) -> str:  # type: ignore[override]
        return PAGE.format(title="You are not logged in", words=escape(error))


def use_issuer(issuer: str) -> None:
    """Log in at another server than OpenAI's; "": at theirs."""
    if issuer and issuer != openai.ISSUER:
        openai.ISSUER = issuer
        openai.JWKS_URL = f"{issuer}/.well-known/jwks.json"


def words_of(error: Exception) -> str:
    """Why a login failed, for the user."""
    said = str(error) or type(error).__name__
    return next((ours for theirs, ours in WORDS.items() if theirs in said.lower()), said)


def install(told: Callable[[str], None]) -> None:
    """`told` hears where the browser is to go."""
    opened = webbrowser.open
    done = PAGE.format(title="You are logged in", words="Close this page and go back to Rookery.")
    openai._HTML_SUCCESS, openai._HTML_ERROR = done, _Failed()

    def open_and_tell(url: str, new: int = 0, autoraise: bool = True) -> bool:
        """Waits for nobody: some browsers return when they are closed."""
        told(url)
        threading.Thread(target=opened, args=(url, new, autoraise), daemon=True).start()
        return True

    webbrowser.open = open_and_tell
