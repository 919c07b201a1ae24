"""Who sent a command: the `by` of an event.

terminal:412                  a client on this machine, by its process
web:3fa94c01 Phone            a device, through the daemon: its id and its name
web:3fa94c01 Phone | Anna     and the person who uses it
web:- | Anna                  a person whom a proxy names, without a device"""

from typing import NamedTuple

NAME_MOST = 60
"""Characters of a device's name, and of a person's."""
PERSON = " | "
UNNAMED = "unnamed"
"""In a log: a device that never said what it is."""
ANOTHER = "another device"


class By(NamedTuple):
    face: str
    """terminal, web, cli, acp; or what is no client: rule, watchdog."""
    device: str = ""
    name: str = ""
    person: str = ""

    @property
    def where(self) -> str:
        """The device's name as shown to users."""
        return ANOTHER if self.name == UNNAMED else self.name


def sender(device: str, name: str, person: str) -> str:
    """Return the part of `by` after the face; "" if neither device nor person is known."""
    if not device and not person:
        return ""
    return (f"{device} {clean_name(name) or UNNAMED}" if device else "-") + (
        PERSON + clean_name(person) if person else ""
    )


def by_of(text: str | None) -> By:
    face, _, rest = (text or "").partition(":")
    about, _, person = rest.partition(PERSON)
    device, _, name = about.partition(" ")
    known = bool(name)  # else it is a process
    return By(face, device if known else "", name if known else "", person)


def clean_name(text: str) -> str:
    """Return a name on one line, without the sign that separates the person."""
    shown = "".join(each if each.isprintable() else " " for each in text[: 10 * NAME_MOST])
    return " ".join(shown.replace("|", "/").split())[:NAME_MOST].rstrip()
