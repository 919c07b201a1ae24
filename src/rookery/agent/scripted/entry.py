"""`rookery model`: runs the scripted model as a process and prints the line that sets it up."""

import asyncio
import signal
import sys

from rookery.agent.scripted.script import Script, ScriptError, read_script
from rookery.agent.scripted.server import Asked, ScriptedModel
from rookery.core import argv

PROFILE = "scripted"


USAGE = "Usage: rookery model FILE|demo [--port N] [--quiet]"


def main(args: list[str]) -> int:
    given = dict[str, str]()
    try:
        given = argv.read(args, values=("port",), flags=("quiet",), operand="file")
        port = argv.number(given, "port", int) or 0
        script = script_at(given["file"])
    except argv.Misused as error:
        print(f"rookery: {error}\n{USAGE}", file=sys.stderr)
        return 2
    except (ScriptError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        print(f"rookery: {given['file']}: {reason}.", file=sys.stderr)
        return 2
    try:
        asyncio.run(serve(script, port, quiet="quiet" in given))
    except OverflowError:
        print(f"rookery: {port} is not a port: use 0 to 65535.\n{USAGE}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"rookery: port {port}: {error.strerror}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


def script_at(path: str) -> Script:
    """Read the script at a path; "demo" is the built-in one. Raises ScriptError, OSError."""
    if path == "demo":
        return Script(demo=True, aside=None)
    with open(path, "rb") as file:
        return read_script(file.read())


async def serve(script: Script, port: int, *, quiet: bool = False) -> None:
    """Serve until a signal arrives."""
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
    """Print one line about a request."""
    turn = asked.turn
    what = [f"error {turn.failure.status}"] if turn.failure else []
    what += [call.name for call in turn.calls]
    what += ["text"] if turn.text else []
    print(f"{asked.path}: {', '.join(what) or 'nothing'}", flush=True)
