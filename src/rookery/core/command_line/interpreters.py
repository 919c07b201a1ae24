"""Interpreters and editors whose own language can run commands of a shell: `python -c`, `awk`,
`sed`, `vim -c`."""

import re
from collections.abc import Iterator, Sequence

from rookery.core.command_line import foreign_code
from rookery.core.command_line.arguments import Arguments, first_operand
from rookery.core.command_line.words import FROM_INPUT, Inner, Word


def _code(program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    """`python -c`, `perl -e`, code on the input, a module, or a script by its name."""
    language = foreign_code.language_of(program)
    options = foreign_code.OPTIONS[language]
    place = first_operand(rest, [*options, *foreign_code.VALUES])
    before = Arguments(rest[:place], [*options, *foreign_code.VALUES])
    codes = before.values(*options)
    for each in codes:
        yield Inner(script=each.text, language=language)
    if language == "python" and (modules := before.values("-m")):
        yield Inner([modules[0], *rest[place:]])
    elif codes:
        return
    elif place < len(rest) and rest[place].is_file:
        yield Inner(words=[rest[place]], script="", language=language)
    elif place >= len(rest) or rest[place].text in ("-", "/dev/stdin"):
        yield FROM_INPUT._replace(language=language)
    else:
        yield Inner(rest[place:])


def _awk(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    place = first_operand(rest, ("-F", "-v", "-f"))
    if place < len(rest):
        yield Inner(script=rest[place].text, language="awk")


def _java(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    texts = [word.text for word in rest]
    if "-jar" in texts[:-1]:
        place = texts.index("-jar") + 1
        name = texts[place].rpartition("/")[2].removesuffix(".jar")
        yield Inner([Word(name), *rest[place + 1 :]])


_SED_RUNS = re.compile(r"(?:^|[;{\n]|[\d$/])[ \t]*e[ \t]+([^\n]{1,5000})")


def _sed(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    """GNU's `e` gives the rest of its line to a shell."""
    options = ("-e", "--expression")
    found = Arguments(rest, (*options, "-f", "--file", "-l"))
    scripts = found.values(*options) or found.operands[:1]
    for script in scripts:
        yield from (Inner(script=line) for line in _SED_RUNS.findall(script.text))


def _vim(_program: str, rest: Sequence[Word]) -> Iterator[Inner]:
    options = ("-c", "--cmd")
    found = Arguments(rest, options)
    texts = [word.text for word in found.values(*options)]
    texts += [word.text[1:] for word in rest if word.text.startswith("+")]
    for text in texts:
        if "!" in text:
            yield Inner(script=text.partition("!")[2])


NAMES = {
    "java": _java,
    "sed gsed": _sed,
    "vim vi nvim ex": _vim,
    "awk gawk mawk nawk": _awk,
    "python python2 python3 perl ruby node nodejs deno php": _code,
}
