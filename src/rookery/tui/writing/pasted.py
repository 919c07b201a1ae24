"""Handling of pastes: a long text becomes a chip above the composer and is sent with the prompt in
full; dropped files arrive as paths (quoted, escaped, or as URLs; one or several)."""

import os
import re
import shlex
from urllib.parse import unquote, urlsplit

from rookery.core.json.safe_text import count

ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")
MAX_PATH_LENGTH = 4096
MAX_IMAGES = 32
LINES = 12
LETTERS = 2000


def image_paths(pasted: str) -> list[str]:
    """Return the paths of images; none if the text contains anything else."""
    text = pasted.strip()
    if not text or len(text) > MAX_PATH_LENGTH * MAX_IMAGES:
        return []
    images: list[str] = []
    for line in text.splitlines():
        if bare := line.strip():
            paths = _of_line(bare)
            if not paths:
                return []
            images += paths
    return images


def _of_line(line: str) -> list[str]:
    """Return the paths in a line. Unquoted spaces are part of a path, unless each word looks like
    one."""
    tokens = _tokens(line)
    if len(tokens) > 1 and all(_is_image(word) for word in tokens):
        return [os.path.expanduser(word) for word in tokens]
    path = path_of(line)
    return [os.path.expanduser(path)] if _is_image(path) else []


def _tokens(line: str) -> list[str]:
    try:
        return [_unwrapped(word) for word in shlex.split(line)]
    except ValueError:
        return []


def _is_image(path: str) -> bool:
    looks = path.startswith(("/", "~", "./", "../")) and path.lower().endswith(ENDINGS)
    return looks and len(path) <= MAX_PATH_LENGTH


def path_of(text: str) -> str:
    """Return the path without its quotes and escapes."""
    if text[0] in "'\"" or re.search(r"\\.", text):
        tokens = _tokens(text)
        return tokens[0] if len(tokens) == 1 else text
    return _unwrapped(text)


def _unwrapped(word: str) -> str:
    """Return the path of a file URL; anything else is returned unchanged."""
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
    """Return the whole prompt: the text, then each paste as a paragraph of its own."""
    return "\n\n".join(each for each in (text, *pasted) if each.strip())
