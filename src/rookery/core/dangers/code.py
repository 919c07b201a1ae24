"""Code of other languages in a command line: the calls in it that delete trees or data."""

import re

from rookery.core.command_line import foreign_code
from rookery.core.command_line.words import LONGEST, Simple
from rookery.core.dangers import sql

_CALLS = (
    (r"\b(?:shutil\.)?rmtree\s*\(|\bremove_tree\s*\(|\brm_rf?\b|\bremove_entry\w*", "a whole tree"),
    (r"\bFileUtils\.(?:rm_r\w*|remove_dir|rmtree)", "a whole tree"),
    (
        r"\brimraf\s*(?:\.sync)?\s*\(|\bremoveSync\s*\(|\bemptyDirSync\s*\(|\bdel\.sync\s*\(",
        "a tree",
    ),
    (r"\b(?:rmSync|rmdirSync|rm|rmdir)\s*\([^)]{0,300}recursive\s*:\s*true", "a whole tree"),
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
    r"\b(?:open|writeFile\w*|appendFile\w*|file_put_contents|File\.write|Path)\s*\("
    r"\s*[rbfu]?\x00(\d+)\x00"
    r"\s*(?:,\s*[rbfu]?\x00(\d+)\x00|\)\s*\.\s*write)?"
)


def judge(command: Simple) -> str:
    for language, text in command.code:
        bare, strings = foreign_code.bare(text[:LONGEST], language)
        for pattern, what in _PATTERNS:
            if pattern.search(bare) and what == "_":
                return f"runs what it downloads ({command.program})"
            if pattern.search(bare):
                return f"deletes {what} ({command.program})"
        for found in _SQL.finditer(bare):
            if why := sql.judge(strings[int(found.group(1))]):
                return why
    return ""


def written(command: Simple) -> list[str]:
    """The files that the code opens to write, where it names them."""
    paths: list[str] = []
    for language, text in command.code:
        bare, strings = foreign_code.bare(text[:LONGEST], language)
        for found in _OPENS.finditer(bare):
            mode = strings[int(found.group(2))] if found.group(2) else ""
            writes = "write" in found.group() or "append" in found.group() or "put" in found.group()
            if writes or (mode and set(mode) & set("wax+")):
                paths.append(strings[int(found.group(1))])
    return paths
