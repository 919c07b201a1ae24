"""What a command writes, where its words say so: `echo 'rm x' | sh` runs `rm x`."""

import re
from binascii import Error as NotBase64
from binascii import a2b_base64
from collections.abc import Sequence

from rookery.core.command_line.words import DEEPEST, LONGEST, Simple

_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|0?[0-7]{1,3}|.)", re.DOTALL)
_SIGNS = dict(zip("abefnrtv\\", "\a\b\x1b\f\n\r\t\v\\", strict=True))
_FORMAT = re.compile(r"%[-+ #0-9.]*([a-zA-Z%])")
_PASSING = frozenset({"cat", "tee", "tac", "sort", "uniq", "head", "tail", "grep", "pv", "sponge"})
_DECODES = frozenset({"-d", "-D", "--decode", "-di"})
MOST = 20
"""Commands of a group whose output is put together."""


class Outputs:
    """What each command of one line reads and writes. Each is worked out once."""

    def __init__(self, commands: Sequence[Simple]) -> None:
        self._commands = commands
        self._known: dict[int, str | None] = {}

    def given_to(self, command: Simple, depth: int = 0) -> str | None:
        """What a command reads from its input; None: nobody knows."""
        if command.here is not None:
            return command.here.text or ""
        return self.of(command.fed_by, depth + 1) if command.fed_by else None

    def of(self, places: Sequence[int], depth: int = 0) -> str | None:
        """What several commands write together, as far as it is known."""
        last = list(places[-MOST:])
        piped_on = {each for place in last for each in self._commands[place].fed_by}
        known = [self.written_by(place, depth) for place in last if place not in piped_on]
        texts = [text for text in known if text is not None]
        return "\n".join(texts)[:LONGEST] if texts else None

    def written_by(self, place: int, depth: int = 0) -> str | None:
        if place not in self._known:
            self._known[place] = None  # while it is worked out, and where that goes too deep
            if depth < DEEPEST:
                self._known[place] = self._written_by(self._commands[place], depth)
        return self._known[place]

    def _written_by(self, command: Simple, depth: int) -> str | None:
        words = command.argv
        match command.program:
            case "echo":
                return _echoed(words[1:])
            case "printf":
                return _printed(words[1:])
            case "base64" if _DECODES & set(words):
                return _decoded(self.given_to(command, depth))
            case "rev":
                given = self.given_to(command, depth) or ""
                return "\n".join(line[::-1] for line in given.split("\n"))
            case program if program in _PASSING:
                return self.given_to(command, depth)
        return None


def _echoed(words: list[str]) -> str:
    while words and re.fullmatch(r"-[neE]+", words[0]):
        words = words[1:]
    return unescaped(" ".join(words)) + "\n"


def _printed(words: list[str]) -> str:
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        return ""
    form, values = unescaped(words[0]), words[1:]
    count = len([each for each in _FORMAT.findall(form) if each != "%"])
    rounds = -(-len(values) // count) if count else 1
    given = iter(values)

    def value(found: re.Match[str]) -> str:
        return "%" if found.group(1) == "%" else next(given, "")

    return "".join(_FORMAT.sub(value, form) for _ in range(min(max(rounds, 1), 200)))[:LONGEST]


def unescaped(text: str) -> str:
    return _ESCAPE.sub(_sign, text) if "\\" in text else text


def _sign(found: re.Match[str]) -> str:
    code = found.group(1)
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
