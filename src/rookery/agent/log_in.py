"""Logs in with a subscription, in a process that `rookery.models.subscriptions` starts: reads the
request as JSON on stdin; writes a line with the address for the user, and one with the outcome, on
stdout."""

import asyncio
import json
import os
import signal
import sys
from typing import Any

from rookery.agent.process import sdk_import
from rookery.agents.registry import missing_extra
from rookery.processes import die_with_parent

WITHIN = 900
"""Seconds."""


def main() -> int:
    die_with_parent(os.getppid(), signal.SIGTERM)
    asked = json.load(sys.stdin)
    os.umask(0o077)
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # the SDK prints

    def tell(**fields: Any) -> None:
        out.write(json.dumps(fields) + "\n")

    with sdk_import.surroundings():
        try:
            error = asyncio.run(log_in(asked, tell))
        except ModuleNotFoundError:
            error = missing_extra("The SDK that logs in", "agent")
    tell(ok=not error, text=error)
    return 0


async def log_in(asked: dict[str, Any], tell: Any) -> str:
    """Log in. Returns why it failed; "" if it did not."""
    import httpx
    from openhands.sdk.llm.auth import openai

    from rookery.agent.conversation.subscription import Credentials
    from rookery.agent.sdk_patches import log_in as patch

    patch.use_issuer(str(asked.get("issuer") or ""))
    patch.install(lambda url: tell(url=url))
    auth = openai.OpenAISubscriptionAuth(Credentials())
    try:
        if asked.get("device"):
            await _by_code(auth, tell)
        else:
            await auth.login(open_browser=True)
    except (RuntimeError, OSError, ValueError, KeyError) as error:
        return patch.words_of(error)
    except httpx.HTTPError as error:
        return f"{openai.ISSUER} cannot be reached: {error}"
    return ""


async def _by_code(auth: Any, tell: Any) -> None:
    code = await auth.start_device_login()
    tell(url=code.verification_url, code=code.user_code)
    until = asyncio.get_running_loop().time() + WITHIN
    while await auth.poll_device_login(code) is None:
        if asyncio.get_running_loop().time() > until:
            raise RuntimeError(f"The code was not entered within {WITHIN // 60} minutes.")
        await asyncio.sleep(code.interval)


if __name__ == "__main__":
    sys.exit(main())
