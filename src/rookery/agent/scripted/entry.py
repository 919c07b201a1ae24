"""`rookery model`: the scripted model as a process; it prints the line that sets it up."""

import argparse
import asyncio
import signal
import sys

from rookery.agent.scripted.script import Script, ScriptError, read_script
from rookery.agent.scripted.server import Asked, ScriptedModel

PROFILE = "scripted"


def main(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    try:
        script = script_at(arguments.file)
    except (ScriptError, OSError) as error:
        words = error.strerror if isinstance(error, OSError) else error
        print(f"rookery model: {arguments.file}: {words}.", file=sys.stderr)
        return 2
    try:
        asyncio.run(serve(script, arguments.port, quiet=arguments.quiet))
    except OSError as error:
        print(f"rookery model: port {arguments.port}: {error.strerror}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rookery model", description="A model on loopback that plays a script."
    )
    parser.add_argument("file", metavar="FILE|demo", help="a script, or the demo")
    parser.add_argument("--port", type=int, default=0, help="port (default: a free one)")
    parser.add_argument("--quiet", action="store_true", help="print only the address")
    return parser


def script_at(path: str) -> Script:
    """Raises ScriptError, OSError."""
    if path == "demo":
        return Script(demo=True, aside=None)
    with open(path, "rb") as file:
        return read_script(file.read())


async def serve(script: Script, port: int, *, quiet: bool = False) -> None:
    """Until a signal ends it."""
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, over.set)
    tell = None if quiet else _tell
    async with ScriptedModel(script, port=port, on_request=tell) as model:
        print(model.url if quiet else _greeting(model), flush=True)
        await over.wait()


def _greeting(model: ScriptedModel) -> str:
    key = model.chooser.script.key
    name = model.chooser.script.models[0]
    needed = f" --key {key}" if key else ""
    return (
        f"A scripted model listens at {model.url}\n"
        f"Use it, in another terminal:\n\n"
        f"  rookery setup --name {PROFILE} --model openai/{name} --base-url {model.url}{needed}\n"
        f'  rookery run --agent rookery "Leave a note about this directory"\n\n'
        f"Ctrl-C ends it. Its requests: {model.url.removesuffix('/v1')}/requests"
    )


def _tell(asked: Asked) -> None:
    """One line per request."""
    turn = asked.turn
    what = [f"error {turn.failure.status}"] if turn.failure else []
    what += [call.name for call in turn.calls]
    what += ["text"] if turn.text else []
    print(f"{asked.path}: {', '.join(what) or 'nothing'}", flush=True)
