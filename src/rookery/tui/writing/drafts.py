"""Prompts that were begun and not sent, by session: they survive leaving."""

import json
import os
from collections.abc import Collection, Mapping
from contextlib import suppress

from rookery.core.json import lenient
from rookery.home import paths

FILE = "drafts.json"
MOST = 200


def read(home: str) -> dict[str, str]:
    found = paths.read_json(os.path.join(home, FILE)) or {}
    return {name: text for name in found if (text := lenient.text(found, name))}


def keep(home: str, drafts: Mapping[str, str], shown: Collection[str]) -> None:
    """`shown`: sessions whose draft is known here; those of others stay."""
    others = {name: text for name, text in read(home).items() if name not in shown}
    kept = {**others, **drafts}
    newest = dict(list(kept.items())[-MOST:])
    if newest or others:
        data = json.dumps(newest, ensure_ascii=False).encode("utf-8", "replace")
        with suppress(OSError):  # a read-only home, a full disk
            paths.write_atomic(os.path.join(home, FILE), data)
    else:
        with suppress(OSError):
            os.unlink(os.path.join(home, FILE))
