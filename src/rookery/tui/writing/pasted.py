"""What is pasted: a long text is one chip above the composer, and goes with the prompt whole;
dropped files come as paths (quoted, escaped, or as URLs; one or several)."""

import os
import re
from urllib.parse import unquote, urlsplit

from rookery.core.json.safe_text import count

ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")
LONGEST = 4096
MOST = 32
LINES = 12
LETTERS = 2000


def image_paths(pasted: str) -> list[str]:
    """The paths of images; none if the text has anything else."""
    text = pasted.strip()
    if not text or len(text) > LONGEST * MOST:
        return []
    found: list[str] = []
    for line in text.splitlines():
        if bare := line.strip():
            paths = _of_line(bare)
            if not paths:
                return []
            found += paths
    return found


def _of_line(line: str) -> list[str]:
    """Unquoted spaces are part of a path, unless each word looks like one."""
    words = _words(line)
    if len(words) > 1 and all(_is_image(word) for word in words):
        return [os.path.expanduser(word) for word in words]
    path = path_of(line)
    return [os.path.expanduser(path)] if _is_image(path) else []


def _words(line: str) -> list[str]:
    import shlex  # not needed for the first paint

    try:
        return [_unwrapped(word) for word in shlex.split(line)]
    except ValueError:
        return []


def _is_image(path: str) -> bool:
    looks = path.startswith(("/", "~", "./", "../")) and path.lower().endswith(ENDINGS)
    return looks and len(path) <= LONGEST


def path_of(text: str) -> str:
    """Without its quotes and escapes."""
    if text[0] in "'\"" or re.search(r"\\.", text):
        words = _words(text)
        return words[0] if len(words) == 1 else text
    return _unwrapped(text)


def _unwrapped(word: str) -> str:
    """The path of a file URL."""
    if not word.startswith("file://"):
        return word
    try:
        return unquote(urlsplit(word).path)
    except ValueError:
        return word


def is_long(text: str) -> bool:
    return len(text) > LETTERS or text.strip("\n").count("\n") >= LINES


def name_of(text: str) -> str:
    return f"pasted text, {count(text.strip(chr(10)).count(chr(10)) + 1, 'line')}"


def joined(text: str, pasted: list[str]) -> str:
    """The prompt: what was written, then each paste as a paragraph of its own."""
    return "\n\n".join(each for each in (text, *pasted) if each.strip())
