"""Shortens the results of edits for the model: the SDK's text around one is as long as a short
edit."""

import re

_HEADER = re.compile(
    r"\A(The file [^\n]* has been edited\. )?Here's the result of running `cat -n`[^\n]*\n"
)
_REMINDER = re.compile(r"\nReview the changes and make sure they are as expected[^\n]*\Z")


def trimmed(text: str) -> str:
    """Remove the SDK's header and reminder. A file's lines, with their numbers, never match."""
    header = _HEADER.match(text)
    if header is None:
        return text
    edited = (header[1] or "").rstrip()
    shown = text[header.end() :]
    return f"{edited}\n{_REMINDER.sub('', chr(10) + shown)[1:]}" if edited else shown
