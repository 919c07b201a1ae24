"""Extracting the last line of an answer, for lists: as plain text, without Markdown markup. Code
stays between backticks, as lists show it."""

import re

from rookery.core.json.secrets import masked

MAX_LENGTH = 200
KEPT = 2 * MAX_LENGTH
"""Characters of an answer's end that `of` needs."""
_TORN = re.compile(r"\A[\w./+=-]+", re.ASCII)
"""Matches what may be the end of a secret at the beginning of a text."""
_FRONT = re.compile(r"^(?:\s*(?:#{1,6}|>|[-*+]|\d{1,9}[.)])\s+|\s*\[[ xX]\]\s+)+")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_ADDRESS = re.compile(r"<(https?://[^<>\s]+)>")
_STRONG = re.compile(r"(\*\*\*|\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1")
_EMPHASIS = re.compile(r"(?<![\w*_\\])([*_])(?=\S)([^*_\\]+?)(?<=\S)\1(?![\w*_])")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKS = re.compile(r"[\s`~*_=+#|:>-]*")
_CODE = re.compile(r"(`+[^`]*`+)")


def of(text: str) -> str:
    """Return the last line with words at the end of an answer. Secrets are masked before it is cut,
    since half a secret has no shape that we recognize."""
    if len(text) == KEPT:  # it was cut itself
        text = _TORN.sub("", text)
    lines = [line.strip() for line in text.splitlines() if _has_words(line)]
    return masked(lines[-1])[:MAX_LENGTH] if lines else ""


def _has_words(line: str) -> bool:
    """Whether the line is more than a fence, a rule or a line of a table."""
    return not _MARKS.fullmatch(line) and not line.lstrip().startswith(("```", "~~~"))


def plain(line: str) -> str:
    line = _FRONT.sub("", line).strip()
    if line.startswith("|") and line.endswith("|"):
        line = " · ".join(each.strip() for each in line.strip("|").split("|") if each.strip())
    pieces = _CODE.split(line)
    return "".join(each if at % 2 else _unmarked(each) for at, each in enumerate(pieces)).strip()


def _unmarked(text: str) -> str:
    text = _ADDRESS.sub(r"\1", _LINK.sub(r"\1", text))
    return _ESCAPE.sub(r"\1", _EMPHASIS.sub(r"\2", _STRONG.sub(r"\2", text)))
