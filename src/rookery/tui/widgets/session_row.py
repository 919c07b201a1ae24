"""A session as a row of the list: its state, title and age; below, its agent and directory."""

from rookery.core.blocks import Block
from rookery.core.json import lenient
from rookery.core.view.fleet import STATE_WORDS
from rookery.home.paths import with_tilde
from rookery.tui.look.palette import Look
from rookery.tui.look.runs import Line, clean_line, trimmed, width_of, width_of_line

AGES = ((86_400, "d"), (3600, "h"), (60, "min"))


TOLD = frozenset({"needs-you", "running", "idle", "asleep"})
"""States that the heading above a session says, or its sign."""


def age(block: Block, now: int) -> str:
    """Since its last news, in one unit."""
    seconds = max(0, now - int(block["at"])) // 1000
    found = (f"{seconds // size} {unit}" for size, unit in AGES if seconds >= size)
    return next(found, "now")


def title(block: Block, look: Look, width: int, now: int, *, strong: bool, unread: bool) -> Line:
    """The first line; in the one-line list, the only one."""
    sign, style = look.states.get(block["status"], look.states["idle"])
    name = clean_line(block["title"])
    end: Line = [(f" {age(block, now)} ", look.faint)]
    if unread:
        end.append(("•", look.accent))
    room = width - width_of_line(end)
    line = trimmed([(f"{sign} ", style), (name, look.heading if strong else look.ink)], room)
    gap = max(0, room - width_of_line(line))
    return [*line, (" " * gap, look.plain), *end]


def details(block: Block, look: Look, width: int) -> Line:
    """Agent, directory, the plan's progress and the queue; its state where no heading says it."""
    sign_style = look.states.get(block["status"], look.states["idle"])[1]
    state = "" if block["status"] in TOLD else STATE_WORDS.get(block["status"], block["status"])
    words = [clean_line(block["agent"])]
    if block["queue"]:
        words.append(f"{block['queue']} queued")
    done, steps = [*lenient.sequence(block, "plan"), 0, 0][:2]
    if steps:
        words.append(f"plan {done}/{steps}")
    line: Line = [("  ", look.plain), (f"{state} · " if state else "", sign_style)]
    line.append((" · ".join(words), look.soft))
    cwd = with_tilde(clean_line(str(block["cwd"])))
    room = width - width_of_line(line) - 4
    if cwd and room >= min(8, width_of(cwd)):
        line.append((f" · {_end_of(cwd, room)}", look.soft))
    return trimmed(line, width)


def _end_of(path: str, room: int) -> str:
    """A path's end says more than its beginning: whole folders of it, if they fit."""
    if width_of(path) <= room:
        return path
    kept = path
    while width_of(kept) > room - 1 and "/" in kept[1:]:
        kept = kept[kept.index("/", 1) :]
    while width_of(kept) > room - 1:
        kept = kept[1:]
    return f"…{kept}"


def matches(block: Block, words: str) -> bool:
    """Whether a session has all the words of a filter."""
    about = " ".join(str(block[key]) for key in ("id", "title", "agent", "cwd", "status"))
    about = f"{about} {STATE_WORDS.get(block['status'], '')}".casefold()
    return all(word in about for word in words.casefold().split())
