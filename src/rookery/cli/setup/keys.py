"""Reading a key from the options of a command: by value, from stdin or from a variable."""

import os
import sys
from typing import Any

import click

from rookery.models.draft import BadDraft
from rookery.models.secrets import Secret


def given_key(given: dict[str, Any]) -> Secret:
    """Return the key in --key, --key-stdin or --key-env, or an empty one. Raises BadDraft."""
    ways = [bool(given["key"]), given["key_stdin"], bool(given["key_env"])]
    if sum(ways) > 1:
        raise click.UsageError("--key, --key-stdin and --key-env cannot be combined.")
    key, missing = given["key"], None
    if given["key_stdin"]:
        key, missing = sys.stdin.readline(), BadDraft("key_stdin", "there is no key on stdin")
    elif name := given["key_env"]:
        key, missing = os.environ.get(name, ""), BadDraft("key", f"{name} is not set")
    if missing and not key.strip():
        raise missing
    return Secret(key.strip())
