"""Asks, notices, prompts and dividers as text."""

import time
from typing import Any

from rookery.cli.output import lines
from rookery.cli.output.paint import Paint
from rookery.cli.output.safe import clean, clean_line
from rookery.core.blocks import asks, captions
from rookery.core.blocks.document import Block
from rookery.core.json.safe_text import count
from rookery.core.settings.held import CONFIRM
from rookery.render.local_time import localized
from rookery.render.signs import notice_state


def of_prompt(block: Block, paint: Paint) -> list[str]:
    """With a rule at the left."""
    rule = paint.mark("rule")
    head = [paint.faint(clean_line(block["title"]))] if block["title"] else []
    body = clean(block["text"]).strip("\n").split("\n") if block["text"] else []
    for part in block["parts"]:
        body += lines.of_part(part, paint)
    return [f"{rule} {line}".rstrip() for line in [*head, *body]]


def of_thought(text: str, paint: Paint, *, full: bool = False) -> list[str]:
    """How long it is; in full: also what it says."""
    said = clean(text).strip()
    head = f"{paint.sign('thought')} thought · {count(len(text.strip()), 'character')}"
    body = said.split("\n") if full and said else []
    return [paint.faint(head), *(f"  {paint.faint(line)}".rstrip() for line in body)]


def of_notice(block: Block, paint: Paint) -> list[str]:
    """What happened, why, and what helps."""
    name = notice_state(block)
    text = localized(block, time.time() * 1000)
    body = clean(text).strip("\n").split("\n") if text.strip() else []
    head = clean_line(block["title"]) if block["title"] else body.pop(0) if body else ""
    for part in block["parts"]:
        body += lines.of_part(part, paint)
    mark = paint.mark(name)
    return [f"{mark} {paint.in_(name, head)}", *(f"  {line}" for line in body)]


def of_actions(block: Block, session: str, paint: Paint) -> list[str]:
    """The commands for a block's actions."""
    found = []
    for action in block["actions"]:
        match action:
            case {"choose": "agent", "command": {"do": "switch"}}:
                found.append(f"rookery switch-agent {session} AGENT")
            case {"compose": {"recap": int(seq)}}:
                found.append(f"rookery recap {session} --before {seq}")
            case {"label": "Retry now", "command": {"do": "prompt"}}:
                found.append(f"rookery retry {session}")
            case {"command": {"do": "settings"}}:
                found.append(CONFIRM)
            case {"window": "log"}:
                found.append(f"rookery logs {session}")
            case {"command": {"do": "restart"}}:
                found.append(f"rookery restart {session}")
            case _:
                continue
        found[-1] = f"  {clean_line(action['label'])}: {found[-1]}"
    return [paint.faint(line) for line in found]


def of_divider(block: Block, paint: Paint) -> list[str]:
    rule = paint.sign("line") * 2
    words = clean_line(block["title"])
    text = clean(block["text"]).strip().split("\n") if block["text"].strip() else []
    return [paint.faint(f"{rule} {words} {rule}"), *(paint.faint(f"   {line}") for line in text)]


def of_raw(block: Block, paint: Paint) -> str:
    """An update of an unknown kind."""
    value = block["parts"][0].get("value") if block["parts"] else ""
    title = clean_line(block["title"])
    return paint.faint(f"{paint.sign('dot')} {title} {lines.short_json(value, 160)}")


# ---------------------------------------------------------------- asks


def of_ask(block: Block, paint: Paint, agent: str, cwd: str = "") -> list[str]:
    """What will happen, in full, then the agent's options in its order."""
    danger = clean_line(block.get("danger", ""))
    name = "failed" if danger else "needs-you"
    found = [f"{paint.mark('needs-you')} {paint.in_(name, asks.question(block, agent, cwd))}"]
    for piece in asks.pieces(block, agent, cwd):
        found += _piece(piece, paint)
    for part in block["parts"]:
        if asks.says_more(part, block):
            found += [f"    {line}" for line in lines.of_part(part, paint, full=True)]
    if danger:
        found.append(f"  {paint.in_('failed', f'cannot be undone: this {danger}')}")
    found += [_option(number, action, paint) for number, action in enumerate(block["actions"], 1)]
    if danger:  # an edge along the card
        found = [f"{paint.in_('failed', paint.sign('rule'))} {line}" for line in found]
    return found


def _piece(piece: asks.Piece, paint: Paint) -> list[str]:
    """What will run has an edge, so that it cannot pass for our own text."""
    match piece.look:
        case "words":
            return [f"  {clean(piece.text)}"]
        case "note":
            return [f"    {paint.in_('warn', piece.text)}"]
        case "diff":
            path = [clean_line(piece.text)] if piece.text else []
            body = lines.of_diff(piece.part or {}, paint, full=True)
            return [f"    {line}" for line in path + body]
    edge = paint.faint(paint.sign("edge"))
    return [f"    {edge} {line}".rstrip() for line in clean(piece.text).split("\n")]


def _option(number: int, action: dict[str, Any], paint: Paint) -> str:
    label = f"  {number}  {clean_line(action['label'])}"
    why = clean_line(action.get("disabled", ""))
    if why:
        return paint.faint(f"{label} (not available. {why})")
    return label + (f" {paint.sign('dot')} asks again" if action.get("danger") else "")


def of_outcome(block: Block, paint: Paint) -> str:
    """How an ask ended, and where: `Allow once · cli`."""
    said = captions.outcome(block)
    name = "stopped" if block["status"] == "cancelled" else "note"
    return f"  {paint.sign('answer')} {paint.in_(name, said)}"
