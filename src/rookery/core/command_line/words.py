"""What a command line is made of once it is read: words, redirections, simple commands."""

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "mksh", "rbash"})

LONGEST = 100_000
"""Characters of a line that are read."""

MOST_COMMANDS = 1000
"""Of one line, with all that its wrappers and scripts run."""

MOST_WORDS = 2000
"""Of one command."""

DEEPEST = 24
"""Substitutions and subshells within each other, and scripts that run scripts."""

ASSIGNMENT = re.compile(r"([A-Za-z_]\w{0,200})(\[[^\]]{0,200}\])?\+?=")


def listed(text: str) -> frozenset[str]:
    """The words of a text: tables of names are easier to read without quotes."""
    return frozenset(text.split())


def options_table(text: str) -> dict[str, tuple[str, ...]]:
    """Options by program: `tar gtar: -f -C`. An indented line continues the one before."""
    found: dict[str, tuple[str, ...]] = {}
    for line in text.replace("\n    ", " ").strip().split("\n"):
        programs, _, options = line.partition(":")
        found |= dict.fromkeys(programs.split(), tuple(options.split()))
    return found


def line_of(words: list[str]) -> str:
    """An argv as one line. Of `sh -c LINE` it is the line itself."""
    if len(words) == 3 and words[0].rpartition("/")[2] in SHELLS:
        flag = words[1]
        if flag.startswith("-") and not flag.startswith("--") and flag.endswith("c"):
            return words[2]
    return " ".join(map(_quoted, words))


_PLAIN = re.compile(r"[\w@%+=:,./*?-]{1,10000}")


def _quoted(word: str) -> str:
    return word if _PLAIN.fullmatch(word) else shlex.quote(word)


class Word(NamedTuple):
    text: str
    certain: bool = True
    """Nothing in it is known only once it runs: no variable, substitution or glob."""
    quoted: bool = False
    """Some of it is: it is no reserved word, and its braces stand for themselves."""
    made_by: tuple[int, ...] = ()
    """The commands whose output is part of it."""
    is_file: bool = False
    """`<(…)`: it names a file that holds the output."""


class Redirect(NamedTuple):
    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        return ">" in self.operator


class Here:
    """A here-document, whose text is known only behind the end of its line; or a here-string."""

    __slots__ = ("strips", "text", "until", "word")

    def __init__(self, word: Word, until: str = "", strips: bool = False) -> None:
        self.word, self.until, self.strips = word, until, strips
        self.text: str | None = None


class Simple:
    """One simple command that a line may run."""

    __slots__ = (
        *("words", "assigned", "redirects", "here", "fed_by", "place", "remote"),
        *("level", "via", "children", "input", "code"),
    )

    def __init__(self, words: list[Word], *, level: int = 0, place: str | None = "") -> None:
        self.words = words
        self.assigned: list[Word] = []
        """`A=b` before it."""
        self.redirects: list[Redirect] = []
        self.here: Here | None = None
        self.fed_by: tuple[int, ...] = ()
        """The commands at the other end of its pipe."""
        self.place = place
        """Where it runs, by the `cd`s before it: relative to where the line does; None: unknown."""
        self.remote = ""
        """`host`: on another machine, `container`: in one; its paths are not ours."""
        self.level = level
        """How many wrappers and scripts it stands in."""
        self.via = ""
        """The wrapper that runs it: `xargs`, `find`, …; "": none."""
        self.children: list[int] = []
        """What it runs, where it is a wrapper."""
        self.input: str | None = None
        """What it reads, where the line says so."""
        self.code: list[tuple[str, str]] = []
        """Of an interpreter: a language, and what is written in it."""

    @property
    def program(self) -> str:
        """Its name without its directory; "" where it only assigns or redirects."""
        return self.words[0].text.rpartition("/")[2] if self.words else ""

    @property
    def argv(self) -> list[str]:
        return [word.text for word in self.words]


class Inner(NamedTuple):
    """What a wrapper runs: words, or a script."""

    words: Sequence[Word] = ()
    script: str | None = None
    arguments: Sequence[Word] = ()
    """Of a script: $0, $1, …"""
    remote: str = ""
    own_input: bool = True
    """It reads what the wrapper is given."""
    language: str = ""
    """Of a script that is no shell's."""


FROM_INPUT = Inner(script="", own_input=False)
"""It runs what it reads."""


class Line(NamedTuple):
    """All that a text may run."""

    commands: tuple[Simple, ...]
    whole: bool = True
    """False: some of it could not be read, being too long, too deep, or no shell's syntax."""
