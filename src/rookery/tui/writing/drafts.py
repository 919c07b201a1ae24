"""Unsent prompts by session, which survive quitting."""

import json
import os
from collections.abc import Collection, Mapping
from contextlib import suppress

from rookery.core.json import lenient
from rookery.home import paths

FILE = "drafts.json"
MAX_DRAFTS = 200


def read(home: str) -> dict[str, str]:
    saved = paths.read_json(os.path.join(home, FILE)) or {}
    return {name: text for name in saved if (text := lenient.text(saved, name))}


def keep(home: str, drafts: Mapping[str, str], shown: Collection[str]) -> None:
    """Save the drafts. `shown` are the sessions whose drafts are known here; those of others are
    kept."""
    others = {name: text for name, text in read(home).items() if name not in shown}
    kept = {**others, **drafts}
    newest = dict(list(kept.items())[-MAX_DRAFTS:])
    if newest or others:
        data = json.dumps(newest, ensure_ascii=False).encode("utf-8", "replace")
        with suppress(OSError):  # a read-only home, a full disk
            paths.write_atomic(os.path.join(home, FILE), data)
    else:
        with suppress(OSError):
            os.unlink(os.path.join(home, FILE))
