"""The recap: the history that an agent new to a conversation needs.

Newest turns first, whole, as many as fit; one line for each tool call (what was done, to what, and
the result), without its output. The user may put it into a composer. After a rewind or a fork that
the agent cannot follow, the next prompt includes it."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from rookery.core.blocks import Block, Document, asks, captions
from rookery.core.blocks.notices import ENDS
from rookery.core.blocks.parts import Part, equal_ends
from rookery.core.json import lenient, safe_text
from rookery.core.policy import call_input
from rookery.core.policy.danger import PATH_KEYS

MAX_RECAP_LENGTH = 24_000
"""The longest recap, in characters, without the unprocessed prompt, which is quoted in full."""

MAX_TURNS = 20
"""Turns."""

TITLE = 200
HEAD = "Recap of the conversation so far, oldest first:"
END = "(End of the recap.)"
LEFT_OUT = "(Earlier turns omitted.)"
GAP = "\n\n(… the middle of this turn is omitted …)\n\n"
UNPROCESSED = "This prompt has not been processed yet:"

DONE = frozenset({"end_turn", "max_tokens", "max_turn_requests", "refusal"})
SAID = frozenset({"answer", "tool", "terminal", "plan"})
"""Blocks that show that the agent worked on the prompt."""


class Recap(NamedTuple):
    recap: str = ""
    """"": there is nothing to tell."""
    prompt: str = ""
    """The prompt that was not processed; "": all were."""

    def text(self) -> str:
        """Return the text to put into the composer."""
        last = f"{UNPROCESSED}\n\n{self.prompt}" if self.prompt and self.recap else self.prompt
        return "\n\n".join(part for part in (self.recap, last) if part)


def goes_with(prompt: str) -> bool:
    """Return whether a recap may precede a prompt: not if the user included one, nor if it is a
    command."""
    return HEAD not in prompt and not prompt.lstrip().startswith("/")


def recap_of(
    pages: Iterable[Document], longest: int = MAX_RECAP_LENGTH, most: int = MAX_TURNS
) -> Recap:
    """Build the recap of a session's turns, given newest first, each the document of its page up to
    where the conversation broke off. No page is requested beyond what there is room for."""
    turns = _ended(pages)
    newest = next(turns, None)
    if newest is None:
        return Recap()
    prompt = unprocessed(newest)
    kept = [] if prompt and not _worked(newest) else [newest]
    return Recap(_recap(map(turn_words, chain(kept, turns)), longest, most), prompt)


def _ended(pages: Iterable[Document]) -> Iterator[Document]:
    """Yield the turns that have ended; one still open where the conversation broke off goes to the
    next agent."""
    return (page for page in pages if page.header.turn > 0 and page.header.state == "idle")


def _recap(turns: Iterator[str], longest: int, most: int) -> str:
    room = longest - len(HEAD) - len(END) - 2
    kept: list[str] = []
    more = False
    for text in turns:
        # The sentence about what is left out has its place until it is known to be needless.
        if len(kept) == most or len(text) + 2 + len(LEFT_OUT) + 2 > room:
            more = True
            if not kept:
                kept.append(_cut(text, room - len(LEFT_OUT) - 4))
                more = next(turns, None) is not None
            break
        kept.append(text)
        room -= len(text) + 2
    if not kept:
        return ""
    return "\n\n".join([HEAD, *([LEFT_OUT] if more else []), *reversed(kept), END])


def _cut(text: str, room: int) -> str:
    """Return the head and tail of a turn that is too long by itself."""
    if len(text) <= room:
        return text
    left = max(0, room - len(GAP))
    head, tail = left - left // 2, left // 2
    return (text[:head] + GAP + text[len(text) - tail :])[: max(0, room)]


def unprocessed(page: Document) -> str:
    """Return the prompt of a turn that met a limit, or that broke off before the agent did
    anything."""
    reason = _reason(page)
    if reason in DONE or (reason != "rate_limited" and _worked(page)):
        return ""
    prompts = (_prompt(block) for block in page.blocks.values() if block["role"] == "prompt")
    return next(prompts, "")


def _reason(page: Document) -> str:
    """Return how the turn ended, from its own block, since a switch removes it from the header."""
    notices = [block for block in page.blocks.values() if block["role"] in ("error", "notice")]
    ends = [str(block["status"]) for block in notices if block["status"] in ENDS]
    return ends[-1] if ends else "end_turn"


def _worked(page: Document) -> bool:
    return any(block["role"] in SAID for block in page.blocks.values())


def turn_words(page: Document) -> str:
    """Render a turn as text: the messages with their authors, and a line for each tool call."""
    sections = [f"## Turn {page.header.turn}"]
    terminals: dict[str, list[Block]] = {}
    for block in page.blocks.values():
        if block["role"] == "terminal" and block["parent"]:
            terminals.setdefault(block["parent"], []).append(block)
    inside = set[str]()
    for block in page.blocks.values():
        above = page.blocks.get(block["parent"] or "")
        if above is not None and (above["id"] in inside or captions.is_subagent(above)):
            inside.add(block["id"])  # of what a sub-agent did, the result is told
            continue
        text = _block(block, terminals.get(block["id"], []), page.header.cwd)
        if text and text.startswith("- ") and sections[-1].startswith("- "):
            sections[-1] += "\n" + text
        elif text:
            sections.append(text)
    reason = _reason(page)
    if reason not in DONE:
        sections.append(f"(This turn ended early: {reason.replace('_', ' ')}.)")
    return "\n\n".join(sections)


def _block(block: Block, terminals: list[Block], cwd: str) -> str:
    match block["role"]:
        case "prompt":
            text = _prompt(block)
            who = f"Rookery ({block['title']})" if block["title"] else "Person"
            return f"**{who}:** {text}" if text else ""
        case "answer":
            text = block["text"].strip()
            return f"**Agent:** {text}" if text else ""
        case "tool":
            return _tool(block, terminals, cwd)
        case "terminal" if block["parent"] is None:
            return _tool(block, terminals, cwd)
        case "plan":
            return f"- {_line(block['title'])}"
        case "ask" if remark := captions.remark(block, safe_text.clean):
            did = {"allow": "allowed", "reject": "rejected"}.get(block["verdict"], "answered")
            about = asks.headline(block, cwd, safe_text.clean_line) or "that"
            return f"- The person {did} {_line(about)}: {_line(remark)}"
    return ""


def _prompt(block: Block) -> str:
    """Return the prompt's text, and the names of its attachments."""
    text = block["text"].strip()
    if text.startswith(HEAD) and END in text:  # a recap is not told again
        text = f"(a recap)\n{text.partition(END)[2].strip()}".strip()
    lines = [text] if text else []
    for part in block["parts"]:
        name = (
            lenient.text(part, "name") or lenient.text(part, "mime") or lenient.text(part, "type")
        )
        lines.append(f"[attached: {_line(name)}]")
    return "\n".join(lines)


def _tool(block: Block, terminals: list[Block], cwd: str) -> str:
    done, result = call_words(block, terminals, cwd)
    return f"- {_line(done)}" + (f" ({_line(result)})" if result else "")


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE else line[: TITLE - 1] + "…"


# --- a tool call in a line -----------------------------------------------------------------------

DID = {"read": "Read", "edit": "Edited", "delete": "Deleted", "move": "Moved"}
DID |= {"search": "Searched", "run": "Ran", "fetch": "Fetched", "think": "Thought about"}
_OF_A_FILE = ("read", "edit", "delete")
_ABOUT = (*PATH_KEYS, "url", "uri", "pattern", "query", "name", "description")
"""The input fields that name a call's object if its title is only a tool's name, best first."""


LONGEST_NAME = 100
"""Characters of a tool's name. A server's tool that is called with nothing has no more to tell."""


def call_words(block: Block, terminals: list[Block], cwd: str) -> tuple[str, str]:
    """Describe what a call did, and its result. `terminals`: those that belong to the call."""
    verb, about = _done_to(block, cwd)
    if verb in DID and about:
        phrase = f"{DID[verb]} {about}" if block["status"] == "done" else f"Tried to {verb} {about}"
    elif not verb and len(about.split()) == 1 and len(about) <= LONGEST_NAME:
        phrase = f"Used the tool {about}"
    else:
        phrase = about or verb or "Used a tool"
    return phrase, _result(block, terminals)


def _done_to(block: Block, cwd: str) -> tuple[str, str]:
    verb, about = captions.call_words(block, cwd, safe_text.clean)
    if verb == "run":
        about = safe_text.clean(captions.command_of(block)) or about
    if verb and about:
        return verb, about
    given = lenient.mapping(block, "input").get("value")
    places = [lenient.text(given, key) for key in PATH_KEYS] + lenient.texts(block, "locations")
    place = next((path for path in places if path), "")
    if place and block.get("kind") in _OF_A_FILE:
        return block["kind"], captions.short_path(place, cwd, safe_text.clean)
    if not about or not given or len(about.split()) > 1:
        return verb, about
    # `exec_command` alone says nothing: what it was given does.
    call = {"title": about, "kind": block.get("kind"), "rawInput": given}
    if lines := call_input.lines(call):
        return "run", lines[0]
    object_ = next((text for key in _ABOUT if (text := lenient.text(given, key))), "")
    return "", f"{about} {captions.short_path(object_, cwd, safe_text.clean)}".strip()


def _result(block: Block, terminals: list[Block]) -> str:
    if captions.is_rejected(block):
        return "rejected by the person"
    status = lenient.text(block, "status")
    if captions.is_subagent(block) and (result := lenient.text(block, "result")):
        return f"{status}: {result}"
    code = captions.exit_code(block, terminals)
    if code:
        return f"failed, exit code {code}" if status == "failed" else f"exit code {code}"
    if status == "done" and (diffs := captions.diffs(block)):
        return _changes(diffs)
    if captions.is_quiet(block) and (lines := captions.length_of(block)):
        return safe_text.count(lines, "line")
    return status


def _changes(diffs: list[Part]) -> str:
    added = removed = 0
    for part in diffs:
        old = lenient.text(part, "old").splitlines()
        new = lenient.text(part, "new").splitlines()
        same = sum(equal_ends(old, new))  # what is left between is about what changed
        added, removed = added + len(new) - same, removed + len(old) - same
    return f"+{added} −{removed} lines"
