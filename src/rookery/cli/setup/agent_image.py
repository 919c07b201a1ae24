"""`rookery agents image`: the image of containers that Rookery's own agent works in."""

import shlex
import subprocess

import click

from rookery.cli import exits, flags, settings
from rookery.cli.output import standard
from rookery.cli.setup.agent_server import require_extra
from rookery.client.guard import require_person
from rookery.home import paths


def make(*, shown: bool, yes: bool) -> int:
    from rookery.agent.elsewhere import image
    from rookery.sandbox.container import find_engine
    from rookery.sandbox.plan import SandboxError

    require_extra()
    screen, text = standard(), image.containerfile()
    if shown:
        screen.line(text.rstrip("\n"))
        return exits.DONE
    require_person(paths.home(), "make images")
    try:
        line = image.build_line(find_engine(settings.load().sandbox.engine, [], "The image"))
    except SandboxError as error:
        raise click.ClickException(str(error)) from None
    screen.note(f"Builds {image.usual()}:")
    screen.note(f"  {shlex.join(line)}")
    for each in text.splitlines():
        screen.note(f"    {each}")
    if not (yes or flags.confirmed(screen, "Go ahead?", "built", as_json=False)):
        return exits.CANCELLED
    done = subprocess.run(line, input=text.encode(), check=False)
    if done.returncode:
        words = f"The image was not made: {line[0]} ended with status {done.returncode}."
        raise click.ClickException(words)
    screen.note("Made. To use it: rookery agents add box --container")
    return exits.DONE
