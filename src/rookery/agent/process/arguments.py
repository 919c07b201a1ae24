"""The agent's arguments, read by hand: a client waits for this start."""

from typing import NamedTuple

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


def parse(words: list[str]) -> Arguments | str:
    """The arguments, or what is wrong."""
    flags = ("last", OVERRIDE, "cloud", "container", *argv.APPROVING)
    either = [("resume", "last"), *argv.EITHER_APPROVING]
    values = ("resume", "remote", "directory", "image")
    try:
        found = argv.read(words, values=values, flags=flags, either=either)
    except argv.Misused as error:
        return f"{error}\n{USAGE}"
    cloud, remote = "cloud" in found, found.get("remote", "")
    directory = found.get("directory", "")
    if fault := _fault_of_place(found):
        return f"{fault}\n{USAGE}"
    own = found.get("resume", ""), "last" in found, OVERRIDE in found
    return Arguments(*own, remote.rstrip("/"), cloud, directory, argv.confirm(found))


def _fault_of_place(found: dict[str, str]) -> str:
    if "container" in found or "image" in found:
        return BOXED
    if "remote" not in found and "cloud" not in found:
        return "--directory is only for --remote and --cloud" if "directory" in found else ""
    from rookery.agents.elsewhere import CLOUD, fault_of

    return fault_of(found.get("remote", CLOUD), found.get("directory", ""))
