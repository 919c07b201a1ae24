"""How an agent's processes are kept from answering asks for the user, and how to recognize what the
confinement breaks for them, such as sudo."""

from collections.abc import Iterator

from rookery.core.json import Draft, events

WEAK = "lineage"
WORDS = {"landlock": "confined", WEAK: "not confined"}
"""How to describe a process's `guard`: enforced by the kernel too, or by its descent alone."""

SIGNS = (
    '"no new privileges" flag is set',
    "sudo: effective uid is not 0",
    "pkexec must be setuid root",
    "snap-confine is packaged without necessary permissions",
    "newuidmap: write to uid_map failed",
)
"""The messages of sudo, snaps and rootless containers where no program may gain privileges."""

MAX_SIGN_LENGTH = max(map(len, SIGNS))
MAX_TEXTS = 1000
"""How many texts of one update are looked at."""


def lost(text: str) -> bool:
    """Return whether a program's output says that it could not gain privileges."""
    return any(sign in text for sign in SIGNS)


def texts(value: object) -> Iterator[str]:
    """Yield the texts in an update, up to a limit."""
    waiting, left = [value], MAX_TEXTS
    while waiting and left:
        left -= 1
        match waiting.pop():
            case str(text):
                yield text
            case dict(nested):
                waiting.extend(nested.values())
            case list(nested):
                waiting.extend(nested[-MAX_TEXTS:])


def notice(agent: str) -> Draft:
    text = (
        f"{agent} is confined, so the kernel does not let its commands gain privileges. "
        "To turn that off from its next start, set `confined = false` under `[agents."
        f"{agent}]` in config.toml; docs/security.md explains what it protects."
    )
    return Draft(events.notice(text, title="sudo does not work in this agent's commands"))
