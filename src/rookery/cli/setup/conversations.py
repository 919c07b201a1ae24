"""Copying conversations of OpenHands to where Rookery's own agent can load them."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from rookery.agent.storage import store
from rookery.core.json import Json, lenient
from rookery.home import paths
from rookery.log.errors import FAULTS

FIRST = 20
"""Events among which the first prompt is looked for."""
LARGEST = 8 * 1024 * 1024
"""Bytes of a file that is read for it."""
LISTED = "rookery import --agent rookery --all --list"


class Copied(NamedTuple):
    new: int
    here: int
    """Those that are here already."""
    broken: list[str]
    """Those that cannot be read, and why."""


def copy_from(folder: str, kept: store.Store) -> Copied:
    """Copy each conversation as a whole or not at all. Those already here stay, and an unreadable
    one does not hold up the others. Raises OSError if there is no room."""
    new, here, broken = 0, 0, list[str]()
    for name in sorted(os.listdir(folder)):
        id, source = store.known_form(name), os.path.join(folder, name)
        if id is None or not _has_events(source):
            continue  # nothing was said in it
        if os.path.exists(kept.folder(id)):
            here += 1
        elif paths.read_json(os.path.join(source, store.STATE)) is None:
            broken.append(f"{name}: {store.STATE} cannot be read")
        else:
            try:
                _copy(source, id, kept)
                new += 1
            except OSError as error:
                if error.errno in FAULTS:  # then none of them can be copied
                    raise
                broken.append(f"{name}: {error.strerror or error}")
    return Copied(new, here, broken)


def _has_events(source: str) -> bool:
    with suppress(OSError), os.scandir(os.path.join(source, store.EVENTS)) as entries:
        return any(each.name.endswith(".json") for each in entries)
    return False


def _copy(source: str, id: str, kept: store.Store) -> None:
    os.makedirs(kept.directory, mode=0o700, exist_ok=True)
    place = f"{kept.folder(id)}{store.UNFINISHED}"
    shutil.rmtree(place, ignore_errors=True)  # of an import that was cut off
    try:
        for path in _files(source):
            target = os.path.join(place, os.path.relpath(path, source))
            os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
            shutil.copy2(path, target)
            os.chmod(target, 0o600)
        os.rename(place, kept.folder(id))
    except OSError:
        shutil.rmtree(place, ignore_errors=True)
        raise
    if (record := kept.read(id)) is not None:
        kept.write(record._replace(title=store.title_of(_first_prompt(kept.folder(id)))))


def _files(source: str) -> Iterator[str]:
    """Yield the files of a conversation. Links are left out: they may lead anywhere."""
    for folder, _, names in os.walk(source):
        paths_here = (os.path.join(folder, name) for name in names if name != store.LOCK)
        yield from (
            path for path in paths_here if os.path.isfile(path) and not os.path.islink(path)
        )


def _first_prompt(folder: str) -> str:
    events = os.path.join(folder, store.EVENTS)
    for name in sorted(os.listdir(events))[:FIRST]:
        with suppress(OSError, ValueError, RecursionError):
            path = Path(events, name)
            event = json.loads(path.read_bytes()) if path.stat().st_size <= LARGEST else None
            if isinstance(event, dict) and event.get("source") == "user" and (text := _text(event)):
                return text
    return ""


def _text(event: Json) -> str:
    message = lenient.mapping(event, "llm_message")
    return "\n".join(lenient.text(part, "text") for part in lenient.mappings(message, "content"))
