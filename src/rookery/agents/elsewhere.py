"""Rookery's own agent with its conversation on another machine: on an OpenHands agent server, or in
OpenHands Cloud."""

from urllib.parse import urlsplit

from rookery.agents.registry import OWN, Agent, resolve

CLOUD = "https://app.all-hands.dev"


def own_agent(remote: str | None, *, cloud: bool) -> Agent | None:
    """Return the agent for a remote conversation. `remote`: the server's address; with `cloud`, the
    cloud's, if not the usual one. None if neither was given. Raises ValueError."""
    if remote is None and not cloud:
        return None
    if fault := fault_of(CLOUD if remote is None else remote):
        raise ValueError(fault)
    where = [] if remote is None else ["--remote", remote.rstrip("/")]
    return Agent(OWN, [*resolve(OWN, {}).argv, *where, *(["--cloud"] if cloud else [])])


def fault_of(url: str, directory: str = "") -> str:
    """Return what is wrong with an address or a directory; "" if nothing is."""
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return f"{url!r} is not an address"
    if not known:
        return f"{url!r} is not an address such as http://127.0.0.1:8000"
    if parts.username or parts.password or parts.query or parts.fragment:
        return "the address may have no password, ? or #; save the key with `rookery agents add`"
    if directory and not directory.startswith("/"):
        return f"--directory {directory} must be an absolute path on the server"
    return ""
