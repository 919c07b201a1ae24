"""The answer to `initialize` of every agent of ours. It needs nothing that takes time to load, so
that it can be given while the rest is loaded."""

import rookery
from rookery.wire.params import Json, version

LOGIN, TERMINAL_LOGIN = "rookery", "rookery-login"
"""The door's methods of authentication: as this machine is set up, and in a terminal."""

SESSIONS: Json = {"list": {}, "delete": {}, "resume": {}, "close": {}, "additionalDirectories": {}}
CAPABILITIES: Json = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": True, "acp": True},
    "sessionCapabilities": SESSIONS,
}
"""What each of them can do."""


def client_of(params: Json) -> Json:
    """What the other side can do. Raises RpcError: it does not say which protocol it speaks."""
    version(params)
    capabilities = params.get("clientCapabilities")
    return capabilities if isinstance(capabilities, dict) else {}


def answer(name: str, capabilities: Json, welcome: Json) -> Json:
    """`welcome`: what is particular about it."""
    own = {"name": name, "title": "Rookery", "version": rookery.__version__}
    return {"protocolVersion": 1, "agentCapabilities": capabilities, "agentInfo": own, **welcome}
