"""Several agents with names in one home, each a player with a script and a memory of its own."""

import json
from pathlib import Path
from typing import Any

from tests.rigs.player import player
from tests.worker.aviary import Aviary

type Json = dict[str, Any]


def introduce(aviary: Aviary, worker: Json | None = None, **scripts: Json) -> None:
    """Write config.toml: the agents of these names, and numbers of the policy."""
    lines = ["[worker]", *(f"{key} = {json.dumps(value)}" for key, value in (worker or {}).items())]
    for name, script in scripts.items():
        file = aviary.root / f"{name}.json"
        agent = {"name": name, **script.get("agent", {})}
        file.write_text(json.dumps({**script, "agent": agent}))
        argv = player(str(file), "--state", str(memory(aviary, name)))
        lines += [f"[agents.{name}]", f"command = {json.dumps(argv)}"]
    Path(aviary.home, "config.toml").write_text("\n".join(lines) + "\n")


def memory(aviary: Aviary, name: str) -> Path:
    return aviary.root / f"memory-{name}"


def remembered(aviary: Aviary, name: str) -> list[str]:
    """The ids of the sessions that an agent still knows."""
    return sorted(file.stem for file in memory(aviary, name).glob("play-*.jsonl"))
