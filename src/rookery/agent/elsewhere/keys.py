"""The keys of agent servers and of OpenHands Cloud, by address: in a file that only its user can
read, or in the environment. They are never arguments of a command."""

import json
import os
from collections.abc import Mapping

from rookery.agent.process.place import Place
from rookery.home import paths
from rookery.models.secrets import KNOWN, NONE, Secret

FILE = "agent_servers.json"
SERVER_VARIABLES = ("SESSION_API_KEY", "OH_SESSION_API_KEYS_0")
"""The variables from which the agent server itself reads its keys."""
CLOUD_VARIABLES = ("OPENHANDS_CLOUD_API_KEY", "OPENHANDS_API_KEY")


def variables_of(place: Place) -> tuple[str, ...]:
    return CLOUD_VARIABLES if place.cloud else SERVER_VARIABLES


def key_of(home: str, place: Place, environment: Mapping[str, str]) -> Secret:
    """Return the saved key of an address, else the environment's, else an empty one."""
    saved = _read(home).get(place.url, "")
    named = (environment.get(name, "").strip() for name in variables_of(place))
    key = saved or next(filter(None, named), "")
    KNOWN.learn([key])
    return Secret(key) if key else NONE


def learn(home: str) -> None:
    """Register the saved keys for redaction: an agent here may come across them, too."""
    KNOWN.learn(_read(home).values())


def save(home: str, url: str, key: str) -> str:
    """Save a key; "" forgets it. Returns the file's path."""
    KNOWN.learn([key])
    kept = {**_read(home), url: key}
    known = {each: secret for each, secret in kept.items() if secret}
    path = os.path.join(paths.ensure_home(home), FILE)
    document = {"version": 1, "keys": known}
    paths.write_atomic(path, json.dumps(document, indent=2).encode(), 0o600, sync=True)
    return path


def _read(home: str) -> dict[str, str]:
    path = os.path.join(home, FILE)
    keys = (paths.read_json(path) or {}).get("keys")
    if not isinstance(keys, dict):
        return {}
    if os.stat(path).st_mode & 0o077:  # made readable for others by hand
        os.chmod(path, 0o600)
    return {url: key for url, key in keys.items() if isinstance(key, str)}
