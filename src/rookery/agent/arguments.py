"""What the agent is started with, read by hand: a client waits for this start."""

from typing import NamedTuple

USAGE = "usage: rookery agent [--resume ID | --last] [--override-with-envs] [--setup]"


SETUP = "rookery-setup"
"""The way to authenticate: to set up a model."""


class Arguments(NamedTuple):
    resume: str = ""
    last: bool = False
    override: bool = False
    """LLM_MODEL, LLM_API_KEY and LLM_BASE_URL win over what is saved."""


def parse(argv: list[str]) -> Arguments | str:
    """The arguments, or what is wrong with them."""
    resume, last, override = "", False, False
    rest = list(argv)
    while rest:
        word, is_set, value = rest.pop(0).partition("=")
        if word == "--last" and not is_set:
            last = True
        elif word == "--override-with-envs" and not is_set:
            override = True
        elif word == "--resume":
            if not is_set and not rest:
                return f"--resume needs the id of a session\n{USAGE}"
            resume = value if is_set else rest.pop(0)
        else:
            return f"{word} is not known\n{USAGE}"
    if resume and last:
        return f"--resume and --last exclude each other\n{USAGE}"
    return Arguments(resume, last, override)
