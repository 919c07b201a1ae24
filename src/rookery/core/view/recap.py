"""The recap: what an agent new to a conversation needs to know of it.

Newest turns first, whole, as many as there is room for; one line for each tool (what was done, to
what, and what came of it), nothing of what it put out. The user may put it into a composer. After a
rewind or a fork that the agent cannot follow, the next prompt brings it along.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from rookery.core.blocks import Block, Document, asks, captions
from rookery.core.blocks.notices import ENDS
from rookery.core.blocks.parts import Part, equal_ends
from rookery.core.json import lenient, safe_text
from rookery.core.policy import call_input
from rookery.core.policy.danger import PATH_KEYS

LONGEST = 24_000
"""Characters of a recap, without the prompt that was not processed: that is quoted in full."""

MOST = 20
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
        """What goes into the composer."""
        last = f"{UNPROCESSED}\n\n{self.prompt}" if self.prompt and self.recap else self.prompt
        return "\n\n".join(part for part in (self.recap, last) if part)


def goes_with(words: str) -> bool:
    """Whether a recap may stand before a prompt: not where the user sent one, nor before a
    command."""
    return HEAD not in words and not words.lstrip().startswith("/")


def recap_of(pages: Iterable[Document], longest: int = LONGEST, most: int = MOST) -> Recap:
    """Of a session's turns, newest first, each the document of its page up to where the
    conversation broke off; none is asked for beyond what there is room for."""
    turns = _ended(pages)
    newest = next(turns, None)
    if newest is None:
        return Recap()
    prompt = unprocessed(newest)
    told = [] if prompt and not _worked(newest) else [newest]
    return Recap(_recap(map(turn_words, chain(told, turns)), longest, most), prompt)


def _ended(pages: Iterable[Document]) -> Iterator[Document]:
    """A turn that is still open where the conversation broke off goes to the agent that comes."""
    return (page for page in pages if page.header["turn"] > 0 and page.header["state"] == "idle")


def _recap(turns: Iterator[str], longest: int, most: int) -> str:
    room = longest - len(HEAD) - len(END) - 2
    kept: list[str] = []
    more = False
    for words in turns:
        # The sentence about what is left out has its place until it is known to be needless.
        if len(kept) == most or len(words) + 2 + len(LEFT_OUT) + 2 > room:
            more = True
            if not kept:
                kept.append(_cut(words, room - len(LEFT_OUT) - 4))
                more = next(turns, None) is not None
            break
        kept.append(words)
        room -= len(words) + 2
    if not kept:
        return ""
    return "\n\n".join([HEAD, *([LEFT_OUT] if more else []), *reversed(kept), END])


def _cut(words: str, room: int) -> str:
    """Its head and its tail, where one turn alone is too long."""
    if len(words) <= room:
        return words
    left = max(0, room - len(GAP))
    head, tail = left - left // 2, left // 2
    return (words[:head] + GAP + words[len(words) - tail :])[: max(0, room)]


def unprocessed(page: Document) -> str:
    """The prompt of a turn that met a limit, or that broke off before the agent did anything."""
    reason = _reason(page)
    if reason in DONE or (reason != "rate_limited" and _worked(page)):
        return ""
    prompts = (_prompt(block) for block in page.blocks.values() if block["role"] == "prompt")
    return next(prompts, "")


def _reason(page: Document) -> str:
    """How the turn ended: by its own block, since a switch takes it out of the header."""
    told = [block for block in page.blocks.values() if block["role"] in ("error", "notice")]
    ends = [str(block["status"]) for block in told if block["status"] in ENDS]
    return ends[-1] if ends else "end_turn"


def _worked(page: Document) -> bool:
    return any(block["role"] in SAID for block in page.blocks.values())


def turn_words(page: Document) -> str:
    """A turn as text: who said what, and a line for each tool."""
    found = [f"## Turn {page.header['turn']}"]
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
        words = _block(block, terminals.get(block["id"], []), page.header["cwd"])
        if words and words.startswith("- ") and found[-1].startswith("- "):
            found[-1] += "\n" + words
        elif words:
            found.append(words)
    reason = _reason(page)
    if reason not in DONE:
        found.append(f"(This turn ended early: {reason.replace('_', ' ')}.)")
    return "\n\n".join(found)


def _block(block: Block, terminals: list[Block], cwd: str) -> str:
    match block["role"]:
        case "prompt":
            words = _prompt(block)
            who = f"Rookery ({block['title']})" if block["title"] else "Person"
            return f"**{who}:** {words}" if words else ""
        case "answer":
            words = block["text"].strip()
            return f"**Agent:** {words}" if words else ""
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
    """Its words, and the names of what was attached."""
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
"""What names the object of a call whose title is no more than a tool's name, best first."""


LONGEST_NAME = 100
"""Characters of a tool's name. A server's tool that is called with nothing has no more to tell."""


def call_words(block: Block, terminals: list[Block], cwd: str) -> tuple[str, str]:
    """What was done, and the result. `terminals`: those that belong to the call."""
    verb, about = _done_to(block, cwd)
    if verb in DID and about:
        told = f"{DID[verb]} {about}" if block["status"] == "done" else f"Tried to {verb} {about}"
    elif not verb and len(about.split()) == 1 and len(about) <= LONGEST_NAME:
        told = f"Used the tool {about}"
    else:
        told = about or verb or "Used a tool"
    return told, _result(block, terminals)


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
    object_ = next((said for key in _ABOUT if (said := lenient.text(given, key))), "")
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
