"""Exporting a session as Markdown."""

import re
from collections.abc import Iterator
from typing import Any

from rookery.core.agent.names import agent_name
from rookery.core.blocks import captions
from rookery.core.blocks.document import Block
from rookery.core.json import lenient
from rookery.export.turns import about, turns
from rookery.log.reader import Reader
from rookery.render.call import extras
from rookery.render.diff import GAP, rows_of
from rookery.render.nesting import DEEPEST, Families, families_of, tops
from rookery.render.runs import clean, clean_line
from rookery.render.terminal import lines_of


def pieces(log: Reader, first: int, last: int | None) -> Iterator[str]:
    header = about(log)
    yield f"# {clean_line(header.title) or 'Session'}"
    facts = (agent_name(header), header.model, header.cwd)
    if line := " · ".join(clean_line(each) for each in facts if each):
        yield f"\n\n{line}"
    for turn in turns(log, first, last):
        families = families_of(turn.blocks)
        for block in tops(turn.blocks):
            for piece in _pieces(block, families, header.cwd):
                yield f"\n\n{piece}"
    yield "\n"


def _pieces(block: Block, families: Families, cwd: str, depth: int = 0) -> Iterator[str]:
    """Yield a block, and what is nested in it. A sub-agent's is quoted, so that nobody takes it for
    the agent's own text."""
    if piece := _piece(block, families.terminals.get(block["id"], []), cwd).strip():
        yield piece
    below = families.children.get(block["id"], [])
    inner = [piece for each in below for piece in _pieces(each, families, cwd, depth + 1)]
    if captions.is_subagent(block) and inner and depth <= DEEPEST:
        yield _quoted("\n\n".join(inner))
    else:
        yield from inner


def _piece(block: Block, terminals: list[Block], cwd: str) -> str:
    text = clean(block["text"]).strip("\n")
    match block["role"]:
        case "prompt":
            who = f"## Rookery: {clean_line(block['title'])}" if block["title"] else "## You"
            return "\n\n".join([who, *filter(None, [_quoted(text)]), *_attached(block)])
        case "message":
            title = f"*{clean_line(block['title'])}*" if block["title"] else ""
            return "\n\n".join(filter(None, [title, text, *_attached(block)]))
        case "answer":
            return "\n\n".join(filter(None, [text, *_attached(block)]))
        case "thought":
            return f"<details><summary>Thought</summary>\n\n{text}\n\n</details>"
        case "tool" | "terminal":
            return _call(block, terminals, text, cwd)
        case "plan":
            return "\n".join(_steps(block))
        case "divider":
            return f"---\n\n*{clean_line(block['title'])}*\n\n{text}"
        case "raw":
            return ""
    if lenient.text(block, "where"):  # an ask that a device answered
        text = captions.outcome(block)
    if remark := captions.remark(block, clean):
        text = f"{text}\n\n{remark}"
    title = clean_line(block["title"])
    return _quoted("\n\n".join(filter(None, (f"**{title}**" if title else "", text))))


def _call(block: Block, terminals: list[Block], text: str, cwd: str) -> str:
    label = " ".join(filter(None, captions.call_words(block, cwd, clean_line)))
    status = captions.status_of(block) or "done"
    lines = [f"- **{label}** ({status})"]
    if captions.is_subagent(block):
        extra_facts = extras(block, terminals, lenient.number(block, "seconds"))
        lines = [f"- **{label}** ({', '.join([status, *(content for content, _ in extra_facts)])})"]
    texts = [(text, "")] if text else []
    if captions.is_command(block) and "\n" in (command := captions.command_of(block)):
        texts.insert(0, (clean(command), "sh"))
    for part in captions.parts_of(block):
        match part:
            case {"type": "markdown" | "terminal", "text": str(content)}:
                texts.append((captions.unfenced(_printed(content)).strip("\n"), ""))
            case {"type": "diff"}:
                texts.append((_diff(part), "diff"))
    texts += [(_printed(each["text"]).strip("\n"), "") for each in terminals]
    return "\n\n".join([*lines, *(_fenced(each, kind) for each, kind in texts if each)])


def _printed(text: str) -> str:
    """Return output without its colours, as a terminal would show it."""
    if "\x1b" not in text and "\r" not in text.replace("\r\n", "\n"):
        return clean(text)

    return "\n".join("".join(segment for segment, _ in line) for line in lines_of(text))


def _attached(block: Block) -> Iterator[str]:
    for part in block["parts"]:
        match part:
            case {"type": "markdown", "text": str(content), "name": str(name)}:
                yield f"*{clean_line(name)}*\n\n{_fenced(clean(content).strip(), '')}"
            case {"type": "markdown", "text": str(content)}:
                yield clean(content).strip()
            case {"type": "image"}:
                yield f"*image: {clean_line(_name(part))}*"
            case {"type": "link"}:
                yield f"*{clean_line(_name(part))}*"


def _name(part: dict[str, Any]) -> str:
    candidates = (lenient.text(part, key) for key in ("name", "uri", "mime"))
    return next(filter(None, candidates), "unnamed")


def _diff(part: dict[str, Any]) -> str:
    head = f"--- {clean_line(lenient.text(part, 'path'))}"
    rows = (f"{row.sign or ' '}{row.text}" if row.sign != GAP else "@@" for row in rows_of(part))
    return "\n".join([head, *rows])


def _steps(block: Block) -> Iterator[str]:
    yield f"**{clean_line(block['title'])}**\n"
    for part in block["parts"]:
        for item in lenient.mappings(part, "items"):
            mark = "x" if lenient.text(item, "status") == "completed" else " "
            yield f"- [{mark}] {clean_line(lenient.text(item, 'text'))}"
        match part:
            case {"type": "markdown", "text": str(text)}:
                yield _quoted(clean(text).strip("\n"))
            case {"type": "link", "uri": str(uri)}:
                yield f"<{clean_line(uri)}>"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n")) if text else ""


def _fenced(text: str, kind: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{text}\n{fence}"
