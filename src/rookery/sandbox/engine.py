"""The program that runs containers, and what is in its images, as far as they say so themselves."""

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
"""What comes with another agent."""
SECONDS = 30.0
MISSING = ("not known", "No such image", "no such image", "no such object", "No such object")
"""What podman and docker say about an image that they do not have."""


class Contents(NamedTuple):
    name: str = ""
    agents: tuple[str, ...] = ()
    """Of those that Rookery knows; none: the image was not made by us, and has whatever it has."""
    base: str = ""
    """What the user had it built on."""
    build: str = ""
    """Of the Rookery in it."""


def split(key: str, words: str) -> list[str]:
    """The words of a setting. Raises SandboxError."""
    try:
        return shlex.split(words)
    except ValueError as error:
        raise SandboxError(f"The setting sandbox.{key} is not valid: {error}.") from None


def find(words: str, roots: Sequence[str]) -> list[str]:
    """The command of the engine; one that an agent could have written is not taken. Raises
    SandboxError."""
    wanted = split("engine", words)
    for name in wanted[:1] or ENGINES:
        for place in os.environ.get("PATH", os.defpath).split(os.pathsep):
            found = os.path.join(place, name)
            usable = os.path.isabs(found) and os.path.isfile(found) and os.access(found, os.X_OK)
            if usable and not is_in(os.path.realpath(found), [*map(os.path.realpath, roots)]):
                return [found, *wanted[1:]]
    named = wanted[0] if wanted else "podman or docker"
    raise SandboxError(f"The sandbox container needs {named}, which is not installed. {INSTALL}")


def contents(engine: Sequence[str], name: str) -> Contents | None:
    """None: there is no such image. Blocks. Raises SandboxError."""
    done = _ran([*engine, "image", "inspect", "--format={{json .Config}}", name])
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode and (not said or any(words in said for words in MISSING)):
        return None
    if done.returncode:
        raise SandboxError(f"{engine[0]} does not work here: {said.splitlines()[-1][:300]}")
    try:
        config: Json = json.loads(done.stdout)
    except ValueError:
        return Contents(name)
    labels, variables = lenient.mapping(config, "Labels"), lenient.texts(config, "Env")
    builds = [each.partition("=")[2] for each in variables if each.startswith(f"{IMAGE_BUILD}=")]
    agents = tuple(lenient.text(labels, image.AGENTS_LABEL).split())
    return Contents(name, agents, lenient.text(labels, image.BASE_LABEL), "".join(builds[-1:]))


def _ran(line: list[str]) -> "subprocess.CompletedProcess[bytes]":
    """Raises SandboxError."""
    try:
        return subprocess.run(
            line, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        words = f"{line[0]} does not respond. Try it yourself: {shlex.join(line)}"
        raise SandboxError(words) from None


def check(wish: Wish, argv: Sequence[str], *, deep: bool = False) -> Contents:
    """What is in the image for an agent's command. Blocks. Raises SandboxError: the image is not
    there, or does not have the agent's program. `deep`: one that does not say is run."""
    name = registry.image_of(argv) or wish.image or image.NAME
    engine = find(wish.engine, [])
    found = contents(engine, name)
    if found is None:
        raise SandboxError(missing(name, engine, image.make_line(argv, name)))
    known, program = image.name_of(argv), registry.in_image(argv)[0]
    lacks = known and found.agents and not {known, _WITH.get(known, known)} & {*found.agents}
    if lacks or (deep and not found.agents and not _runs(engine, wish, name, program)):
        make = image.make_line(argv, name, ours=bool(found.agents))
        raise SandboxError(lacking(name, program, make))
    return found


def _runs(engine: Sequence[str], wish: Wish, name: str, program: str) -> bool:
    """Whether an image has a program. Raises SandboxError: no container starts."""
    run = [*engine, "run", "--rm", "--pull=never", "--network=none", *split("args", wish.args)]
    line = [*run, "--entrypoint=/bin/sh", name, "-c", 'command -v "$0"', program]
    done = _ran(line)
    if done.returncode in (125, 126):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise SandboxError(f"{engine[0]} does not start the image {name}: {''.join(said[-1:])}")
    return not done.returncode


def missing(name: str, engine: Sequence[str], make: str) -> str:
    """`make`: the command that makes the image with the agent in it."""
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
