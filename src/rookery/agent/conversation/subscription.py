"""Models that are paid for by a subscription (ChatGPT's) instead of a key: the SDK logs in and
renews the tokens, which are kept in Rookery's home and redacted like keys."""

import platform
from pathlib import Path
from typing import Any, override

from openhands.sdk import LLM
from openhands.sdk.llm.auth.credentials import CredentialStore, OAuthCredentials

from rookery.agent import private
from rookery.core.json import Json
from rookery.home import paths
from rookery.models import subscriptions
from rookery.models.secrets import KNOWN


class Credentials(CredentialStore):
    def __init__(self) -> None:
        super().__init__(Path(subscriptions.folder(paths.home())))

    @override
    def get(self, vendor: str) -> OAuthCredentials | None:
        credentials = super().get(vendor)
        if credentials is not None:
            KNOWN.learn((credentials.access_token, credentials.refresh_token))
        return credentials

    @override
    def save(self, credentials: OAuthCredentials) -> None:
        """Write the credentials atomically and never readable for others, not even for a moment."""
        KNOWN.learn((credentials.access_token, credentials.refresh_token))
        place = str(private.credentials_file(self, credentials.vendor))
        paths.write_atomic(place, credentials.model_dump_json(indent=2).encode(), sync=True)


def fields_of(extras: Json) -> Json:
    """Return the model's settings with those that the subscription's API requires: it always
    streams, stores nothing, and takes no limits."""
    given = {key: value for key, value in extras.items() if key != subscriptions.ISSUER}
    headers = {
        "originator": "codex_cli_rs",
        "OpenAI-Beta": "responses=experimental",
        "User-Agent": f"openhands-sdk ({platform.system()}; {platform.machine()})",
    }
    body = {"store": False} | (given.get("litellm_extra_body") or {})
    fixed = {"stream": True, "temperature": None, "max_output_tokens": None, "api_key": None}
    return given | fixed | {"extra_headers": headers, "litellm_extra_body": body}


def log_in(llm: LLM, extras: Json) -> None:
    """Log in with the stored tokens. Without any, a turn says what to do."""
    if issuer := str(extras.get(subscriptions.ISSUER) or ""):
        from rookery.agent.sdk_patches import log_in as patch

        patch.use_issuer(issuer)
    kept: Any = Credentials()
    llm.is_subscription = True
    llm.max_output_tokens = None
    private.use_credentials(llm, kept, kept.get(subscriptions.VENDOR))
