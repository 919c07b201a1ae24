"""The queued prompts of a session, in a few lines."""

from rookery.cli.output.safe import clean_line, cut
from rookery.core.asks import kept_asks
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import count


def is_held(header: Header) -> bool:
    """Tell whether prompts are held, to be sent by hand: a turn was cancelled or failed."""
    waits = [item for item in header.queue if not item.get("placeless")]
    return header.state == "idle" and bool(waits)


def waits_for_user(header: Header) -> bool:
    """Tell whether queued prompts are not sent before the user acts."""
    ended_well = header.reason in ("", "end_turn")
    return is_held(header) and (not ended_well or kept_asks.unanswered(header) > 0)


def why_held(session: str, header: Header) -> str:
    """Return why the prompt is held, with the command that sends it."""
    if kept_asks.unanswered(header):
        return f"An open question comes first: rookery answer {session}"
    lines = ["The previous turn did not end well: the prompt is held.", *strip(header)]
    return "\n".join([*lines, f"rookery queue {session} send"])


def held_queue(session: str, header: Header) -> str:
    """Return how many prompts are held, and what can be done about it; "" if none is."""
    if not is_held(header) or kept_asks.unanswered(header):
        return ""
    number = len(header.queue)
    these, are = ("it", "is") if number == 1 else ("them", "are")
    send = f"  rookery queue {session} send    to send {these}"
    clear = f"  rookery queue {session} clear   to remove {these}"
    return "\n".join([f"{count(number, 'queued prompt')} {are} held.", send, clear])


def strip(header: Header, width: int = 76) -> list[str]:
    """Return one line for each queued prompt."""
    return [
        cut(f"  {number}  {_text(item['prompt'])}", width)
        for number, item in enumerate(header.queue, 1)
    ]


def placeless() -> str:
    return (
        "The maximum number of sessions is running (max_workers) and none is idle. The "
        "prompt is queued and starts automatically."
    )


def _text(prompt: list[Json]) -> str:
    texts = [lenient.text(block, "text") for block in prompt if block.get("type") == "text"]
    more = len(prompt) - len(texts)
    text = clean_line(" ".join(texts)) or "(no text)"
    return f"{text} (+ {count(more, 'attachment')})" if more else text
