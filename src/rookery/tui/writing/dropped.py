"""A path as terminals paste it when a file is dropped on them: quoted, escaped, or as an
address."""

import os
import re
import shlex
from urllib.parse import unquote, urlsplit

ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")
LONGEST = 4096


def image_path(pasted: str) -> str:
    """The path of an image; empty where the text is anything else."""
    text = pasted.strip()
    if not text or len(text) > LONGEST or "\n" in text:
        return ""
    path = path_of(text)
    looks = path.startswith(("/", "~", "./", "../")) and path.lower().endswith(ENDINGS)
    return os.path.expanduser(path) if looks else ""


def path_of(text: str) -> str:
    """Without its quotes and escapes."""
    if text.startswith("file://"):
        return unquote(urlsplit(text).path)
    if text[0] in "'\"" or re.search(r"\\.", text):
        try:
            words = shlex.split(text)
        except ValueError:
            return text
        return words[0] if len(words) == 1 else text
    return text
