"""Judging SQL: which statements delete data or tables. Quotes and comments do not count."""

import re

from rookery.core.command_line.syntax import MAX_LINE_LENGTH
from rookery.core.dangers.places import named

_BLANKED = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^'\\]|''|\\.)*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]\n]{1,100}\]", re.S
)
_DOLLARS = re.compile(r"\$(\w{0,40})\$(.*?)\$\1\$", re.DOTALL)
_SPACE = re.compile(r"\s+")
_ENDS = re.compile(r"^\s*(?:rollback|abort)\b", re.IGNORECASE)
_BEGINS = re.compile(r"^\s*(?:begin|start transaction)\b", re.IGNORECASE)
_COMMITS = re.compile(r"^\s*(?:commit|end)\b", re.IGNORECASE)

_KINDS = "table|database|schema|view|materialized|index|sequence|user|role|column|keyspace|type"
_KINDS += "|function|procedure|trigger|owned|extension|tablespace|policy|constraint|partition"
_KINDS += "|collection|bucket|stream|topic|if|temporary|foreign|event|server|domain|aggregate"
_KINDS += "|publication|subscription|dictionary|warehouse|stage|external|all|login|graph|model"

_STATEMENTS = (
    (rf"drop\s+(?:{_KINDS})\b", "drops data from a database (DROP)"),
    (r"truncate(?:\s+(?:table|only|database|if))?\s+\S", "empties a table (TRUNCATE)"),
    (r"delete\s+(?:low_priority\s+|quick\s+|ignore\s+)*from\b", "deletes rows (DELETE FROM)"),
    (r"delete\s+\w+(?:\s*,\s*\w+)*\s+from\b", "deletes rows (DELETE FROM)"),
    (rf"alter\s+table\b.*\bdrop\s+(?:{_KINDS}|primary\s+key|\S)", "drops a part of a table"),
    (r"alter\s+table\b.*\b(?:delete\s+where|truncate\s+partition)", "deletes rows (ALTER TABLE)"),
    (r"purge\s+(?:binary|master)\s+logs\b|reset\s+master\b", "deletes a database's log"),
    (r"(?:call|exec(?:ute)?)\s+sp_dropdb\b", "drops data from a database"),
)
_PATTERNS = tuple((re.compile(pattern, re.I | re.S), why) for pattern, why in _STATEMENTS)
_UPDATE = re.compile(r"update\s+(?:only\s+|ignore\s+)?\S+\s+(?:as\s+)?(?:\w+\s+)?set\b", re.I)
_LEADS = re.compile(
    r"(?:explain\s+(?:\(?\s*analyze\b[^)]*\)?\s*)|with\b.*?\)\s*(?=delete|update|insert)"
    r"|do\s|execute\s+immediate\s|begin\s+(?!;)|prepare\s+\w+\s+(?:from|as)\s)",
    re.I | re.S,
)


def judge(text: str) -> str:
    """Return what a script of statements does that cannot be undone; "" if nothing."""
    text = text[:MAX_LINE_LENGTH]
    bodies = [match.group(2) for match in _DOLLARS.finditer(text)]
    plain = _BLANKED.sub(_blank, _DOLLARS.sub(" ", text))
    statements = [each for each in plain.split(";") if each.strip()][:2000]
    taken_back = _is_taken_back(statements)
    whys = [_judge_one(_SPACE.sub(" ", statement).strip()) for statement in statements]
    whys = [why for why in whys if not (taken_back and "(DELETE" in why)]
    inner = [body for body in bodies if re.search(r"\bexecute\b|\bbegin\b", body, re.I)]
    for body in inner[:20]:
        shown = re.sub(r"\b(begin|then|loop|else|declare)\b|'", ";", body, flags=re.I)
        whys += map(_judge_one, map(str.strip, shown.split(";")))
    return named(whys)


def _blank(match: re.Match[str]) -> str:
    return " " if match.group()[:2] in ("--", "/*") else "x"


def _is_taken_back(statements: list[str]) -> bool:
    """Whether the statements are a transaction that is rolled back, which changes no rows."""
    return (
        len(statements) > 2
        and bool(_BEGINS.match(statements[0]))
        and bool(_ENDS.match(statements[-1]))
        and not any(_COMMITS.match(each) for each in statements)
    )


def _judge_one(statement: str) -> str:
    for _ in range(4):
        lead = _LEADS.match(statement)
        if lead is None or not lead.end():
            break
        statement = statement[lead.end() :].lstrip(" (")
    for pattern, why in _PATTERNS:
        if pattern.match(statement):
            return why
    if _UPDATE.match(statement) and not re.search(r"\bwhere\b", statement, re.I):
        return "changes every row of a table (UPDATE without WHERE)"
    merged = re.match(r"merge\s+into\b.*\bthen\s+delete\b", statement, re.I | re.S)
    return "deletes rows (MERGE)" if merged else ""
