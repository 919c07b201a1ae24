"""Converts a response to text for a model: HTML to Markdown, other text as it is; anything else is
refused with a message."""

import codecs
import re

from rookery.agent.files import encodings
from rookery.agent.files.text import REPLACED
from rookery.agent.web.connection import Response
from rookery.agent.web.failure import Failure
from rookery.agent.web.markdown import markdown
from rookery.core.command_line.syntax import listed

HTML = ("text/html", "application/xhtml+xml")
TEXTS = listed(
    "application/json application/xml application/javascript application/x-javascript "
    "application/ecmascript application/yaml application/x-yaml application/toml application/x-sh "
    "application/graphql application/sql application/x-ndjson"
)
UNKNOWN = ("", "application/octet-stream", "binary/octet-stream")
NO_TEXT = "The page has no text: it may need JavaScript, which is not run."
SAMPLE = 8192

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)


def text_of(response: Response) -> str:
    """Return the text of a response. Raises Failure."""
    kind = response.type
    is_html = kind in HTML or (kind in UNKNOWN and _looks_like_html(response.body))
    is_text = (
        is_html or kind.startswith("text/") or kind in TEXTS or kind.endswith(("+json", "+xml"))
    )
    if not is_text and kind not in UNKNOWN:
        raise Failure(
            f"{response.url} is {kind} ({len(response.body):,} bytes{' or more' * response.cut}), "
            "which is not read here. A command can download it."
        )
    text = _decoded(response)
    if not is_html:
        return text
    return markdown(text, response.url) or NO_TEXT


def _looks_like_html(body: bytes) -> bool:
    return body[:SAMPLE].lstrip().lower().startswith((b"<!doctype html", b"<html"))


def _decoded(response: Response) -> str:
    """Decode the body by its mark, its declared charset, and if that is wrong, its bytes."""
    body = response.body
    encoding, mark = encodings.detect(body[:SAMPLE])
    if not mark and _is_binary(body[:SAMPLE]):
        raise Failure(
            f"{response.url} is not text, although it is sent as {response.type or 'unknown'}."
        )
    declared = _DECLARED.search(body[:2048])
    wanted = [encoding] if mark else [response.charset, declared[1].decode() if declared else ""]
    for name in (*wanted, encodings.UTF_8):
        try:
            decoder = codecs.getincrementaldecoder(name or "-")()
            return str(decoder.decode(body[len(mark) :], final=not response.cut))
        except (UnicodeError, LookupError, TypeError, AttributeError):
            continue
    encoding, _ = encodings.detect(body)
    return body.decode(encoding, "replace").replace("\x00", REPLACED)


def _is_binary(sample: bytes) -> bool:
    return b"\0" in sample or len(_CONTROL.findall(sample)) > len(sample) / 50
