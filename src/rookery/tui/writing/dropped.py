"""Paths as terminals paste dropped files: quoted, escaped, or as URLs; one or several."""

import os
import re
import shlex
from urllib.parse import unquote, urlsplit

ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")
LONGEST = 4096
MOST = 32


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
