"""Code as tokens of Pygments' types, cached by text, so that a stream costs only its new end."""

from functools import lru_cache
from typing import Any, NamedTuple

from rookery.render.runs import clean

type Tokens = list[tuple[str, str]]
"""The pieces of a line, each with one of KINDS."""

STRETCH = 40
"""Lines that are tokenized together: a file that grows is tokenized again only at its end."""

KEPT = 600
"""Stretches whose tokens are kept."""

MAX_LINE_LENGTH = 1_000
"""Longer lines stay plain: some lexers are slow."""

KINDS = frozenset(
    {"", "Comment", "Keyword", "Operator.Word", "Literal.String", "Literal.Number"}
    | {"Name.Builtin", "Name.Function", "Name.Class", "Name.Decorator", "Name.Tag"}
    | {"Name.Attribute", "Generic.Inserted", "Generic.Deleted", "Generic.Heading"}
)
"""Pygments' token types that look different; the empty one is all the rest."""

_LANGUAGES = """
python=py,pyi javascript=js,mjs typescript=ts rust=rs c=c,h cpp=cc,cpp,hpp kotlin=kt ruby=rb
bash=sh,bash,zsh markdown=md yaml=yaml,yml csharp=cs make=makefile docker=dockerfile ini=ini,cfg
jsx=jsx tsx=tsx go=go java=java php=php json=json toml=toml html=html css=css sql=sql xml=xml
swift=swift lua=lua
"""
"""Each with the endings of its files."""
_ENDINGS = {
    end: name
    for name, _, ends in (each.partition("=") for each in _LANGUAGES.split())
    for end in ends.split(",")
}


def language_of(path: str) -> str:
    """Return the language of a file by its name, or "" if it is unknown."""
    name = path.rpartition("/")[2].lower()
    return _ENDINGS.get(name.rpartition(".")[2], "")


def tokens(text: str, language: str) -> list[Tokens]:
    """Return the tokens of each line of the text."""
    lines = clean(text).split("\n")
    rows: list[Tokens] = []
    for at in range(0, len(lines), STRETCH):
        rows += _stretch("\n".join(lines[at : at + STRETCH]), language[:40])
    return rows


class _Grown(NamedTuple):
    """A text that has been read and may grow: the lexer's state two lines before its end."""

    text: str
    at: int
    above: Tokens
    """Each with its kind as Pygments names it."""
    stack: list[str]
    """The lexer's states there."""


_whole: dict[tuple[str, str], list[Tokens]] = {}
_grown: dict[str, _Grown] = {}
"""The one that was read last, by language."""


def _stretch(text: str, language: str) -> list[Tokens]:
    """Return the tokens of each line. A text that grew since it was last seen is read from its last
    lines on. Since later text may change what is above, it is read completely once it no longer
    grows."""
    if (known := _whole.get((text, language))) is not None:
        return known
    lexer = _lexer(language) if text.strip() else None
    rows = text.split("\n")
    if lexer is None or any(len(row) > MAX_LINE_LENGTH for row in rows):
        return _keep(text, language, _plain(rows))
    before = _grown.get(language)
    if before is None or text == before.text or not text.startswith(before.text):
        before = None
    resumed = _resumed(lexer, text, before)
    if resumed is None:
        parsed = [(value, str(kind)) for kind, value in lexer.get_tokens(text)]
        return _keep(text, language, _in_lines(parsed, rows))
    parsed, _grown[language] = resumed
    lines = _in_lines(parsed, rows)
    return lines if before else _keep(text, language, lines)


def _keep(text: str, language: str, lines: list[Tokens]) -> list[Tokens]:
    if len(_whole) >= KEPT:
        del _whole[next(iter(_whole))]
    _whole[text, language] = lines
    return lines


def _resumed(lexer: Any, text: str, before: _Grown | None) -> tuple[Tokens, _Grown] | None:
    """Resume reading; None if this lexer works in its own way and must read from the beginning."""
    from pygments.lexer import ExtendedRegexLexer, LexerContext, RegexLexer

    if type(lexer).get_tokens_unprocessed is not RegexLexer.get_tokens_unprocessed:
        return None
    _, at, above, stack = before or _Grown("", 0, [], ["root"])
    context, parsed = LexerContext(text, at, stack.copy()), above.copy()
    lines = [(at, len(parsed), stack)]
    try:
        for at, kind, value in ExtendedRegexLexer.get_tokens_unprocessed(lexer, context=context):
            if at == context.pos and text[at - 1 : at] == "\n":
                lines.append((at, len(parsed), context.stack.copy()))
            parsed.append((value, str(kind)))
    except TypeError:  # a callback of its own, which knows of no context
        return None
    at, count, stack = lines[max(0, len(lines) - 3)]
    return parsed, _Grown(text, at, parsed[:count], stack)


def _plain(rows: list[str]) -> list[Tokens]:
    return [[(row, "")] if row else [] for row in rows]


def _in_lines(parsed: Tokens, rows: list[str]) -> list[Tokens]:
    lines: list[Tokens] = [[]]
    for value, kind in parsed:
        for number, row in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if row:
                lines[-1].append((row, _known(kind)))
    # Lexers change line ends: the lines must be those that came, or their numbers are wrong.
    lines = lines[: len(rows)] + [[] for _ in range(len(rows) - len(lines))]
    same = all("".join(t for t, _ in line) == row for line, row in zip(lines, rows, strict=True))
    return lines if same else _plain(rows)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    if not language:
        return None
    try:
        from pygments.lexers import get_lexer_by_name
        from pygments.util import ClassNotFound
    except ModuleNotFoundError:  # the command line does without
        return None
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except (ClassNotFound, ValueError):
        return None


@lru_cache(maxsize=1000)
def _known(kind: str) -> str:
    """Return the longest known prefix of a type such as `Token.Literal.String.Double`."""
    kind = kind.removeprefix("Token.")
    while kind not in KINDS:
        kind = kind.rpartition(".")[0]
    return kind
