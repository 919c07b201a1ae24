"""Markdown parser rules for formulas, between dollars or TeX delimiters, and for footnotes."""

import re
from hashlib import sha256
from typing import Any

LONGEST_FORMULA = 2_000

_FORMULAS = {"$$": "$$", "$": "$", "\\(": "\\)", "\\[": "\\]"}
_DISPLAYED = ("$$", "\\[")
_MATHS = re.compile(r"[\\^_=<>+*/-]|\A\w\Z")
"""Matches what a formula contains, and the text between two prices does not."""
_FOOTNOTE = re.compile(r"\[\^([^\]\s]{1,40})\]:[ \t]*(.*)")
_REFERENCE = re.compile(r"\[\^([^\]\s]{1,40})\]")
_FOOTNOTES = "footnotes"
"""In the parser's environment: the ids of a text's footnotes, by label."""
_INDENT = 4


def extend(parser: Any) -> None:
    ends = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    parser.block.ruler.before("reference", "math_block", _displayed, ends)
    parser.block.ruler.before("reference", "footnote", _footnote, ends)
    parser.inline.ruler.before("escape", "math", _math)
    parser.inline.ruler.before("link", "note", _reference)


# --- formulas ------------------------------------------------------------------------------------


def _math(state: Any, silent: bool) -> bool:
    source, at = state.src, state.pos
    opening = next((each for each in _FORMULAS if source.startswith(each, at)), "")
    if not opening:
        return False
    begin, closing = at + len(opening), _FORMULAS[opening]
    end = source.find(closing, begin, begin + LONGEST_FORMULA)
    inner = source[begin:end] if end > begin else ""
    after = source[end + len(closing) : end + len(closing) + 1]
    if not inner.strip() or not _MATHS.search(inner):
        return False
    if opening == "$" and (inner != inner.strip() or after.isalnum() or "\n\n" in inner):
        return False
    if not silent:
        state.push("math", "", 0).content = inner
    state.pos = end + len(closing)
    return True


def _displayed(state: Any, start: int, end: int, silent: bool) -> bool:
    """Parse a formula with lines of its own: nothing in it is a heading or a list."""
    first = _line(state, start)
    opening = next((each for each in _DISPLAYED if first.startswith(each)), "")
    if not opening or state.is_code_block(start):
        return False
    text, last = first[len(opening) :].rstrip(), start
    while not text.endswith(_FORMULAS[opening]):
        last += 1
        if last >= end or state.sCount[last] < state.blkIndent or len(text) > LONGEST_FORMULA:
            return False
        text += "\n" + _line(state, last).rstrip()
    inner = text.removesuffix(_FORMULAS[opening]).strip()
    if _FORMULAS[opening] in inner or not _MATHS.search(inner):
        return False
    if not silent:
        state.push("math_block", "", 0).content = inner
        state.line = last + 1
    return True


def _line(state: Any, number: int) -> str:
    begin = state.bMarks[number] + state.tShift[number]
    return str(state.src[begin : state.eMarks[number]])


# --- footnotes -----------------------------------------------------------------------------------


def _footnote(state: Any, start: int, end: int, silent: bool) -> bool:
    """Parse `[^1]: text` with the lines that belong to it. Footnotes are not nested."""
    match = _FOOTNOTE.match(_line(state, start))
    if match is None or state.is_code_block(start) or state.env.get("in_footnote"):
        return False
    if silent:
        return True
    ids = state.env.setdefault(_FOOTNOTES, {})
    digest = sha256(state.src.encode(errors="replace")).hexdigest()[:8]
    name = f"n{digest}-{start + 1}"
    ids.setdefault(match[1], name)
    last = _end(state, start + 1, end)
    lines = [match[2], *(_dedented(state, number) for number in range(start + 1, last))]
    token = state.push("footnote_open", "", 1)
    token.info, token.content = match[1], name
    state.env["in_footnote"] = True
    state.md.block.parse("\n".join(lines), state.md, state.env, state.tokens)
    state.env["in_footnote"] = False
    state.push("footnote_close", "", -1)
    state.line = last
    return True


def _end(state: Any, line: int, end: int) -> int:
    """Return the first line after a footnote: behind an empty line, only indented lines belong to
    it."""
    ends = state.md.block.ruler.getRules("paragraph")
    last, apart = line, False
    while line < end and state.sCount[line] >= state.blkIndent:
        if state.isEmpty(line):
            apart, line = True, line + 1
            continue
        if state.sCount[line] - state.blkIndent < _INDENT and (
            apart or any(rule(state, line, end, True) for rule in ends)
        ):
            break
        line += 1
        last = line
    return last


def _dedented(state: Any, number: int) -> str:
    return str(state.getLines(number, number + 1, state.blkIndent + _INDENT, False))


def _reference(state: Any, silent: bool) -> bool:
    if state.src[state.pos : state.pos + 2] != "[^":
        return False
    match = _REFERENCE.match(state.src, state.pos)
    if match is None or match[1] not in state.env.get(_FOOTNOTES, {}):
        return False
    if not silent:
        token = state.push("note", "", 0)
        token.content, token.info = match[1], state.env[_FOOTNOTES][match[1]]
    state.pos = match.end()
    return True
