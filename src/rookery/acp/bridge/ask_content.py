"""What an editor's dialog says of an ask: everything that will run, before what the agent calls it.

Editors render Markdown, which could hide a part of a command: what is not ours is quoted as code.
"""

import os
import re

from rookery.core.blocks import asks, captions
from rookery.core.blocks.parts import diffs
from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import clean_line
from rookery.core.tools.calls import key_of

_MARKUP = re.compile(r"[*<>\[\]`~\\]|\b_|_\b|&\w+;")


def told(call: Json, ask: Json, header: Json) -> Json:
    """The call of a permission request; unchanged if its title says everything."""
    block = asks.block_of(ask, header)
    added = _added(block, ask, header)
    if added:
        call = {**call, "content": [*added, *lenient.sequence(call, "content")]}
    title = asks.headline(block, header["cwd"], _ticked)
    if title and (added or _MARKUP.search(lenient.text(call, "title") or "*")):
        call = {**call, "title": title}
    if ask.get("decide"):
        said = lenient.text(call, "title") or lenient.text(ask, "message")
        return {**call, "title": f"{said} — {lenient.text(ask, 'why')}"}
    danger = lenient.text(ask, "danger")
    if danger:  # said here, so that the answer is the confirmation
        call = {**call, "title": f"⚠ This {danger}: {lenient.text(call, 'title')}"}
    return call


def small(call: Json, session: str) -> Json:
    """If the whole is too large for a message."""
    text = {"type": "text", "text": f"Too large to show here: rookery answer {session}"}
    kept: Json = {key: value for key, value in call.items() if key in ("toolCallId", "kind")}
    listed = [{"type": "content", "content": text}]
    return {**kept, "title": lenient.text(call, "title")[:1000], "content": listed}


def _added(block: Json, ask: Json, header: Json) -> list[Json]:
    """What goes before the agent's own content, if that does not say it."""
    given = lenient.mapping(ask, "toolCall")
    mine = key_of(given) if diffs(given) else None
    own = _own_texts(given)
    pieces = asks.pieces(block, header["agent"], header["cwd"], _ticked, short=False)
    found: list[Json] = []
    words = [piece for piece in pieces if piece.look != "diff" and piece.text not in own]
    if words:
        text = {"type": "text", "text": "\n\n".join(map(_markdown, words))}
        found.append({"type": "content", "content": text})
    for piece in pieces:
        if (part := piece.part) is not None and piece.call != mine:
            path = os.path.join(header["cwd"], lenient.text(part, "path"))
            sides = {"oldText": part.get("old"), "newText": part.get("new")}
            found.append({"type": "diff", "path": path, **sides})
    return found


def _own_texts(given: Json) -> list[str]:
    """What the agent's content says in fences, such as the command."""
    found = []
    for part in lenient.mappings(given, "content"):
        text = lenient.text(lenient.mapping(part, "content"), "text").strip()
        if text.startswith("```") and text.count("```") == 2:
            found.append(captions.unfenced(text).strip("\n"))
    return found


def _markdown(piece: asks.Piece) -> str:
    if piece.look in ("words", "note"):
        return piece.text
    fence = "```"
    while fence in piece.text:
        fence += "`"
    return f"{fence}{'sh' if piece.look == 'code' else ''}\n{piece.text}\n{fence}"


def _ticked(text: str) -> str:
    """On one line, as code if it has markup."""
    line = clean_line(text)
    if not _MARKUP.search(line):
        return line
    ticks = "`"
    while ticks in line:
        ticks += "`"
    pad = " " if len(ticks) > 1 else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"
