"""Code as tokens: Pygments' types, cached by text so that a stream only pays for its end."""

from functools import lru_cache
from typing import Any

from rookery.render.plain import clean

type Tokens = list[tuple[str, str]]
"""The pieces of a line, each with one of KINDS."""

STRETCH = 40
"""Lines that are tokenized together: a file that grows is tokenized again only at its end."""

LONGEST = 1_000
"""Longer lines stay plain: some lexers are slow."""

KINDS = frozenset(
    {"", "Comment", "Keyword", "Operator.Word", "Literal.String", "Literal.Number"}
    | {"Name.Builtin", "Name.Function", "Name.Class", "Name.Decorator", "Name.Tag"}
    | {"Name.Attribute", "Generic.Inserted", "Generic.Deleted", "Generic.Heading"}
)
"""Pygments' token types that look different; the empty one is all the rest."""

_LANGUAGES = {
    "python": "py pyi",
    "javascript": "js mjs",
    "typescript": "ts",
    "rust": "rs",
    "c": "c h",
    "cpp": "cc cpp hpp",
    "kotlin": "kt",
    "ruby": "rb",
    "bash": "sh bash zsh",
    "markdown": "md",
    "yaml": "yaml yml",
    "csharp": "cs",
    "make": "makefile",
    "docker": "dockerfile",
    "ini": "ini cfg",
}
_ALIKE = "jsx tsx go java php json toml html css sql xml swift lua"
_ENDINGS = {end: name for name, ends in _LANGUAGES.items() for end in ends.split()}
_ENDINGS |= {name: name for name in _ALIKE.split()}


def language_of(path: str) -> str:
    """The language of a file, by its name; empty if unknown."""
    name = path.rpartition("/")[2].lower()
    return _ENDINGS.get(name.rpartition(".")[2], "")


def tokens(text: str, language: str) -> list[Tokens]:
    """The tokens of each line of the text."""
    lines = clean(text).split("\n")
    found: list[Tokens] = []
    for at in range(0, len(lines), STRETCH):
        found += _stretch("\n".join(lines[at : at + STRETCH]), language[:40])
    return found


@lru_cache(maxsize=600)
def _stretch(text: str, language: str) -> list[Tokens]:
    rows = text.split("\n")
    lexer = _lexer(language) if text.strip() else None
    plain: list[Tokens] = [[(row, "")] if row else [] for row in rows]
    if lexer is None or any(len(row) > LONGEST for row in rows):
        return plain
    lines: list[Tokens] = [[]]
    for kind, value in lexer.get_tokens(text):
        for number, row in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if row:
                lines[-1].append((row, _known(str(kind))))
    # Lexers change line ends: the lines must be those that came, or their numbers are wrong.
    lines = lines[: len(rows)] + [[] for _ in range(len(rows) - len(lines))]
    same = all("".join(t for t, _ in line) == row for line, row in zip(lines, rows, strict=True))
    return lines if same else plain


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    if not language:
        return None
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except (ClassNotFound, ValueError):
        return None


@lru_cache(maxsize=1000)
def _known(kind: str) -> str:
    """`Token.Literal.String.Double`: the longest known beginning."""
    kind = kind.removeprefix("Token.")
    while kind not in KINDS:
        kind = kind.rpartition(".")[0]
    return kind
