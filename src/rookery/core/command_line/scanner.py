"""Scanner for the words of a shell: quotes, escapes, variables, substitutions, here-documents.

Every character is read a bounded number of times: text that nests too deeply, or is read too often,
ends the scan (`Unreadable`), and what was read so far counts."""

import re
from abc import ABC, abstractmethod
from itertools import islice

from rookery.core.command_line import syntax
from rookery.core.command_line.syntax import DEEPEST, MAX_LINE_LENGTH, Here, Outputs, Simple, Word

_PLAIN = re.compile(r"[^\s'\"\\$`;&|<>()]+")
_PLAIN_QUOTED = re.compile(r'[^"\\$`]+')
_PLAIN_BODY = re.compile(r"[^\\$`]+")
_PLAIN_BRACED = re.compile(r"[^}'\"\\$`]+")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_BACKTICKS = re.compile(r"((?:[^`\\]|\\.)*)`", re.DOTALL)
_PARAMETER = re.compile(r"[!#]?([A-Za-z_]\w*|[0-9]+|[@*#?$!-])(\[[^\]]{0,200}\])?")
_OPERATOR = re.compile(r":?[-=+?]?")
_PARENS = re.compile(r"[()]")
_HEX = "[0-9a-fA-F]"
_ANSI = re.compile(rf"\\(x{_HEX}{{1,2}}|u{_HEX}{{1,4}}|U{_HEX}{{1,8}}|[0-7]{{1,3}}|c.|.)", re.S)
_ESCAPES = dict(zip("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v", strict=True))
_GLOBS = frozenset("*?[")


MOST_PARENTHESES = 2000
"""Within an arithmetic expression."""


class Unreadable(Exception):
    """A limit was reached; the rest of the text is not read."""


class State:
    """The state that all scanners of one line share."""

    def __init__(self) -> None:
        self.commands: list[Simple] = []
        self.variables: dict[str, list[str]] = {}
        """Those that were given literally in the line itself."""
        self.aliases: dict[str, str] = {}
        self.left = 4 * MAX_LINE_LENGTH
        """Characters that are still read, scripts within scripts included."""
        self.depth = 0

    def descend(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable

    def spend(self, characters: int) -> None:
        self.left -= characters
        if self.left < 0:
            raise Unreadable

    def add(self, command: Simple) -> int:
        if len(self.commands) >= syntax.MOST_COMMANDS:
            raise Unreadable
        self.commands.append(command)
        return len(self.commands) - 1


class _Parts:
    """A word under construction."""

    __slots__ = ("certain", "file", "made_by", "quoted", "split", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.certain, self.quoted, self.file = True, False, False
        self.made_by: list[int] = []
        self.split: list[str] = []
        """Words before this one, where a variable without quotes holds several."""

    def word(self) -> Word:
        text = "".join(self.texts)
        return Word(text, self.certain, self.quoted, tuple(self.made_by), self.file)


class Scanner(ABC):
    def __init__(self, text: str, state: State, level: int = 0, place: str | None = "") -> None:
        self.text, self.at = text, 0
        self.state, self.level, self.place = state, level, place
        self.heres: list[Here] = []
        state.spend(len(text))

    @abstractmethod
    def read_list(self, closer: str) -> None:
        """Read commands up to `closer`, or to the end."""

    def looks_at(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    # --- a word ----------------------------------------------------------------------------------

    def read_word(self) -> list[Word]:
        """Read the word that begins here; several, if a variable of the line holds several."""
        parts, text = _Parts(), self.text
        while self.at < len(text):
            if match := _PLAIN.match(text, self.at):
                plain = match.group()
                parts.texts.append(plain)
                parts.certain = parts.certain and not _GLOBS.intersection(plain)
                self.at = match.end()
            elif not self._read_part(parts):
                break
        return [*(Word(each) for each in parts.split), parts.word()]

    def _read_part(self, parts: _Parts) -> bool:
        """Read one quotation, escape or substitution; return False if the word ends here."""
        sign = self.text[self.at]
        if sign == "'":
            end = self.text.find("'", self.at + 1)
            end = end if end >= 0 else len(self.text)
            parts.texts.append(self.text[self.at + 1 : end])
            parts.quoted, self.at = True, end + 1
        elif sign == '"':
            self.at += 1
            self._read_quoted(parts, _PLAIN_QUOTED, '"')
            parts.quoted = True
        elif sign == "\\":
            self._read_escape(parts)
        elif sign == "$":
            self._read_dollar(parts, quoted=False)
        elif sign == "`":
            self._read_backticks(parts)
        elif sign in "<>" and self.looks_at(sign + "("):
            self.at += 2
            self._substituted(parts)
            parts.texts[:] = ["/dev/fd/63"]
            parts.file = True
        elif sign == "(" and parts.texts and parts.texts[-1][-1:] in ("?", "*", "+", "@", "!"):
            self._read_extended_glob(parts)
        else:
            return False
        return True

    def _read_escape(self, parts: _Parts) -> None:
        if self.looks_at("\\\n"):
            self.at += 2
            return
        parts.texts.append(self.text[self.at + 1 : self.at + 2])
        parts.quoted = True
        self.at += 2

    def _read_extended_glob(self, parts: _Parts) -> None:
        """Read `!(keep)`: which files it matches depends on where it runs."""
        end = self.text.find(")", self.at)
        end = end if end >= 0 else len(self.text)
        parts.texts.append(self.text[self.at : end + 1])
        parts.certain, self.at = False, end + 1

    def _read_quoted(self, parts: _Parts, plain: re.Pattern[str], closer: str) -> None:
        """Read up to the closing double quote, or to the text's end."""
        while self.at < len(self.text):
            sign = self.text[self.at]
            if match := plain.match(self.text, self.at):
                parts.texts.append(match.group())
                self.at = match.end()
            elif sign == closer:
                self.at += 1
                return
            elif sign == "$":
                self._read_dollar(parts, quoted=True)
            elif sign == "`":
                self._read_backticks(parts)
            else:
                after = self.text[self.at + 1 : self.at + 2]
                if after != "\n":
                    escapable = after and after in closer + "\\$`"
                    parts.texts.append(after if escapable else sign + after)
                self.at += 2

    def read_body(self) -> Word:
        """Read the whole text as if between double quotes: a here-document."""
        parts = _Parts()
        self._read_quoted(parts, _PLAIN_BODY, "")
        return parts.word()

    # --- what a dollar begins --------------------------------------------------------------------

    def _read_dollar(self, parts: _Parts, *, quoted: bool) -> None:
        text, at = self.text, self.at
        after = text[at + 1 : at + 2]
        if after == "'" and not quoted:
            self._read_ansi(parts)
        elif after == '"' and not quoted:
            self.at += 1
        elif after == "(":
            if text.startswith("((", at + 1) and (end := self._arithmetic_end(at + 2)):
                self.at += 3
                self.read_arithmetic(end, parts)
                parts.texts.append("0")
            else:
                self.at += 2
                self._substituted(parts)
        elif after == "{":
            self.at += 2
            self._read_braced(parts, quoted)
        elif match := _NAME.match(text, at + 1):
            self.at = match.end()
            self._put_variable(parts, match.group(), f"${match.group()}", quoted)
        else:
            parts.texts.append("$")
            self.at += 1

    def _read_ansi(self, parts: _Parts) -> None:
        """Read `$'…'`, with its escapes."""
        end, text = self.at + 2, self.text
        while end < len(text) and text[end] != "'":
            end += 2 if text[end] == "\\" else 1
        parts.texts.append(_ANSI.sub(_unescaped, text[self.at + 2 : end]))
        parts.quoted, self.at = True, end + 1

    def _substituted(self, parts: _Parts) -> None:
        """Read `$(…)` after its opening."""
        first = len(self.state.commands)
        self._inside(self, ")")
        self._put_output(parts, first)

    def _put_output(self, parts: _Parts, first: int) -> None:
        made_by = range(first, len(self.state.commands))
        written = Outputs(self.state.commands).of(made_by)
        if written is not None:
            self.state.spend(len(written))
            parts.texts.append(written.rstrip("\n"))
        parts.made_by += made_by
        parts.certain = False

    def _inside(self, reader: "Scanner", closer: str) -> None:
        place = self.place
        self.state.descend()
        reader.read_list(closer)
        self.state.depth -= 1
        self.place = place

    def _read_backticks(self, parts: _Parts) -> None:
        match = _BACKTICKS.match(self.text, self.at + 1)
        inner = match.group(1) if match else self.text[self.at + 1 :]
        self.at = match.end() if match else len(self.text)
        first = len(self.state.commands)
        plain = re.sub(r"\\([$`\\])", r"\1", inner)
        self._inside(self.again(plain), "")
        self._put_output(parts, first)

    def again(self, text: str) -> "Scanner":
        """Return a scanner of the same line for text that is in it or results from it."""
        return type(self)(text, self.state, self.level, self.place)

    def _arithmetic_end(self, start: int) -> int:
        """Return where the `((…))` ends whose second parenthesis is at `start`; 0 if it is none."""
        depth = 0
        for paren in islice(_PARENS.finditer(self.text, start), MOST_PARENTHESES):
            depth += 1 if paren.group() == "(" else -1
            if not depth:
                return paren.start() if self.text.startswith("))", paren.start()) else 0
        return 0

    def read_arithmetic(self, end: int, parts: _Parts | None = None) -> None:
        """Read an arithmetic expression: only the substitutions in it run something."""
        parts = parts or _Parts()
        self.state.descend()
        while self.at < end:
            sign = self.text[self.at]
            if sign == "$":
                self._read_dollar(parts, quoted=True)
            elif sign == "`":
                self._read_backticks(parts)
            else:
                self.at += 1
        self.state.depth -= 1
        parts.certain = False
        self.at = max(self.at, end + 2)

    def _read_braced(self, parts: _Parts, quoted: bool) -> None:
        """Read `${…}` after its opening."""
        self.state.descend()
        start = self.at
        parameter = _PARAMETER.match(self.text, self.at)
        name = parameter.group(1) if parameter else ""
        listed = bool(parameter and parameter.group(2))
        self.at = parameter.end() if parameter else self.at
        operator = _OPERATOR.match(self.text, self.at)
        self.at = operator.end() if operator else self.at
        inner = _Parts()
        while self.at < len(self.text) and self.text[self.at] != "}":
            if plain := _PLAIN_BRACED.match(self.text, self.at):
                inner.texts.append(plain.group())
                self.at = plain.end()
            elif (self.text[self.at] in "\"'" and quoted) or not self._read_part(inner):
                self.at += 1
        self.at += 1
        self.state.depth -= 1
        parts.made_by += inner.made_by
        chosen = operator.group()[-1:] if operator else ""
        if chosen in ("-", "=", "+") and (chosen == "+" or name not in self.state.variables):
            parts.texts.append("".join(inner.texts))
            parts.certain = False
        else:
            shown = "${" + self.text[start : self.at]
            plainly = f"${name}" if shown == "${" + name + "}" else shown
            name = name if not inner.texts else ""
            self._put_variable(parts, name, plainly, quoted and not listed)

    def _put_variable(self, parts: _Parts, name: str, shown: str, quoted: bool) -> None:
        known = self.state.variables.get(name)
        if name == "IFS" and not quoted and known is None:  # it parts words as a blank does
            parts.split.append("".join(parts.texts))
            parts.texts = []
            return
        if known is None:
            parts.texts.append(shown)
            parts.certain = False
            return
        self.state.spend(sum(map(len, known)))
        fields = [" ".join(known)] if quoted else [w for each in known for w in each.split()]
        if len(fields) > 1:
            head = "".join(parts.texts) + fields[0]
            parts.split += [head, *fields[1:-1]]
            parts.texts = [fields[-1]]
        else:
            parts.texts += fields

    # --- here-documents --------------------------------------------------------------------------

    def read_heres(self) -> None:
        """Read the here-documents of the line that has just ended, and give each to its command."""
        for here in self.heres:
            lines: list[str] = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = end if end >= 0 else len(self.text)
                line = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                line = line.lstrip("\t") if here.strips else line
                if line.rstrip("\r") == here.until:
                    break
                lines.append(line)
            body = "\n".join(lines)
            if not here.word.quoted and ("$" in body or "`" in body):
                here.word = self.again(body).read_body()
                body = here.word.text
            here.text = body
        self.heres = []


def _unescaped(match: re.Match[str]) -> str:
    code = match.group(1)
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 else ""
    if code[0] in "01234567":
        return chr(int(code, 8))
    if code[0] == "c" and len(code) > 1:
        return chr(ord(code[1]) & 0x1F)
    return _ESCAPES.get(code, code)
