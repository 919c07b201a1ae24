"""The agent's arguments, read by hand: a client waits for this start."""

from typing import NamedTuple

from rookery.core import argv

USAGE = "Usage: rookery agent [--resume ID | --last] [--override-with-envs] [--setup]"
OVERRIDE = "override-with-envs"

SETUP = "rookery-setup"
"""ACP's authentication method: setting up a model."""


class Arguments(NamedTuple):
    resume: str = ""
    last: bool = False
    override: bool = False
    """LLM_MODEL, LLM_API_KEY and LLM_BASE_URL override what is saved."""


def parse(words: list[str]) -> Arguments | str:
    """The arguments, or what is wrong."""
    flags = ("last", OVERRIDE)
    try:
        found = argv.read(words, values=("resume",), flags=flags, either=[("resume", "last")])
    except argv.Misused as error:
        return f"{error}\n{USAGE}"
    return Arguments(found.get("resume", ""), "last" in found, OVERRIDE in found)
