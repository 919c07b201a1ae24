"""`rookery play`: an ACP agent on stdio that plays a script or a recorded session."""

import asyncio
import os
import sys

from rookery.acp.player.demo import DEMO
from rookery.acp.player.memory import Memory
from rookery.acp.player.script import Script, ScriptError, read_script, script_of
from rookery.acp.player.scripted import ScriptedAgent
from rookery.core import argv
from rookery.home import paths
from rookery.wire.reception import serve

USAGE = "Usage: rookery play FILE|demo [--state DIR] [--speed N]"


def main(args: list[str], agent: type[ScriptedAgent] = ScriptedAgent) -> int:
    given = dict[str, str]()
    try:
        given = argv.read(args, values=("state", "speed"), operand="file")
        script = script_at(given["file"], argv.number(given, "speed", float), agent)
    except argv.Misused as error:
        print(f"rookery: {error}\n{USAGE}", file=sys.stderr)
        return 2
    except (ScriptError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        print(f"rookery: {given['file']}: {reason}", file=sys.stderr)
        return 2
    memory = Memory(given.get("state") or os.path.join(paths.home(), "player"))
    asyncio.run(serve(lambda group: agent(script, memory, group)))
    return 0


def script_at(path: str, speed: float | None, agent: type[ScriptedAgent] = ScriptedAgent) -> Script:
    """Load a script, or a recording made into one. Raises ScriptError, OSError."""
    verbs = agent.verbs
    if path == "demo":
        return script_of(DEMO, verbs)
    if os.path.isdir(path) or os.path.basename(path) == paths.LOG:
        from rookery.acp.player.recording import script_of_log

        directory = path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path))
        return script_of(script_of_log(directory, speed), verbs)
    with open(path, "rb") as file:
        text = file.read()
    if path.endswith(".jsonl"):
        from rookery.acp.player.recording import script_of_lines

        return script_of(script_of_lines(text, speed), verbs)
    script = read_script(text, verbs)
    agent.check(script)
    return script
