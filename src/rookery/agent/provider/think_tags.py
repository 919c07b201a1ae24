"""Splits off `<think>…</think>`, with which local models begin an answer if their server leaves it
in."""

OPEN, CLOSE = "<think>", "</think>"


class ThinkTags:
    """Splits a streamed text into thought and answer. Only a tag at the very beginning counts:
    further in, the model is writing about the tag."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"

    def feed(self, piece: str) -> tuple[str, str]:
        """Return the chunk's thought and answer. A possible beginning of a tag is held back."""
        text = self._held + piece
        self._held = ""
        thought = ""
        if self._state == "start":
            bare = text.lstrip()
            if bare.startswith(OPEN):
                self._state, text = "thinking", bare[len(OPEN) :].lstrip("\n")
            elif OPEN.startswith(bare):
                self._held = text
                return "", ""
            else:
                self._state = "answer"
        if self._state == "thinking":
            thought, closed, rest = text.partition(CLOSE)
            if not closed:
                kept = _begun(thought)
                self._held = thought[len(thought) - kept :]
                return thought[: len(thought) - kept], ""
            self._state, text, thought = "gap", rest, thought.rstrip("\n")
        if self._state == "gap":
            text = text.lstrip()
            if text:
                self._state = "answer"
        return thought, text

    def rest(self) -> tuple[str, str]:
        """Return what was held back, at the end."""
        held, self._held = self._held, ""
        return (held, "") if self._state == "thinking" else ("", held)


def split(text: str) -> tuple[str, str]:
    """Return the thought and the answer of a whole text."""
    tags = ThinkTags()
    thought, answer = tags.feed(text)
    more, last = tags.rest()
    return thought + more, answer + last


def _begun(text: str) -> int:
    """Return how many characters at the end of the text may be the beginning of the tag."""
    return next((n for n in range(len(CLOSE) - 1, 0, -1) if text.endswith(CLOSE[:n])), 0)
