"""What the model reads of an edit: the SDK's words around it are as many as a short edit's own."""

import re

_HEADER = re.compile(
    r"\A(The file [^\n]* has been edited\. )?Here's the result of running `cat -n`[^\n]*\n"
)
_REMINDER = re.compile(r"\nReview the changes and make sure they are as expected[^\n]*\Z")


def trimmed(text: str) -> str:
    """Lines of a file begin with their number: none is taken for such words."""
    found = _HEADER.match(text)
    if found is None:
        return text
    edited = (found[1] or "").rstrip()
    shown = text[found.end() :]
    return f"{edited}\n{_REMINDER.sub('', chr(10) + shown)[1:]}" if edited else shown
