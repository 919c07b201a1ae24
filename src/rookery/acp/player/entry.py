"""`rookery play`: an ACP agent on stdio that plays a script or a recorded session."""

import argparse
import asyncio
import os
import sys

from rookery.acp.player.demo import DEMO
from rookery.acp.player.memory import Memory
from rookery.acp.player.script import Script, ScriptError, read_script, script_of
from rookery.acp.player.scripted import ScriptedAgent
from rookery.home import paths
from rookery.wire.reception import serve


def main(argv: list[str], agent: type[ScriptedAgent] = ScriptedAgent) -> int:
    arguments = _parser().parse_args(argv)
    try:
        script = script_at(arguments.file, arguments.speed, agent)
    except (ScriptError, OSError) as error:
        print(f"rookery play: {arguments.file}: {error}", file=sys.stderr)
        return 2
    memory = Memory(arguments.state or os.path.join(paths.home(), "player"))
    asyncio.run(serve(lambda group: agent(script, memory, group)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rookery play", description="An ACP agent on stdio that plays a script or a recording."
    )
    parser.add_argument(
        "file", metavar="FILE|demo", help="a script, a recording as .jsonl, or a session's log"
    )
    parser.add_argument("--state", metavar="DIR", help="where it stores its sessions")
    parser.add_argument("--speed", type=float, help="play a recording at this many times its speed")
    return parser


def script_at(path: str, speed: float | None, agent: type[ScriptedAgent] = ScriptedAgent) -> Script:
    """A script, or a recording made into one. Raises ScriptError, OSError."""
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
