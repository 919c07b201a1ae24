"""Code in colour: Pygments' tokens as styled lines, kept by their text so that a stream pays only
for its end."""

from functools import lru_cache
from typing import Any

from rich.style import Style

from rookery.tui.look.palette import Look, look_of
from rookery.tui.look.plain import clean
from rookery.tui.look.runs import Line

STRETCH = 40
"""Lines that are coloured together: a long file that grows is coloured anew only in its last
ones."""

LONGEST = 1_000
"""Characters of a line, over which a stretch stays plain: some lexers take their time."""


def highlighted(text: str, language: str, look: Look) -> list[Line]:
    """One line of runs for each line of the text."""
    lines = clean(text).split("\n")
    found: list[Line] = []
    for at in range(0, len(lines), STRETCH):
        stretch = "\n".join(lines[at : at + STRETCH])
        found += _stretch(stretch, language[:40], look.palette.name)
    return found


def language_of(path: str) -> str:
    """A language's name by the end of a file's name; empty where none is known."""
    name = path.rpartition("/")[2].lower()
    return _ENDINGS.get(name.rpartition(".")[2], "") or _ENDINGS.get(name, "")


_ENDINGS = {
    "py": "python",
    "pyi": "python",
    "js": "javascript",
    "mjs": "javascript",
    "jsx": "jsx",
    "ts": "typescript",
    "tsx": "tsx",
    "rs": "rust",
    "go": "go",
    "c": "c",
    "h": "c",
    "cc": "cpp",
    "cpp": "cpp",
    "hpp": "cpp",
    "java": "java",
    "kt": "kotlin",
    "rb": "ruby",
    "php": "php",
    "sh": "bash",
    "bash": "bash",
    "zsh": "bash",
    "md": "markdown",
    "json": "json",
    "yaml": "yaml",
    "yml": "yaml",
    "toml": "toml",
    "html": "html",
    "css": "css",
    "sql": "sql",
    "xml": "xml",
    "swift": "swift",
    "cs": "csharp",
    "lua": "lua",
    "makefile": "make",
    "dockerfile": "docker",
    "ini": "ini",
    "cfg": "ini",
}


@lru_cache(maxsize=600)
def _stretch(text: str, language: str, name: str) -> tuple[Line, ...]:
    look = look_of(name)
    lexer = _lexer(language) if text.strip() else None
    plain = tuple([(row, look.ink)] if row else [] for row in text.split("\n"))
    if lexer is None or any(len(row) > LONGEST for row in text.split("\n")):
        return plain
    lines: list[Line] = [[]]
    for kind, value in lexer.get_tokens(text):
        style = _style(str(kind), look)
        for number, row in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if row:
                lines[-1].append((row, style))
    # Lexers mend line ends: the lines must be those that came, or no number beside them is true.
    lines = lines[: len(plain)] + [[] for _ in range(len(plain) - len(lines))]
    same = all("".join(t for t, _ in new) == row for new, row in zip(lines, text.split("\n")))  # noqa: B905
    return tuple(lines) if same else plain


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


def _style(kind: str, look: Look) -> Style:
    """`Token.Literal.String.Double`: the style of the longest known beginning."""
    return _known(kind.removeprefix("Token."), look)


@lru_cache(maxsize=1000)
def _known(kind: str, look: Look) -> Style:
    while kind:
        if kind in look.syntax:
            return look.ink + look.syntax[kind]
        kind = kind.rpartition(".")[0]
    return look.ink
