"""The program that runs containers, and the contents of its images, as far as the images state
them."""

import json
import os
import shlex
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

from rookery.agents import image, registry
from rookery.build import build
from rookery.core.json import Json, lenient
from rookery.core.vendors.environment import IMAGE_BUILD
from rookery.sandbox.plan import SandboxError, Wish
from rookery.sandbox.visible import is_in

ENGINES = ("podman", "docker")
INSTALL = (
    "To install it: sudo apt install podman (Debian, Ubuntu), sudo dnf install podman (Fedora), "
    "brew install podman (macOS)."
)
_WITH = {registry.DEMO: registry.OWN}
"""Agents that come with another agent."""
SECONDS = 30.0
MISSING = ("not known", "No such image", "no such image", "no such object", "No such object")
"""Phrases with which podman and docker report an image that they do not have."""


class Contents(NamedTuple):
    name: str = ""
    agents: tuple[str, ...] = ()
    """Of those that Rookery knows; none: the image was not made by us, and has whatever it has."""
    base: str = ""
    """What the user had it built on."""
    build: str = ""
    """Of the Rookery in it."""


def split(key: str, value: str) -> list[str]:
    """Split the value of a setting into words. Raises SandboxError."""
    try:
        return shlex.split(value)
    except ValueError as error:
        raise SandboxError(f"The setting sandbox.{key} is not valid: {error}.") from None


def find(setting: str, roots: Sequence[str]) -> list[str]:
    """Return the command of the engine; one that an agent could have written is not used. Raises
    SandboxError."""
    wanted = split("engine", setting)
    for name in wanted[:1] or ENGINES:
        for place in os.environ.get("PATH", os.defpath).split(os.pathsep):
            path = os.path.join(place, name)
            usable = os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK)
            if usable and not is_in(os.path.realpath(path), [*map(os.path.realpath, roots)]):
                return [path, *wanted[1:]]
    named = wanted[0] if wanted else "podman or docker"
    raise SandboxError(f"The sandbox container needs {named}, which is not installed. {INSTALL}")


def contents(engine: Sequence[str], name: str) -> Contents | None:
    """Return an image's contents; None if there is no such image. Blocks. Raises SandboxError."""
    done = _ran([*engine, "image", "inspect", "--format={{json .Config}}", name])
    errors = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode and (not errors or any(phrase in errors for phrase in MISSING)):
        return None
    if done.returncode:
        raise SandboxError(f"{engine[0]} does not work here: {errors.splitlines()[-1][:300]}")
    try:
        config: Json = json.loads(done.stdout)
    except ValueError:
        return Contents(name)
    labels, variables = lenient.mapping(config, "Labels"), lenient.texts(config, "Env")
    builds = [each.partition("=")[2] for each in variables if each.startswith(f"{IMAGE_BUILD}=")]
    agents = tuple(lenient.text(labels, image.AGENTS_LABEL).split())
    return Contents(name, agents, lenient.text(labels, image.BASE_LABEL), "".join(builds[-1:]))


def _ran(line: list[str]) -> "subprocess.CompletedProcess[bytes]":
    """Run a command. Raises SandboxError."""
    try:
        return subprocess.run(
            line, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        message = f"{line[0]} does not respond. Try it yourself: {shlex.join(line)}"
        raise SandboxError(message) from None


def check(wish: Wish, argv: Sequence[str], *, deep: bool = False) -> Contents:
    """Return the contents of the image for an agent's command. Blocks. Raises SandboxError: the
    image does not exist, or does not have the agent's program. `deep`: an image that does not list
    its agents is run to find out."""
    name = registry.image_of(argv) or wish.image or image.NAME
    engine = find(wish.engine, [])
    inside = contents(engine, name)
    if inside is None:
        raise SandboxError(missing(name, engine, image.make_line(argv, name)))
    known, program = image.name_of(argv), registry.in_image(argv)[0]
    lacks = known and inside.agents and not {known, _WITH.get(known, known)} & {*inside.agents}
    if lacks or (deep and not inside.agents and not _runs(engine, wish, name, program)):
        make = image.make_line(argv, name, ours=bool(inside.agents))
        raise SandboxError(lacking(name, program, make))
    return inside


def _runs(engine: Sequence[str], wish: Wish, name: str, program: str) -> bool:
    """Tell whether an image has a program. Raises SandboxError: no container starts."""
    run = [*engine, "run", "--rm", "--pull=never", "--network=none", *split("args", wish.args)]
    line = [*run, "--entrypoint=/bin/sh", name, "-c", 'command -v "$0"', program]
    done = _ran(line)
    if done.returncode in (125, 126):
        output = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise SandboxError(f"{engine[0]} does not start the image {name}: {''.join(output[-1:])}")
    return not done.returncode


def missing(name: str, engine: Sequence[str], make: str) -> str:
    """Return the message about a missing image. `make`: the command that makes the image with the
    agent in it."""
    if name == image.NAME and make:
        return f"The sandbox container has no image yet. To make it: {make}"
    program = os.path.basename(engine[0])
    return (
        f"The sandbox container has no image {name} here. Make or fetch it: "
        f"{program} pull {name}, or {program} build."
    )


def lacking(name: str, program: str, make: str) -> str:
    how = f"To add it: {make}" if make else "Add it to the image, or correct the agent's command."
    return f"The sandbox container cannot run {program}: it is not in the image {name}. {how}"


def older(name: str, theirs: str) -> str:
    line = image.make_line([registry.OWN, "agent"], name, ours=True)
    return (
        f"The image {name} has another version of Rookery in it ({theirs}) than runs here "
        f"({build()}). To build it again: {line}"
    )
