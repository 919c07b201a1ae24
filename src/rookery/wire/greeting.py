"""The response to `initialize` of our own ACP agents. It needs nothing that takes time to load, so
that it can be sent while the rest is loading."""

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
"""The capabilities that all of them have."""


def client_of(params: Json) -> Json:
    """Return the client's capabilities. Raises RpcError if it does not say which protocol it
    speaks."""
    version(params)
    capabilities = params.get("clientCapabilities")
    return capabilities if isinstance(capabilities, dict) else {}


def answer(name: str, capabilities: Json, welcome: Json) -> Json:
    """Return the response to `initialize`. `welcome`: the fields particular to this agent."""
    own = {"name": name, "title": "Rookery", "version": rookery.__version__}
    return {"protocolVersion": 1, "agentCapabilities": capabilities, "agentInfo": own, **welcome}
