"""Preparing texts and queries for SQLite's FTS5.

Its tokenizer handles letters and digits, upper and lower case, and diacritics. The rest is done
here: scripts without blanks between words are split into letters, and identifiers such as
`readFile` into their words."""

import re

TOKENIZER = "unicode61 remove_diacritics 2"

APART = "\u200b"
"""Between letters: no letter itself, and not to be seen."""

EXTRA = "\u2063"
"""Before the words that were added to a text; no letter itself."""

ROLE = "\ue000"
"""Begins the word that says who said it. FTS5 takes it for a letter."""

MAX_QUERY_LENGTH = 4096
"""Characters of a query."""

MAX_WORDS = 32
"""How many words of a query are used."""

LONGEST_WORD = 128
"""Longer ones are no words: base64, hashes in a row."""

_SPACELESS = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f])"
)
_NAME = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"[A-Z](?<=[a-z0-9][A-Z])")
"""A capital inside a word. It begins with what is rare: that is what the engine looks for."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
_LETTER = re.compile(r"[^\W_]")
_PIECE = re.compile(r'"([^"]*)"?(\*)?|([^\s"]+)')
_OURS = re.compile("[\u2063\ue000-\ue00f\ud800-\udfff\x00]")
_USUAL = bytes(range(1, 128))
_NO_WORD = re.compile(rf"\w{{{LONGEST_WORD},}}")


def indexed(text: str, role: str) -> str:
    """Return the text to give to FTS5: the text itself, with letters split if need be, and words of
    ours."""
    if not text.isascii():
        rare = _rare(text)
        if _OURS.search(rare):
            text = _OURS.sub(" ", text)
        if _SPACELESS.search(rare):
            text = _SPACELESS.sub(rf"{APART}\1{APART}", text)
    if len(text) > 4 * LONGEST_WORD and len(text) > text.count(" ") * LONGEST_WORD // 2:
        text = _NO_WORD.sub(" ", text)
    extra = "\n".join(" ".join(_WORD.findall(name)) for name in _identifiers(text))
    return f"{text}\n{EXTRA} {ROLE}{role} {extra}"


def _rare(text: str) -> str:
    """Return the text's unusual characters: in most texts few, and faster to check than all."""
    left = text.encode("utf-8", "surrogatepass").translate(None, _USUAL)
    return left.decode("utf-8", "surrogatepass")


def _identifiers(text: str) -> dict[str, None]:
    """Return the identifiers with a capital letter inside."""
    names: dict[str, None] = {}
    end = 0
    for hump in _HUMP.finditer(text):
        start = hump.start()
        if start < end:
            continue
        while start > end and text[start - 1].isalnum():
            start -= 1
        name = _NAME.match(text, start)
        if name:
            names[name[0]] = None
            end = name.end()
    return names


def match_of(query: str, role: str = "") -> str:
    """Return the FTS5 expression for a query: all its words, in any order; "two words" next to each
    other; beg* for words that begin so. "" if it has no word. No query is an error."""
    terms = []
    for phrase, star, word in _PIECE.findall(_OURS.sub(" ", query[:MAX_QUERY_LENGTH])):
        begins = bool(star) or word.endswith("*")
        if term := _term(phrase or word, begins=begins):
            terms.append(term)
        if len(terms) == MAX_WORDS:
            break
    if terms and role:
        terms.append(f'"{ROLE}{role}"')
    return " AND ".join(dict.fromkeys(terms))


def _term(word: str, *, begins: bool) -> str:
    if not _LETTER.search(word):
        return ""
    spoken = _SPACELESS.sub(rf"{APART}\1{APART}", word)
    star = " *" if begins and spoken[-1:] != APART else ""
    term = f'"{spoken}"{star}'
    if _HUMP.search(word) and word.isascii():
        term = f'({term} OR "{" ".join(_WORD.findall(word))}"{star})'
    return term
