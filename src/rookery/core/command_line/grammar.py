"""Parser for shell commands: lists, pipelines, groups, loops, functions, redirections. It is
lenient: what no shell would accept is skipped, so that the commands after it are still found."""

import re
from itertools import pairwise

from rookery.core.command_line.scanner import Scanner
from rookery.core.command_line.syntax import ASSIGNMENT, MOST_WORDS, Here, Redirect, Simple, Word

_BLANKS = re.compile(r"(?:[ \t\r\f\v]|\\\n)+")
_REDIRECT = re.compile(r"(?:\d{1,4}|\{\w{1,40}\})?(&>>?|<<<|<<-?|<>|<&|>&|>>|>\||<|>)")
_COMMENT = re.compile(r"[^\n]*")
_OPENERS = frozenset({"{", "if", "while", "until"})
_CLOSERS = frozenset({"}", "fi", "done", "esac"})
_PASSED = frozenset({"then", "do", "else", "elif", "!"})
_RESERVED = _OPENERS | _CLOSERS | _PASSED
_NAMED = frozenset({"for", "select", "case", "function", "coproc", "[["})
_PARAMETERS = re.compile(r"[ \t]*\([ \t]*\)")
_FUNCTION = re.compile(r"[ \t]*[\w:.-]{1,200}[ \t]*(\([ \t]*\))?(?=\s*[{(])")
_NO_FILE = re.compile(r"\d+-?|-")

type Places = tuple[int, ...]
"""Indices into the state's commands."""


class _Group:
    """An open `{`, `if`, `while`, `case`, …"""

    __slots__ = ("fed_by", "first", "pattern", "word")

    def __init__(self, word: str, first: int, fed_by: Places) -> None:
        self.word, self.first, self.fed_by = word, first, fed_by
        self.pattern = word == "case"
        """Of a case: what comes next is a pattern."""


class Reader(Scanner):
    """Parser that reads one text into the commands of its state."""

    fed_by: Places = ()
    """What the commands of this text are given on their input."""
    here: Here | None = None

    def read(self) -> None:
        self.read_list("")
        self.read_heres()

    def read_list(self, closer: str) -> None:
        groups = [_Group("", len(self.state.commands), self.fed_by)]
        piped: Places = ()
        last: Places = ()
        while self._skip():
            sign = self.text[self.at]
            if groups[-1].pattern:
                self._read_pattern(groups)
            elif sign in "\n;&":
                if self.looks_at(";;") or self.looks_at(";&"):
                    groups[-1].pattern = groups[-1].word == "case"
                if sign == "&" and self.looks_at("&>"):  # a redirection before its command
                    last = self._read_command(groups, piped)
                    piped = ()
                    continue
                self._pass_separator()
                piped = last = ()
            elif sign == "|":
                self.at += 1 + (self.text[self.at + 1 : self.at + 2] in ("|", "&"))
                piped = () if self.text.startswith("||", self.at - 2) else last
                last = ()
            elif sign == ")":
                self.at += 1
                if closer == ")":
                    return
            elif sign == "(":
                last = self._read_parenthesis(piped or groups[-1].fed_by)
                piped = ()
            else:
                last = self._read_command(groups, piped)
                piped = ()

    def _skip(self) -> bool:
        """Skip blanks and comments; return False if nothing is left."""
        self._pass(_BLANKS)
        if self.looks_at("#"):
            self._pass(_COMMENT)
        return self.at < len(self.text)

    def _pass(self, pattern: re.Pattern[str]) -> bool:
        """Consume the pattern if it matches here; return whether it did."""
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match is not None

    def _pass_separator(self) -> None:
        newline = self.text[self.at] == "\n"
        self.at += 1
        if newline and self.heres:
            self.read_heres()

    # --- groups ----------------------------------------------------------------------------------

    def _read_parenthesis(self, fed_by: Places) -> Places:
        if self.looks_at("((") and (end := self._arithmetic_end(self.at + 1)):
            self.at += 2
            self.read_arithmetic(end)
            return ()
        self.at += 1
        first, outer = len(self.state.commands), self.fed_by
        self.fed_by = fed_by
        self._inside(self, ")")
        self.fed_by = outer
        return self._closed(first)

    def _closed(self, first: int) -> Places:
        """Finish a group: redirections after it apply to all its commands."""
        inner = range(first, len(self.state.commands))
        command = Simple([], level=self.level, place=self.place)
        while self._skip() and self._read_redirect(command):
            pass
        if command.redirects or command.here:
            for place in inner:
                each = self.state.commands[place]
                if each.here is None and not each.fed_by:
                    each.here = command.here
            if command.redirects:
                command.children += inner
                self.state.add(command)
        return tuple(inner)

    def _read_pattern(self, groups: list[_Group]) -> None:
        """Read the `a|b)` of a case, or its end."""
        while self._skip() and self.text[self.at] in "\n;&|":
            self._pass_separator()
        if self.looks_at("("):
            self.at += 1
        while self._skip():
            sign = self.text[self.at]
            if sign == ")":
                self.at += 1
                break
            if sign in "|\n;&<>(":
                self.at += 1
                continue
            [*_, word] = self.read_word()
            if word.text == "esac" and not word.quoted:
                groups.pop()
                return
        groups[-1].pattern = False

    # --- one command -----------------------------------------------------------------------------

    def _read_command(self, groups: list[_Group], piped: Places) -> Places:
        """Read a simple command, or the word that opens or closes a group; return the commands that
        can be piped on."""
        fed_by = piped or groups[-1].fed_by
        command = Simple([], level=self.level, place=self.place)
        first = len(self.state.commands)
        while (self._skip() and self.text[self.at] not in "\n;|()&") or self.looks_at("&>"):
            if self._read_redirect(command):
                continue
            before, tokens = self.at, self.read_word()
            if self.at == before:  # a sign that begins no word
                self.at += 1
                continue
            for word in tokens:
                self._put(command, word)
            if len(command.tokens) == 1 and not command.assigned:
                word = command.tokens[0]
                reserved = word.text in _RESERVED and not command.redirects
                if not word.quoted and (reserved or word.text in _NAMED):
                    return self._read_reserved(word.text, groups, fed_by)
                if self._is_function():
                    return ()
        return self._finish(command, fed_by, first)

    def _put(self, command: Simple, word: Word) -> None:
        if not command.tokens and (match := ASSIGNMENT.match(word.text)):
            if self.looks_at("(") and match.end() == len(word.text):
                self._read_array(match.group(1))
            command.assigned.append(word)
            return
        if len(command.tokens) >= MOST_WORDS:
            return
        if word.quoted or "{" not in word.text:
            command.tokens.append(word)
        else:
            command.tokens += [word._replace(text=each) for each in expanded(word.text)]

    def _read_array(self, name: str) -> None:
        self.at += 1
        values: list[str] = []
        while self._skip() and self.text[self.at] != ")":
            before = self.at
            values += [word.text for word in self.read_word()]
            self.at += self.at == before
        self.at += 1
        self.state.variables[name] = values[:MOST_WORDS]

    def _is_function(self) -> bool:
        """Whether this is `name()`, so that a function's body follows."""
        return self._pass(_PARAMETERS)

    def _finish(self, command: Simple, fed_by: Places, first: int) -> Places:
        if not command.tokens:
            self._assign(command.assigned)
        if not (command.tokens or command.redirects or command.assigned):
            return ()
        command.fed_by = command.fed_by or fed_by
        if command.here is None and self.here is not None and not fed_by:
            command.here = self.here
        self._move(command)
        if command.program == "alias":
            for text in command.argv[1:]:
                name, _, value = text.partition("=")
                self.state.aliases[name] = value
        elif command.program in ("export", "local", "declare", "readonly", "typeset"):
            self._assign([word for word in command.tokens[1:] if ASSIGNMENT.match(word.text)])
        self.state.add(command)
        return tuple(range(first, len(self.state.commands)))

    def _assign(self, assignments: list[Word]) -> None:
        for word in assignments:
            name, _, value = word.text.partition("=")
            if self.text[self.at - 1 : self.at] == ")" and not value:
                continue  # an array, known already
            if word.certain or not set(value) & set("$`"):
                self.state.variables[name] = [value]
            else:
                self.state.variables.pop(name, None)

    def _move(self, command: Simple) -> None:
        """Follow a `cd`: it changes where the commands after it run."""
        if command.program not in ("cd", "pushd", "popd", "chdir"):
            return
        operands = [w for w in command.tokens[1:] if not w.text.startswith("-") or w.text == "-"]
        if command.program == "popd" or (operands and operands[0].text == "-"):
            self.place = None
        elif not operands:
            self.place = "~"
        elif operands[0].certain or operands[0].text.startswith(("$HOME/", "${HOME}/")):
            self.place = joined(self.place, operands[0].text)
        elif operands[0].text in ("$HOME", "${HOME}"):
            self.place = "~"
        else:
            self.place = None

    # --- reserved words --------------------------------------------------------------------------

    def _read_reserved(self, word: str, groups: list[_Group], fed_by: Places) -> Places:
        if word in _CLOSERS and len(groups) > 1:
            return self._closed(groups.pop().first)
        if word == "[[":
            self._read_condition()
        elif word in ("function", "coproc"):
            self._read_name()
        elif word in _OPENERS or word in _NAMED:
            groups.append(_Group(word, len(self.state.commands), fed_by))
            if word in _NAMED:
                self._read_head(word)
        return ()

    def _read_condition(self) -> None:
        """Skip the rest of a `[[ … ]]`, in which `<` and `>` compare."""
        while self._skip():
            if self.text[self.at] in "<>()&|;\n":
                self.at += 1
                continue
            if self.read_word()[-1] == ("]]", True, False, (), False):
                return

    def _read_name(self) -> None:
        """Skip the name of a function or a coprocess; a coprocess has one only before a group."""
        self._pass(_FUNCTION)

    def _read_head(self, word: str) -> None:
        """Read the head of `for NAME in …` or `case WORD in`, up to where commands can follow."""
        if self._skip() and self.looks_at("((") and (end := self._arithmetic_end(self.at + 1)):
            self.at += 2
            self.read_arithmetic(end)
            return
        tokens: list[Word] = []
        while self._skip() and self.text[self.at] not in "\n;":
            before = self.at
            tokens += self.read_word()
            self.at += self.at == before
            if word == "case" and tokens[-1].text == "in" and len(tokens) > 1:
                return
            if len(tokens) > MOST_WORDS:
                return
        if word != "case" and tokens:
            known = len(tokens) == 3 and tokens[1].text == "in" and tokens[2].certain
            self.state.variables.pop(tokens[0].text, None)
            if known:
                self.state.variables[tokens[0].text] = [tokens[2].text]

    # --- redirections ----------------------------------------------------------------------------

    def _read_redirect(self, command: Simple) -> bool:
        match = _REDIRECT.match(self.text, self.at)
        if match is None or self.text.startswith(("<(", ">("), self.at):
            return False
        operator = match.group(1)
        self.at = match.end()
        self._pass(_BLANKS)
        [*_, target] = self.read_word()
        if operator == "<<<":
            command.here = Here(target)
            command.here.text = target.text
        elif operator.startswith("<<"):
            command.here = Here(target, target.text, operator == "<<-")
            self.heres.append(command.here)
        elif target.text and not (operator.endswith("&") and _NO_FILE.fullmatch(target.text)):
            if len(command.redirects) < MOST_WORDS:
                command.redirects.append(Redirect(operator, target))
            if operator == "<" and target.is_file:
                command.fed_by = target.made_by
        return True


def joined(place: str | None, path: str) -> str | None:
    """Return a path resolved against a place; None if the place is unknown."""
    if path.startswith(("$HOME", "${HOME}")):
        path = "~" + path.removeprefix("${HOME}").removeprefix("$HOME")
    if path.startswith(("/", "~")):
        return path
    if place is None:
        return None
    return f"{place}/{path}" if place else path


MAX_EXPANSIONS = 64
"""How many words one word may expand to."""


def expanded(text: str) -> list[str]:
    """Return the words that an unquoted word expands to by its braces."""
    if "{" not in text or ("," not in text and ".." not in text):
        return [text]
    done: list[str] = []
    waiting = [text]
    while waiting and len(done) + len(waiting) < MAX_EXPANSIONS:
        word = waiting.pop()
        span = _alternatives(word)
        if span is None:
            done.append(word)
            continue
        start, end, choices = span
        waiting += [word[:start] + choice + word[end:] for choice in reversed(choices)]
    return done + waiting[::-1]


def _alternatives(text: str) -> tuple[int, int, list[str]] | None:
    """Return the first brace group that expands: its start, its end, and the alternatives."""
    start = text.find("{")
    tries = 0
    while start >= 0 and tries < MAX_EXPANSIONS:
        tries += 1
        if start and text[start - 1] == "$":
            start = text.find("{", start + 1)
            continue
        depth, cuts, place = 0, [start], start
        while place < len(text):
            sign = text[place]
            if sign == "{":
                depth += 1
            elif sign == "}":
                depth -= 1
                if not depth:
                    break
            elif sign == "," and depth == 1:
                cuts.append(place)
            place += 1
        else:
            return None  # no group is closed behind here
        cuts.append(place)
        if len(cuts) > 2:
            return start, place + 1, [text[a + 1 : b] for a, b in pairwise(cuts)][:MAX_EXPANSIONS]
        ends = text[start + 1 : place].split("..")
        if len(ends) in (2, 3):
            return start, place + 1, _range(ends)
        start = text.find("{", start + 1)
    return None


def _range(ends: list[str]) -> list[str]:
    first, last = ends[0], ends[1]
    if len(first) == len(last) == 1 and first.isalpha() and last.isalpha() and first <= last:
        return [chr(code) for code in range(ord(first), ord(last) + 1)][:MAX_EXPANSIONS]
    return [first, last]
