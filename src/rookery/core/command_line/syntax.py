"""The elements of a parsed command line (words, redirections, simple commands), and a command's
output where the line itself determines it: `echo 'rm x' | sh` runs `rm x`."""

import re
import shlex
from binascii import Error as NotBase64
from binascii import a2b_base64
from collections.abc import Sequence
from typing import NamedTuple

FINDERS = frozenset({"xargs", "gxargs", "find", "gfind", "fd", "fdfind", "parallel"})
"""Programs that give to others what they find."""
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "mksh", "rbash"})

MAX_LINE_LENGTH = 100_000
"""Characters of a line that are read."""

MOST_COMMANDS = 1000
"""How many commands one line may have, with all that its wrappers and scripts run."""

MOST_WORDS = 2000
"""How many words one command may have."""

DEEPEST = 24
"""Substitutions and subshells within each other, and scripts that run scripts."""

ASSIGNMENT = re.compile(r"([A-Za-z_]\w{0,200})(\[[^\]]{0,200}\])?\+?=")


def listed(text: str) -> frozenset[str]:
    """Return the words of a text as a set: tables of names are easier to read without quotes."""
    return frozenset(text.split())


def options_table(text: str) -> dict[str, tuple[str, ...]]:
    """Parse options by program: `tar gtar: -f -C`. An indented line continues the one before."""
    table: dict[str, tuple[str, ...]] = {}
    for line in text.replace("\n    ", " ").strip().split("\n"):
        programs, _, options = line.partition(":")
        table |= dict.fromkeys(programs.split(), tuple(options.split()))
    return table


def line_of(argv: list[str]) -> str:
    """Return an argv as one line; for `sh -c LINE`, the line itself."""
    if len(argv) == 3 and argv[0].rpartition("/")[2] in SHELLS:
        flag = argv[1]
        if flag.startswith("-") and not flag.startswith("--") and flag.endswith("c"):
            return argv[2]
    return " ".join(map(_quoted, argv))


_WRAPPED = re.compile(rf"(?:/\S*/)?(?:{'|'.join(sorted(SHELLS))})\s+-\w*c\s+'([^']+)'")


def unwrapped(line: str) -> str:
    """Return the script of `bash -lc '…'` if its quoting is unambiguous, else the line itself."""
    match = _WRAPPED.fullmatch(line)
    return match.group(1) if match else line


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
    """A here-document, whose text is known only after the end of its line; or a here-string."""

    __slots__ = ("strips", "text", "until", "word")

    def __init__(self, word: Word, until: str = "", strips: bool = False) -> None:
        self.word, self.until, self.strips = word, until, strips
        self.text: str | None = None


class Simple:
    """One simple command that a line may run."""

    __slots__ = (
        *("tokens", "assigned", "redirects", "here", "fed_by", "place", "remote"),
        *("level", "via", "children", "input", "code"),
    )

    def __init__(self, tokens: list[Word], *, level: int = 0, place: str | None = "") -> None:
        self.tokens = tokens
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
        """The program's name without its directory; "" if the command only assigns or redirects."""
        return self.tokens[0].text.rpartition("/")[2] if self.tokens else ""

    @property
    def argv(self) -> list[str]:
        return [word.text for word in self.tokens]


class Inner(NamedTuple):
    """A command that a wrapper runs: words, or a script."""

    tokens: Sequence[Word] = ()
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
    """All commands that a text may run."""

    commands: tuple[Simple, ...]
    whole: bool = True
    """False: some of it could not be read, being too long, too deep, or no shell's syntax."""


_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|0?[0-7]{1,3}|.)", re.DOTALL)
_SIGNS = dict(zip("abefnrtv\\", "\a\b\x1b\f\n\r\t\v\\", strict=True))
_FORMAT = re.compile(r"%[-+ #0-9.]*([a-zA-Z%])")
_PASSING = frozenset({"cat", "tee", "tac", "sort", "uniq", "head", "tail", "grep", "pv", "sponge"})
_DECODES = frozenset({"-d", "-D", "--decode", "-di"})
MAX_GROUP_OUTPUTS = 20
"""How many commands of a group have their output combined."""


class Outputs:
    """The input and output of each command of one line, each computed once."""

    def __init__(self, commands: Sequence[Simple]) -> None:
        self._commands = commands
        self._known: dict[int, str | None] = {}

    def given_to(self, command: Simple, depth: int = 0) -> str | None:
        """Return what a command reads from its input; None if that is unknown."""
        if command.here is not None:
            return command.here.text or ""
        return self.of(command.fed_by, depth + 1) if command.fed_by else None

    def of(self, places: Sequence[int], depth: int = 0) -> str | None:
        """Return what several commands write together, as far as it is known."""
        last = list(places[-MAX_GROUP_OUTPUTS:])
        piped_on = {each for place in last for each in self._commands[place].fed_by}
        known = [self.written_by(place, depth) for place in last if place not in piped_on]
        texts = [text for text in known if text is not None]
        return "\n".join(texts)[:MAX_LINE_LENGTH] if texts else None

    def written_by(self, place: int, depth: int = 0) -> str | None:
        if place not in self._known:
            self._known[place] = None  # while it is worked out, and where that goes too deep
            if depth < DEEPEST:
                self._known[place] = self._written_by(self._commands[place], depth)
        return self._known[place]

    def _written_by(self, command: Simple, depth: int) -> str | None:
        argv = command.argv
        match command.program:
            case "echo":
                return _echoed(argv[1:])
            case "printf":
                return _printed(argv[1:])
            case "base64" if _DECODES & set(argv):
                return _decoded(self.given_to(command, depth))
            case "rev":
                given = self.given_to(command, depth) or ""
                return "\n".join(line[::-1] for line in given.split("\n"))
            case program if program in _PASSING:
                return self.given_to(command, depth)
        return None


def _echoed(args: list[str]) -> str:
    while args and re.fullmatch(r"-[neE]+", args[0]):
        args = args[1:]
    return unescaped(" ".join(args)) + "\n"


def _printed(args: list[str]) -> str:
    if args[:1] == ["--"]:
        args = args[1:]
    if not args:
        return ""
    form, values = unescaped(args[0]), args[1:]
    count = len([each for each in _FORMAT.findall(form) if each != "%"])
    rounds = -(-len(values) // count) if count else 1
    given = iter(values)

    def value(match: re.Match[str]) -> str:
        return "%" if match.group(1) == "%" else next(given, "")

    return "".join(_FORMAT.sub(value, form) for _ in range(min(max(rounds, 1), 200)))[
        :MAX_LINE_LENGTH
    ]


def unescaped(text: str) -> str:
    return _ESCAPE.sub(_sign, text) if "\\" in text else text


def _sign(match: re.Match[str]) -> str:
    code = match.group(1)
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8))
    return _SIGNS.get(code, "\\" + code)


def _decoded(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return a2b_base64(text.encode("ascii", "ignore")).decode("utf-8", "replace")
    except NotBase64:
        return None
