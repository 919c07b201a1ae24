"""Retired words and phrases stay out of what users read.

Users read every string literal that is not a docstring, the docstrings of commands, operations and
the API's requests, and the texts of the page's scripts. Add a phrase to RETIRED once it is gone.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "rookery"

Function = ast.FunctionDef | ast.AsyncFunctionDef
HELP = {
    "command",
    "group",
    "change",
    "read",
    "work",
    "get",
    "head",
    "post",
    "put",
    "patch",
    "delete",
}
"""Decorators of functions whose docstring is a help text, or the API's."""

RETIRED = {
    r"\b(is|are|was|were|be|been) (not )?told\b": "logged, sent, shown, asked",
    r"\btold to the agent\b": "sent to the agent",
    r"\b(for|of) so (long|many)\b|^so (long|many)\b": "for this long, this many",
    r"\bagents? below\b": "sub-agent",
    r"\bprimer\b": "recap",
    r"\ba person\b|\bpeople\b": "you, the user",
    r"\bwhoever\b|\bsomebody\b|\bnobody\b": "you, another program, or name the actor",
    r"\bwhence\b": "where it comes from",
    r"\banew\b": "again, restart, start over",
    r"\bexclude each other\b": "cannot be combined",
    r"\bfor ever\b": "permanently",
    r"\bfor good\b": "always",
    r"\b(takes?|taken) (it|that) back\b": "undo",
    r"\blets? it hold\b|\bit holds\b": "confirm, applies",
    r"\bany more\b": "no longer",
    r"\bis meant\b": "name what matches",
    r"\bno such one\b|\bthat is none\b|\bnone is like that\b": "none, no match",
    r"\bsay (which|until|either|--)": "pass",
    r"\bone \w+ a line\b": "one JSON object per …",
    r"\bmet a rate limit\b": "hit a rate limit",
    r"\bat most \S+ are (taken|read|written)\b": "the limit is",
    r"\bgoes on without you\b": "keeps running",
    r"\bas it stands\b|\bis not sound\b": "not valid, damaged",
    r"\blog-in\b": "login",
    r"\bmends?\b": "fix",
    r"\ball the same\b": "anyway",
    r"\bnothing is stopped\b": "stops nothing",
    r"\bdoes not answer\b": "does not respond",
    r"\bthat there (is|are)\b": "name it",
}

COMMENT = re.compile(r"(?<![^\s;])//[^\n]*|/\*.*?\*/", re.DOTALL)
"""Of a script. What looks like one in a text stands behind a colon: https://…"""

OLD = [
    "Nobody can be asked here: say --yes.",
    "Without news for so long: 12h, 30d, 8w.",
    "So long: 30m, 2h, 3d.",
    "Why: told to the agent.",
    "crow was not told in time",
    "A session is meant when everything that is said holds for it.",
    "No session to delete: none is like that.",
    "3 asks, 3 answered by a person, 0 would differ.",
    "Print every setting with its value, and whence it comes.",
    "End a session's agent and start it anew.",
    "--json and --verbose exclude each other.",
    "rookery policy remove 1 takes it back.",
    "This deletes files: it can be allowed once, not for good.",
    "The answer of the agent below",
    "The primer of a session",
]


def test_the_gate_finds_every_old_sentence() -> None:
    assert [words for words in OLD if not retired(words)] == []


def test_the_gate_reads_literals_and_help_but_no_docstrings() -> None:
    tree = ast.parse(
        '"""Nobody reads this."""\n'
        "@click.command()\n"
        "def rm(count: int) -> None:\n"
        '    """Delete for ever."""\n'
        '    note(f"Start {count} anew")\n'
        "def _inner() -> None:\n"
        '    """Somebody."""\n'
    )
    assert sorted(words for _, words in shown(tree)) == ["Delete for ever.", "Start {} anew"]


def test_the_gate_reads_scripts_but_no_comments() -> None:
    script = '// Start anew.\nnote("Start anew"); // anew\n/* for ever\nand ever */ f("for good")'
    assert [line for line, text in written(script) if retired(text)] == [2, 4]


def test_no_retired_words_in_texts_for_users() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {words[:80]!r} has {phrase!r}; instead: {better}"
        for path, texts in read()
        for line, words in texts
        for phrase, better in retired(words)
    ]
    assert not found, "\n".join(found)


def read() -> Iterator[tuple[Path, Iterator[tuple[int, str]]]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path, shown(ast.parse(path.read_text(encoding="utf-8")))
    for path in sorted(PACKAGE.rglob("*.js")):
        yield path, written(path.read_text(encoding="utf-8"))


def written(script: str) -> Iterator[tuple[int, str]]:
    """Return the lines of a script without its comments."""
    code = COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), script)
    return enumerate(code.splitlines(), start=1)


def retired(words: str) -> list[tuple[str, str]]:
    text = " ".join(words.split())
    return [pair for pair in RETIRED.items() if re.search(pair[0], text, re.IGNORECASE)]


def shown(tree: ast.Module) -> Iterator[tuple[int, str]]:
    nodes = list(ast.walk(tree))
    hidden = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    hidden |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # docstrings
    for node in nodes:
        if isinstance(node, Function) and is_help(node):
            yield node.lineno, ast.get_docstring(node) or ""
        elif isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield node.lineno, "".join(map(str, parts))
        elif is_sentence(node) and id(node) not in hidden:
            yield node.lineno, str(node.value)


def is_sentence(node: ast.AST) -> TypeGuard[ast.Constant]:
    """A single word is a key or a code, which stays as it is."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value


def is_help(node: Function) -> bool:
    named = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
    return any(
        (isinstance(each, ast.Attribute) and each.attr in HELP)
        or (isinstance(each, ast.Name) and each.id in HELP)
        for each in named
    )
