"""Words as a line that a shell reads as these words."""

import re

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "mksh", "rbash"})


def line_of(words: list[str]) -> str:
    """An argv as one line. What a shell is told to run is the line itself."""
    if len(words) >= 3 and words[0].rpartition("/")[2] in SHELLS:
        flag = words[1]
        if flag.startswith("-") and not flag.startswith("--") and flag.endswith("c"):
            return words[2] if len(words) == 3 else " ".join(map(_quote, words))
    return " ".join(map(_quote, words))


_PLAIN = re.compile(r"[\w@%+=:,./*?-]{1,10000}")


def _quote(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"
