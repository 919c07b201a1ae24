"""How an agent's processes are kept from answering for the user, and what they lose by it."""

from collections.abc import Iterator

from rookery.core.json import Draft, events

WEAK = "lineage"
WORDS = {"landlock": "confined", WEAK: "not confined"}
"""Of a process's `guard`: by the kernel too, or by its descent alone."""

SIGNS = (
    '"no new privileges" flag is set',
    "sudo: effective uid is not 0",
    "pkexec must be setuid root",
    "snap-confine is packaged without necessary permissions",
    "newuidmap: write to uid_map failed",
)
"""What sudo, snaps and rootless containers say where no program may gain privileges."""

LONGEST = max(map(len, SIGNS))
MOST = 1000
"""Texts of one update that are looked at."""


def lost(text: str) -> bool:
    """Whether a program says that it could not gain privileges."""
    return any(sign in text for sign in SIGNS)


def texts(value: object) -> Iterator[str]:
    """The texts in an update, as far as it pays to look."""
    waiting, left = [value], MOST
    while waiting and left:
        left -= 1
        match waiting.pop():
            case str(text):
                yield text
            case dict(found):
                waiting.extend(found.values())
            case list(found):
                waiting.extend(found[-MOST:])


def notice(agent: str) -> Draft:
    text = (
        f"{agent} is confined, so the kernel does not let its commands gain privileges. "
        "To turn that off from its next start, set `confined = false` under `[agents."
        f"{agent}]` in config.toml; docs/security.md explains what it protects."
    )
    return Draft(events.notice(text, title="sudo does not work in this agent's commands"))
