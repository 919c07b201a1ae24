"""Parsing a text into all simple commands that it may run: those written there, and those that its
wrappers, scripts, substitutions and pipes into a shell run in turn. It never raises; see `syntax`
for its limits."""

import re
from functools import lru_cache

from rookery.core.command_line import foreign_code, syntax
from rookery.core.command_line.grammar import Reader
from rookery.core.command_line.scanner import State, Unreadable
from rookery.core.command_line.syntax import SHELLS, Inner, Line, Outputs, Simple, Word
from rookery.core.command_line.wrappers import inner_of

_FED = re.compile(r"\{\d*[./#]*\}")


@lru_cache(maxsize=8)
def read(text: str) -> Line:
    """Return all commands that a text may run."""
    state = State()
    whole = len(text) < syntax.MAX_LINE_LENGTH
    try:
        Reader(text[: syntax.MAX_LINE_LENGTH], state).read()
        _Unwrapping(state).go()
    except Unreadable:
        whole = False
    outputs = Outputs(state.commands)
    for command in state.commands:
        if command.input is None and (command.here or command.fed_by):
            command.input = outputs.given_to(command)
    return Line(tuple(state.commands), whole)


class _Unwrapping:
    """Appends to the commands of a line those that they run in turn."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._outputs = Outputs(state.commands)
        self._written: dict[str, str] = {}
        """Files that the line itself writes, and what is in them."""

    def go(self) -> None:
        place = 0
        while place < len(self._state.commands):
            command = self._state.commands[place]
            first = len(self._state.commands)
            if command.level < syntax.DEEPEST and command.tokens:
                for inner in inner_of(command):
                    self._run(command, inner)
                self._run_alias(command)
                self._run_written(command)
            self._note_written(command, place)
            command.children += range(first, len(self._state.commands))
            place += 1

    def _run(self, command: Simple, inner: Inner) -> None:
        if inner.script is None:
            self._run_words(command, inner)
            return
        script = inner.script
        if not script and not inner.own_input:
            command.input = self._outputs.given_to(command)
            script = command.input or ""
        elif inner.tokens:  # the output of a command as a file
            script = self._outputs.of(inner.tokens[0].made_by) or ""
        elif command.tokens and not script.strip().replace("$", ""):
            script = ""
        if inner.language:
            command.code.append((inner.language, script))
            for line in foreign_code.shell_lines(script, inner.language):
                self._run_script(command, inner, line)
        elif script.strip():
            self._run_script(command, inner, script)

    def _run_script(self, command: Simple, inner: Inner, script: str) -> None:
        if command.program in ("parallel", "xargs"):
            script = _FED.sub("", script)
        first = len(self._state.commands)
        known = dict(self._state.variables)
        for place, word in enumerate(inner.arguments[:9]):
            if word.certain:
                self._state.variables[str(place)] = [word.text]
        reader = Reader(script, self._state, command.level + 1, command.place)
        if inner.own_input:
            reader.fed_by, reader.here = command.fed_by, command.here
        reader.read()
        self._state.variables = known
        for each in self._state.commands[first:]:
            each.via = command.via if command.via in syntax.FINDERS else command.program
            each.remote = each.remote or inner.remote or command.remote

    def _run_words(self, command: Simple, inner: Inner) -> None:
        tokens = list(inner.tokens)
        if command.program == "xargs":
            given = self._outputs.given_to(command) or ""
            tokens += [Word(text) for text in given.split()[:200]]
        made = Simple(tokens, level=command.level + 1, place=command.place)
        made.via, made.remote = command.program, inner.remote or command.remote
        if inner.own_input:
            made.fed_by, made.here = command.fed_by, command.here
        self._state.add(made)

    def _note_written(self, command: Simple, place: int) -> None:
        for redirect in command.redirects:
            if redirect.writes and (text := self._outputs.written_by(place)):
                self._written[redirect.target.text.removeprefix("./")] = text

    def _run_written(self, command: Simple) -> None:
        """Add the commands of a script that the line itself writes: `echo 'rm x' > a.sh; sh
        a.sh`."""
        shown = [command.tokens[0].text]
        if command.program in SHELLS or command.program in ("source", "."):
            shown += command.argv[1:4]
        for name in shown if self._written else ():
            if text := self._written.get(name.removeprefix("./")):
                self._run_script(command, Inner(), text)

    def _run_alias(self, command: Simple) -> None:
        name = command.tokens[0].text
        value = self._state.aliases.get(name)
        if value is None or command.via == "alias":
            return
        first = len(self._state.commands)
        self._run_script(command, Inner(), " ".join([value, *command.argv[1:]]))
        for each in self._state.commands[first:]:
            each.via = "alias" if each.program == name else each.via
