"""The SDK's model with the tokens of a subscription: always the current ones, also after another
login.

Made for openhands-sdk 1.58, which reads them once. Unnecessary once it reads them again before they
are used."""

import asyncio
from typing import Any, override

from openhands.sdk import LLM

from rookery.home import paths
from rookery.models import subscriptions


class SubscribedLLM(LLM):
    @override
    def _get_litellm_auth_values(self) -> tuple[str | None, dict[str, str]]:
        if not self.is_subscription:
            return super()._get_litellm_auth_values()
        kept = self._subscription_credentials = self._tokens()
        if kept is None or not kept.is_expired():
            return super()._get_litellm_auth_values()
        with subscriptions.renewing(paths.home()):
            self._subscription_credentials = self._tokens()  # another session may have been first
            return super()._get_litellm_auth_values()

    def _tokens(self) -> Any:
        return self._subscription_credential_store.get(subscriptions.VENDOR)

    @override
    async def _aget_litellm_auth_values(self) -> tuple[str | None, dict[str, str]]:
        if not self.is_subscription:
            return await super()._aget_litellm_auth_values()
        return await asyncio.to_thread(self._get_litellm_auth_values)
