"""A tool call in a line: what was done, to what, and what came of it."""

from rookery.core.blocks import captions
from rookery.core.blocks.document import Block
from rookery.core.blocks.parts import Part, equal_ends
from rookery.core.json import lenient, safe_text
from rookery.core.policy import call_input
from rookery.core.policy.danger import PATH_KEYS

DONE = {"read": "Read", "edit": "Edited", "delete": "Deleted", "move": "Moved"}
DONE |= {"search": "Searched", "run": "Ran", "fetch": "Fetched", "think": "Thought about"}
_OF_A_FILE = ("read", "edit", "delete")
_ABOUT = (*PATH_KEYS, "url", "uri", "pattern", "query", "name", "description")
"""What names the object of a call whose title is no more than a tool's name, best first."""


LONGEST_NAME = 100
"""Characters of a tool's name. A server's tool that is called with nothing has no more to tell."""


def words(block: Block, terminals: list[Block], cwd: str) -> tuple[str, str]:
    """What was done, and the result. `terminals`: those that belong to the call."""
    verb, about = _done_to(block, cwd)
    if verb in DONE and about:
        told = f"{DONE[verb]} {about}" if block["status"] == "done" else f"Tried to {verb} {about}"
    elif not verb and len(about.split()) == 1 and len(about) <= LONGEST_NAME:
        told = f"Used the tool {about}"
    else:
        told = about or verb or "Used a tool"
    return told, _result(block, terminals)


def _done_to(block: Block, cwd: str) -> tuple[str, str]:
    verb, about = captions.call_words(block, cwd, safe_text.clean)
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
    status = lenient.text(block, "status")
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
