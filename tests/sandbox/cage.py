"""Sessions in a sandbox, whose agents are players: what they run, and what it says."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.rigs.player import player
from tests.worker.aviary import Aviary, Bird, text_of

ROOT = Path(__file__).parents[2]


def configure(aviary: Aviary, more: str = "", **sandbox: Any) -> None:
    """The table [sandbox]; the rigged player is readable. `more`: other tables."""
    given = {"read": shlex.quote(str(ROOT / "tests")), **sandbox}
    lines = ["[sandbox]", *(f"{key} = {json.dumps(value)}" for key, value in given.items())]
    Path(aviary.home, "config.toml").write_text("\n".join(lines) + f"\n{more}")


def caged(aviary: Aviary, before: Sequence[str] = (), **fields: Any) -> Bird:
    """A session whose player has its script and its memory in the session's directory. `before`:
    comes before the player's command."""
    place = Path(fields.get("cwd", aviary.work))
    script = place / ".script.json"
    script.write_text(json.dumps(fields.pop("script", {})))
    argv = [*before, *player(str(script), "--state", str(place / ".state"))]
    return aviary.hatch(argv=argv, **{"sandbox": "bwrap", **fields})


async def said(bird: Bird, command: str) -> str:
    """What a terminal of the agent's prints."""
    return text_of(await bird.turn([{"command": command}, {"text": "$output"}]))
