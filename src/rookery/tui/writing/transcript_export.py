"""A session's transcript as a Markdown file."""

import os
import re
from collections.abc import Iterator

from rookery.core.blocks import Block, Document, captions
from rookery.core.json import lenient
from rookery.home.paths import session_dir
from rookery.log.reader import Reader
from rookery.render.plain import clean, clean_line

LONGEST_NAME = 60
ATTEMPTS = 1000


def export(home: str, session: str, wanted: str, cwd: str) -> str:
    """The path that was written; an existing file is never replaced. Raises OSError, LogError."""
    with Reader.open(session_dir(home, session)) as log:
        document = _whole(log)
    text = "\n\n".join(_pieces(document)) + "\n"
    base = os.path.join(cwd, os.path.expanduser(wanted)) if wanted else ""
    if not base or os.path.isdir(base):
        base = os.path.join(base or cwd, _name(document.header["title"] or session))
    stem, end = os.path.splitext(base)
    for number in range(1, ATTEMPTS):
        path = f"{stem}-{number}{end}" if number > 1 else base
        try:
            with open(path, "x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            continue
        return path
    raise FileExistsError(f"{base} exists")


def _whole(log: Reader) -> Document:
    from rookery.core.view.reduce import reduce

    document, after = Document(), 0
    while events := log.read(after):
        for event in events:
            reduce(document, event)
        after = events[-1].seq
    return document


def _name(title: str) -> str:
    words = re.sub(r"[^\w]+", "-", clean_line(title).lower()).strip("-")
    return f"{words[:LONGEST_NAME].strip('-') or 'session'}.md"


def _pieces(document: Document) -> Iterator[str]:
    header = document.header
    yield f"# {clean_line(header['title']) or 'Session'}"
    about = (header["agent"], header["model"], header["cwd"])
    yield " · ".join(clean_line(str(each)) for each in about if each)
    for block in document.blocks.values():
        if piece := _piece(block, str(header["cwd"])).strip():
            yield piece


def _piece(block: Block, cwd: str) -> str:
    text = clean(block["text"]).strip("\n")
    match block["role"]:
        case "prompt":
            return "## You\n\n" + _quoted(text)
        case "answer":
            return text
        case "thought":
            return f"<details><summary>Thought</summary>\n\n{text}\n\n</details>"
        case "tool" | "terminal":
            return _call(block, text, cwd)
        case "plan":
            return "\n".join(_steps(block))
        case "divider":
            return f"---\n\n*{clean_line(block['title'])}*\n\n{text}"
        case "raw":
            return ""
    title = clean_line(block["title"])
    return _quoted("\n\n".join(filter(None, (f"**{title}**" if title else "", text))))


def _call(block: Block, text: str, cwd: str) -> str:
    words = " ".join(filter(None, captions.call_words(block, cwd, clean_line)))
    found = [f"- **{words}** ({block['status'] or 'done'})"]
    texts = [(text, "")] if text else []
    for part in captions.parts_of(block):
        match part:
            case {"type": "markdown" | "terminal", "text": str(said)}:
                texts.append((captions.unfenced(clean(said)).strip("\n"), ""))
            case {"type": "diff"}:
                texts.append((_diff(part), "diff"))
    return "\n\n".join([*found, *(_fenced(each, kind) for each, kind in texts if each)])


def _diff(part: dict[str, object]) -> str:
    from rookery.render.diff import GAP, rows_of

    head = f"--- {clean_line(lenient.text(part, 'path'))}"
    rows = (f"{row.sign or ' '}{row.text}" if row.sign != GAP else "@@" for row in rows_of(part))
    return "\n".join([head, *rows])


def _steps(block: Block) -> Iterator[str]:
    yield f"**{clean_line(block['title'])}**\n"
    for part in block["parts"]:
        for item in lenient.mappings(part, "items"):
            mark = "x" if lenient.text(item, "status") == "completed" else " "
            yield f"- [{mark}] {clean_line(lenient.text(item, 'text'))}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _fenced(text: str, kind: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{text}\n{fence}"
