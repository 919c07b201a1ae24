"""Parses the agent's arguments by hand: a client waits for this start."""

from typing import NamedTuple

from rookery import agents
from rookery.core import argv

USAGE = (
    "Usage: rookery agent [--resume ID | --last] [--override-with-envs] [--setup]\n"
    f"                     {argv.APPROVING_USAGE}\n"
    "                     [--remote URL] [--cloud] [--directory DIR]"
)
BOXED = (
    "--container is for agents of Rookery's sessions. Add one with `rookery agents add NAME "
    "--container`; an editor then starts: rookery acp --agent NAME"
)
OVERRIDE = "override-with-envs"

SETUP = "rookery-setup"
"""ACP's authentication method: setting up a model."""


class Arguments(NamedTuple):
    resume: str = ""
    last: bool = False
    override: bool = False
    """LLM_MODEL, LLM_API_KEY and LLM_BASE_URL override what is saved."""
    remote: str = ""
    """The address of an agent server, for new sessions."""
    cloud: bool = False
    """In a sandbox of OpenHands Cloud; `remote`: its address, if another than usual."""
    directory: str = ""
    """The working directory over there."""
    confirm: str = ""
    """How new sessions, and the one that is continued, ask: an id of `policy.approvals`."""


def parse(args: list[str]) -> Arguments | str:
    """Return the parsed arguments, or what is wrong with them."""
    flags = ("last", OVERRIDE, "cloud", "container", *argv.APPROVING)
    either = [("resume", "last"), *argv.EITHER_APPROVING]
    values = ("resume", "remote", "directory", "image")
    try:
        options = argv.read(args, values=values, flags=flags, either=either)
    except argv.Misused as error:
        return f"{error}\n{USAGE}"
    cloud, remote = "cloud" in options, options.get("remote", "")
    directory = options.get("directory", "")
    if fault := _fault_of_place(options):
        return f"{fault}\n{USAGE}"
    own = options.get("resume", ""), "last" in options, OVERRIDE in options
    return Arguments(*own, remote.rstrip("/"), cloud, directory, argv.confirm(options))


def _fault_of_place(options: dict[str, str]) -> str:
    if "container" in options or "image" in options:
        return BOXED
    if "remote" not in options and "cloud" not in options:
        return "--directory is only for --remote and --cloud" if "directory" in options else ""
    elsewhere = agents.elsewhere
    return elsewhere.fault_of(options.get("remote", elsewhere.CLOUD), options.get("directory", ""))
