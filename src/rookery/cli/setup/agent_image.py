"""`rookery agents image`: builds the image for `--sandbox container`, with the agents asked for."""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Sequence

import click

from rookery.agents import image, registry
from rookery.build import build
from rookery.cli import exits, flags, settings
from rookery.cli.output import Screen, standard
from rookery.client.guard import require_person
from rookery.home import paths
from rookery.home.config import Config
from rookery.installation import wheel as own_wheel
from rookery.sandbox import engine

FILE = "Containerfile"


def make(names: Sequence[str], base: str, tag: str, *, shown: bool, folder: str, yes: bool) -> int:
    """Build the image; return the exit code. `folder`: only write its build context there."""
    screen, config = standard(), settings.load()
    for name in filter(None, (base, tag)):
        check_name(name)
    tag = tag or image.NAME
    if not shown and not folder:  # before the engine is run
        require_person(paths.home(), "make images")
    wanted = image.chosen(names or [registry.OWN], config.agents)
    program = [] if shown or folder else engine.find(config.sandbox.engine, [])
    before = engine.contents(program, tag) if program else None
    before = before or engine.Contents()
    wanted = [name for name in registry.AGENTS if name in (*wanted, *before.agents)]
    base = base or before.base
    wheel = own_wheel.name() if {registry.OWN, registry.DEMO} & {*wanted} else ""
    text = image.containerfile(wanted, base, wheel, build())
    if shown:
        screen.result({"image": tag, "agents": wanted, "containerfile": text})
        screen.line(text.rstrip("\n"))
        return exits.DONE
    if folder:
        os.makedirs(folder, exist_ok=True)
        _write(folder, text, wheel)
        screen.result({"image": tag, "agents": wanted, "directory": folder})
        screen.note(f"Written to {folder}: {' and '.join(filter(None, (FILE, wheel)))}.")
        return exits.DONE
    screen.note(f"Builds {tag} with {_listed(wanted)}, in their latest versions:")
    for each in text.splitlines():
        screen.note(f"    {each}")
    if not yes:
        flags.confirm(screen, "Go ahead?", "build it")
    _build(screen, program, tag, text, wheel)
    screen.result({"image": tag, "agents": wanted})
    screen.note(f"Made {tag}. {_use(config, tag, wanted)}")
    return exits.DONE


def check_name(name: str) -> None:
    """Raise UsageError for a text that is no name of an image."""
    if name.startswith("-") or not name.isprintable() or set(name) & set(" \"'$\\"):
        raise click.UsageError(f"{name!r} is not the name of an image.")


def _build(screen: Screen, program: list[str], tag: str, text: str, wheel: str) -> None:
    """Build the image in a temporary folder. Raises ClickException."""
    with tempfile.TemporaryDirectory(prefix="rookery-image-") as folder:
        _write(folder, text, wheel)
        line = [*program, "build", "--no-cache", "--tag", tag, "--file", f"{folder}/{FILE}", folder]
        screen.note(shlex.join(line))
        done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=2, check=False)
    if done.returncode:
        raise click.ClickException(
            f"The image was not made: {program[0]} ended with status {done.returncode}; see above. "
            "If a base image could not be fetched, name one that you have: --from IMAGE."
        )


def _write(folder: str, text: str, wheel: str) -> None:
    with open(os.path.join(folder, FILE), "w", encoding="utf-8") as file:
        file.write(text)
    if wheel:
        own_wheel.write(folder)


def _use(config: Config, tag: str, names: Sequence[str]) -> str:
    if tag != (config.sandbox.image or image.NAME):
        value = "''" if tag == image.NAME else tag
        return f"To use it: rookery config set sandbox.image {value}"
    return f'To use it: rookery run --sandbox container --agent {names[0]} "…"'


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
