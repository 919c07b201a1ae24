"""Judging code of other languages in a command line: the calls in it that delete trees or data, and
the files that it deletes, empties or writes by name."""

import re
from collections.abc import Iterator

from rookery.core.command_line import foreign_code
from rookery.core.command_line.syntax import MAX_LINE_LENGTH, Simple
from rookery.core.dangers import sql

_CALLS = (
    (r"\b(?:shutil\.)?rmtree\s*\(|\bremove_tree\s*\(|\brm_rf?\b|\bremove_entry\w*", "a whole tree"),
    (r"\bFileUtils\.(?:rm_r\w*|remove_dir|rmtree)|\.\s*deleteDir\s*\(", "a whole tree"),
    (
        r"\brimraf\s*(?:\.sync)?\s*\(|\bremoveSync\s*\(|\bemptyDirSync\s*\(|\bdel\.sync\s*\(",
        "a tree",
    ),
    (
        r"\b(?:rmSync|rmdirSync|rm|rmdir|unlink)\s*\([^)]{0,300}recursive\s*[:=]\s*(?i:true)",
        "a whole tree",
    ),
    (r"\bfile\s+delete\s+-force\b|\bFile\.rm_rf\b|\bdelete_recursive\w*", "a whole tree"),
    (r"\bdeltree\b|\bFiles\.walk\b.{0,200}\bdelete", "a whole tree"),
    (r"\.\s*(?:drop_all|dropDatabase|drop_database|flushall|flushdb)\s*\(", "a database"),
    (r"\bobjects\s*\.\s*all\s*\(\s*\)\s*\.\s*delete\s*\(|\bdelete_all\b|\bdestroy_all\b", "rows"),
    (r"\b(?:deleteMany|delete_many)\s*\(\s*\{?\s*\}?\s*\)", "documents"),
    (
        r"\bfor\b[^\n]{0,200}\b(?:glob|walk|listdir|iterdir|scandir)\b"
        r".{0,300}\b(?:remove|unlink)\s*\(",
        "files",
    ),
    (r"\b(?:exec|eval)\b.{0,80}\b(?:urlopen|requests\.get|fetch|LWP|URI\.open)", "_"),
    (r"\bunlink\s*(?:\(\s*)?(?:glob|<)", "files"),
)
_PATTERNS = tuple((re.compile(pattern, re.DOTALL), what) for pattern, what in _CALLS)
_SQL = re.compile(r"\b(?:execute\w*|query|exec|run|raw)\s*\(\s*[rbfu]?\x00(\d{1,6})\x00")
_OPENS = re.compile(
    r"\b(?:f?open|writeFile\w*|appendFile\w*|file_put_contents|File\.write|writeTextFile\w*|Path)"
    r"\s*\(\s*[rbfu]?\x00(\d+)\x00"
    r"\s*(?:,\s*(?:mode\s*=\s*)?[rbfu]?\x00(\d+)\x00|\)\s*\.\s*write\w*\s*\(\s*[rbfu]?\x00(\d+)\x00"
    r"|\)\s*\.\s*write)?"
)
_COPIES = re.compile(
    r"\b(?:rename|replace|copy\w*|move|cp|mv|renameSync|cpSync)\s*!?\(?\s*"
    r"[rbfu]?\x00\d+\x00\s*,\s*[rbfu]?\x00(\d+)\x00"
)
_STREAMS = re.compile(r"\bcreateWriteStream\s*\(\s*\x00(\d+)\x00")
_UNLINKS = (
    r"\b(?:os|fs|fsp|promises|Deno|shell)\s*\.\s*"
    r"(?:remove|unlink|rm|removeSync|unlinkSync|rmSync)\b"
    r"|\bFile\s*\.\s*(?:delete|unlink|rm)\b!?|\bfile\.remove\b|\bfile\s+delete(?:\s+--)?"
    r"|\bFileUtils\.rm\b|\bFiles\.delete\w*|\bunlinkSync\b|(?<![.\w$])unlink\b|\brmSync\b"
    r"|(?<![.\w$])remove(?=\s*\(\s*[rf]?\x00)"
    r"|(?<=\.promises\.)unlink\b|\bPath\s*\(\s*[rf]?\x00\d+\x00\s*\)\s*\.\s*unlink\b"
)
_TRUNCATES = r"\b(?:os|File|fs)\s*\.\s*truncate(?:Sync)?\b|\btruncateSync\b"
_TAKEN = re.compile(
    rf"(?P<deletes>{_UNLINKS})|(?P<empties>{_TRUNCATES})|\.\s*unlink\s*\((?P<unsure>)"
)
_NAMED = re.compile(r"\s*\(?\s*[rbfu]?\x00(\d+)\x00\s*(?=[),;}\n]|$)")
_BY_NAME = re.compile(r"\barray_map\s*\(\s*\x00(\d+)\x00")
NO_CODE = frozenset({"make"})
"""Languages of which only the shell's lines count."""


def judge(command: Simple) -> list[str]:
    return [why for language, text in command.code for why in _judge_text(command, language, text)]


def _judge_text(command: Simple, language: str, text: str) -> Iterator[str]:
    if language in NO_CODE:
        return
    bare, strings = foreign_code.bare(text[:MAX_LINE_LENGTH], language)
    whats = [what for pattern, what in _PATTERNS if pattern.search(bare)]
    if "_" in whats:
        yield f"runs what it downloads ({command.program})"
    yield from (f"deletes {what} ({command.program})" for what in whats if what != "_")
    named = [strings[int(match.group(1))] for match in _BY_NAME.finditer(bare)]
    taken = [does for does, path in _taken(bare, strings) if not path]
    if not whats and (taken or "unlink" in named):
        yield f"{taken[0] if taken else 'deletes'} files ({command.program})"
    for match in _SQL.finditer(bare):
        yield sql.judge(strings[int(match.group(1))])


def _taken(bare: str, strings: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what is deleted or emptied, and which file; the path is "" if the code computes it."""
    for match in _TAKEN.finditer(bare):
        does = "empties" if match.lastgroup == "empties" else "deletes"
        inner = re.search(r"\x00(\d+)\x00", match.group())  # Path("x").unlink
        named = inner or _NAMED.match(bare, match.end())
        yield does, strings[int(named.group(1))] if named else ""


def files(command: Simple) -> list[tuple[str, str]]:
    """Return the files that the code names, with what it does to each; "": it may append."""
    effects: list[tuple[str, str]] = []
    for language, text in command.code:
        if language in NO_CODE:
            continue
        bare, strings = foreign_code.bare(text[:MAX_LINE_LENGTH], language)
        effects += [(does, path) for does, path in _taken(bare, strings) if path]
        effects += _opened(bare, strings)
        places = [*_COPIES.findall(bare), *_STREAMS.findall(bare)]
        effects += [("overwrites", strings[int(place)]) for place in places]
        if language == "perl":
            effects += _opened_by_perl(bare, strings)
        if language == "awk":
            places = re.findall(r"(?<!>)>\s*\x00(\d+)\x00", bare)
            effects += [("overwrites", strings[int(place)]) for place in places]
    return effects


def _opened(bare: str, strings: list[str]) -> Iterator[tuple[str, str]]:
    for match in _OPENS.finditer(bare):
        path, call = strings[int(match.group(1))], match.group()
        second = strings[int(match.group(2))] if match.group(2) else ""
        wrote = strings[int(match.group(3))] if match.group(3) else None
        if "append" in call:
            yield "", path
        elif "write" in call or "put" in call:
            empty = wrote == "" or (match.group(2) is not None and not second)
            yield "empties" if empty else "overwrites", path
        elif second and set(second) & set("wax+") and len(second) <= 4:
            closed = bare[match.end() : match.end() + 20].replace(" ", "").startswith(").close")
            does = "empties" if closed and "w" in second else "overwrites"
            yield does if "w" in second else "", path


_PERL_OPENS = re.compile(r"\bopen\b[^;\x00]{0,60}\x00(\d+)\x00(?:\s*,\s*\x00(\d+)\x00)?")


def _opened_by_perl(bare: str, strings: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the files that Perl opens for writing: `open(F, ">", "x")`, `open(F, ">x")`."""
    for match in _PERL_OPENS.finditer(bare):
        mode = strings[int(match.group(1))]
        path = strings[int(match.group(2))] if match.group(2) else mode.lstrip("+> ")
        if mode.startswith((">", "+>")):
            yield "" if mode.startswith(">>") else "overwrites", path


def written(command: Simple) -> list[str]:
    """Return the files that the code names to write them."""
    return [path for _, path in files(command)]
