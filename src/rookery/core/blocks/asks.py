"""Rendering an ask: what will run comes first and whole, with the agent's own description beside
it.

A block's `does` says what its text consists of (`core/blocks/ask_details.py` makes the items): the
text can grow by ops without a bound, which a field cannot. When the ask is closed, its text says
how it ended, and only the beginning of each item is kept."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from rookery.core import blocks, budgets
from rookery.core.ask import Ask
from rookery.core.asks import links
from rookery.core.blocks import captions, parts
from rookery.core.blocks.captions import Clean
from rookery.core.blocks.document import MAX_LENGTHS, Block, make_block
from rookery.core.blocks.parts import diffs
from rookery.core.header import Header
from rookery.core.json import Json, lenient, safe_text
from rookery.core.json.safe_text import clean_line
from rookery.core.policy import go_asks
from rookery.core.tools.calls import key_of
from rookery.core.tools.names import is_bare
from rookery.core.vendors.profiles import profile_for

ONE_LINE = 200
"""Characters of a command that stands in the question itself."""
LONG_WORDS = 5_000
"""Characters of an agent's words that surely fit into a block's parts."""
MAX_ITEMS = 50
"""Items that are listed separately; the rest is one text."""

_FIRST = ("command", "path", "address", links.KIND, "tool", "diff")


# --- as the fold makes it ------------------------------------------------------------------------


def fields(ask: Ask, header: Header) -> Json:
    """Return the fields of a block for an ask about a tool call or about an address."""
    call = ask.call
    if ask.does is not None:
        items = _with(ask.does, diffs(call), key_of(call))
    else:  # of a build that did not say it
        items = blocks.ask_details.of([call], header.cwd, header.roots, "~") if call else []
    items += _long_words(call)
    packed = [_packed(item) for item in _few(items)]
    entries, text = [entry for entry, _ in packed], "".join(text for _, text in packed)
    title = ask.message if ask.is_link else lenient.text(call, "title")
    plans = any(go_asks.is_one("", (lenient.text(item, "text"),)) for item in items[:1])
    redundant = is_bare(title) or plans
    called = title[:500] if items and not _same(title, items) and not redundant else ""
    block_fields: Json = {"does": entries, "text": text, "called": called} if entries else {}
    if lines := [line[:500] for line in ask.explains[:12]]:
        block_fields["explains"] = lines
    lost = ask.risk[: MAX_LENGTHS["danger"]]
    risk = f"This {lost}; a rewind brings it back." if lost else _risk(call, header)
    return block_fields | ({"risk": risk} if risk and not ask.danger else {})


def _risk(call: Json, header: Header) -> str:
    """Return why our own agent calls it risky; what other agents say is no judgement."""
    if not profile_for(header).judged:
        return ""
    about = lenient.mapping(lenient.mapping(call, "_meta"), "rookery")
    return lenient.first_line(lenient.text(about, "why"), ONE_LINE)


def changes(ask: Ask) -> list[Json]:
    """Return the changes that an ask shows of its own call, for the call's block to keep."""
    listed = [item for item in ask.does or () if lenient.text(item, "what") == "diff"]
    key = key_of(ask.call)
    mine = diffs(ask.call) or [item for item in listed if lenient.text(item, "call") == key]
    return [part for part in parts.fit(list(map(_part, mine))) if part["type"] == "diff"]


def _part(item: Json) -> Json:
    path, new, old = (lenient.text(item, key) for key in ("path", "new", "old"))
    return parts.diff_part(path, old or None, new, lenient.integer(item, "line"))


def block_of(ask: Ask, header: Header) -> Block:
    """Return the block of an open ask by itself, for faces without a transcript."""
    title, kind = lenient.text(ask.call, "title"), lenient.text(ask.call, "kind", "other")
    if ask.is_about_budget or ask.is_link:
        title = ask.message
        kind = links.KIND if ask.is_link else budgets.HOW
    block = make_block("", "ask", status="asked", title=title, kind=kind)
    return block | fields(ask, header)


def _long_words(call: Json) -> list[Json]:
    """Return the agent's text about the call if it is too long for a part."""
    contents = [lenient.mapping(part, "content") for part in lenient.mappings(call, "content")]
    texts = [
        lenient.text(each, "text") for each in contents if lenient.text(each, "type") == "text"
    ]
    base = {"what": "said", "call": key_of(call), "kind": "other"}
    return [{**base, "text": text} for text in texts if sum(map(len, texts)) > LONG_WORDS]


def _with(items: list[Json], changes: list[Json], call: str) -> list[Json]:
    """Return the items with the ask's own changes placed after the other items of its call."""
    mine = [place for place, item in enumerate(items, 1) if lenient.text(item, "call") == call]
    at = mine[-1] if mine else len(items)
    return [*items[:at], *changes, *items[at:]]


def _few(items: list[Json]) -> list[Json]:
    if len(items) <= MAX_ITEMS:
        return items
    texts = [lenient.text(i, "text") or f"{lenient.text(i, 'path')}\n{i.get('new')}" for i in items]
    more = {"what": "input", "text": "\n".join(texts[MAX_ITEMS - 1 :]), "call": "", "kind": "other"}
    return [*items[: MAX_ITEMS - 1], more]


def _packed(item: Json) -> tuple[Json, str]:
    """Split an item into its entry without the text, and its text."""
    entry: Json = {
        "what": lenient.text(item, "what")[:40],
        "call": lenient.text(item, "call")[:200],
        "kind": lenient.text(item, "kind")[:40],
    }
    if entry["what"] == "diff":
        old, new = lenient.text(item, "old"), lenient.text(item, "new")
        path = safe_text.shown(lenient.text(item, "path")).text
        line = lenient.integer(item, "line")
        entry |= {"path": path[:1000], "line": line, "old": len(old), "size": len(old + new)}
        return entry, old + new
    text = lenient.text(item, "text")
    first, *rest = text.strip().split("\n", 1)
    head = first[:ONE_LINE] + (" …" if rest or len(first) > ONE_LINE else "")
    head = links.host_of(text) if entry["what"] == links.KIND else head
    entry |= {"size": len(text), "head": head, "lines": text.strip("\n").count("\n") + 1}
    if removed := lenient.integer(item, "removed"):
        entry["removed"] = removed
    return entry, text


def _same(title: str, items: list[Json]) -> bool:
    """Whether the title says nothing that the items do not."""
    bare = " ".join(title.replace("`", "").split())
    if len({lenient.text(item, "call") for item in items}) > 1:
        return False
    text = lenient.text(items[0], "text") or lenient.text(items[0], "path")
    item_text = " ".join(text.replace("`", "").split())
    if not bare or bare == item_text or (bare.endswith("…") and item_text.startswith(bare[:-1])):
        return True
    head, _, rest = bare.partition(" ")
    if lenient.text(items[0], "what") in ("path", "diff"):
        return (
            item_text.endswith("/" + bare.rsplit(" ", 1)[-1].lstrip("/")) and bare.count(" ") <= 2
        )
    return rest == item_text and head.lower().rstrip(":") in ("run", "execute", "running", "use")


# --- as it is shown ------------------------------------------------------------------------------


class Item(NamedTuple):
    what: str
    text: str
    call: str
    kind: str
    note: str = ""
    """What was taken out of the text."""
    part: Json | None = None
    """Of a diff: as the looks of parts take it, but for what cannot be seen in it."""
    size: int = 0
    lines: int = 1


def items(block: Block) -> list[Item]:
    """Return what an ask is about: whole while it is open, afterwards only how each item begins."""
    unpacked, at = [], 0
    for entry in lenient.mappings(block, "does"):
        size = lenient.integer(entry, "size") or 0
        whole = block["text"][at : at + size] if block["status"] == "asked" else None
        at += size
        unpacked.append(_unpacked(entry, whole, size))
    return unpacked


def _unpacked(entry: Json, whole: str | None, size: int) -> Item:
    what, call, kind = (lenient.text(entry, key) for key in ("what", "call", "kind"))
    if what == "diff":
        path, old = lenient.text(entry, "path"), lenient.integer(entry, "old") or 0
        text, line = whole or "", lenient.integer(entry, "line")
        part = parts.diff_part(path, text[:old] or None, text[old:], line)
        return Item(what, path, call, kind, "", part, size)
    note = safe_text.removed_note(lenient.integer(entry, "removed") or 0)
    if whole is None:
        return Item(what, lenient.text(entry, "head"), call, kind, note)
    lines = lenient.integer(entry, "lines") or 1
    return Item(what, whole, call, kind, note, None, size, lines)


class Piece(NamedTuple):
    """A piece of what stands below the question: our own text, whole code or input, a note, a diff,
    or a plan (as Markdown)."""

    look: str
    text: str
    part: Json | None = None
    call: str = ""
    title: str = ""
    """Of a plan that the agent wrote just above the ask: in a transcript this is enough."""


def question(block: Block, agent: str, cwd: str = "", *, short: bool = True) -> str:
    """Return what the agent wants, in one line. `short`: include the command if it is short.
    `agent`: the name for a block that has none of its own."""
    groups = _groups(items(block))
    agent = lenient.text(block, "agent") or agent
    who = clean_line(agent) or "the agent"
    if block.get("kind") == budgets.HOW:  # which no agent asks
        return clean_line(block["title"])
    if not groups:
        return numbered(block) + captions.question(block, agent)
    wishes = [_wants(group, cwd, short=short)[0] for group in groups]
    if len(wishes) == 1:
        return f"{numbered(block)}{who} wants to {wishes[0]}"
    sentence = f"{numbered(block)}{who} wants to do {len(wishes)} things"
    return sentence if block["status"] == "asked" else _cut(f"{sentence}: {'; '.join(wishes)}")


def numbered(block: Block) -> str:
    """Return `1 of 3: ` for an open ask that is one of several; "" if it stands alone."""
    return number(lenient.sequence(block, "step")) if block["status"] == "asked" else ""


def number(step: list[int]) -> str:
    return f"{step[0]} of {step[1]}: " if len(step) == 2 else ""


def pieces(
    block: Block, agent: str, cwd: str = "", clean: Clean = clean_line, *, short: bool = True
) -> list[Piece]:
    """Return all that the question does not say, in reading order. `short`: the question already
    shows a short command, so it is not repeated."""
    groups = _groups(items(block))
    shown: list[Piece] = []
    for number, group in enumerate(groups, 1):
        text, rest = _wants(group, cwd, clean, short=short)
        if len(groups) > 1:
            shown.append(Piece("words", f"{number}. {text}"))
        for item in group:
            if item in rest:
                shown.append(_piece(item, group))
            if item.note:
                shown.append(Piece("note", item.note))
            if item.what == links.KIND:
                shown += [Piece("note", f"⚠ {text}") for text in links.warnings_of(item.text)]
    if called := " ".join(str(block.get("called") or "").split()):
        who = clean(lenient.text(block, "agent") or agent) or "the agent"
        shown.append(Piece("note", f"{who}'s description: {clean(_cut(called))}"))
    if risk := clean(str(block.get("risk") or "")):
        shown.append(Piece("note", risk))
    return shown


def headline(block: Block, cwd: str, clean: Clean) -> str:
    """Return the question as a title; "" if only the agent's own title says something."""
    groups = _groups(items(block))
    if len(groups) > 1:
        return f"{len(groups)} things"
    if not groups:
        return ""
    phrase, rest = _wants(groups[0], cwd, clean)
    first = groups[0][0]
    return clean(first.text) if first.what == "command" and first not in rest else phrase


def as_text(block: Block) -> str:
    """Return the whole ask as text, for copying."""
    pairs = [(item.text, item.part) for item in items(block)]
    return "\n".join(f"--- {text}\n{part['new']}" if part else text for text, part in pairs)


def wish(ask: Ask, cwd: str, coded: "Coded") -> str:
    """Return what an ask of the header wants, worded as on its card: run `make`; "" if the ask does
    not say. `coded` joins a verb and its object."""
    packed = [_packed(item) for item in _few(ask.does or [])]
    groups = _groups(_unpacked(entry, text, len(text)) for entry, text in packed)
    wishes = [_wants(group, cwd, coded=coded)[0] for group in groups]
    return f"do {len(wishes)} things" if len(wishes) > 1 else next(iter(wishes), "")


def brief(ask: Ask) -> str:
    """Summarise an ask of the header in a few words."""
    texts = [lenient.text(item, "text") for item in ask.does or ()]
    plan = go_asks.title_of(plan_in(ask))
    text = f"carry out its plan ({plan})" if plan else next(filter(None, texts), "")
    text = ask.message or text if ask.is_link else text
    text = text or lenient.text(ask.call, "title") or ask.message
    return lenient.first_line(text, ONE_LINE)


def plan_in(ask: Ask) -> str:
    """Return the plan that an ask of the header wants approved, or ""."""
    plans = (item for item in ask.does or () if item.get("what") == "plan")
    return lenient.text(next(plans, None), "text")


def says_more(part: Json, block: Block) -> bool:
    """Whether a part of the ask's own content says what its items do not: the agent's own text."""
    if lenient.text(part, "type") == "diff":
        return not any(item.what == "diff" for item in items(block))
    if any(item.what == "said" for item in items(block)):
        return lenient.text(part, "type") != "markdown"
    text = captions.unfenced(lenient.text(part, "text")).strip("` \n")
    return not text or all(text not in item.text for item in items(block))


def shows_diff(block: Block) -> bool:
    """Whether the card shows a diff."""
    parts = lenient.mappings(block, "parts")
    kinds = [*(item.what for item in items(block)), *(lenient.text(each, "type") for each in parts)]
    return "diff" in kinds


def _groups(entries: Iterable[Item]) -> list[list[Item]]:
    """Group the items by the call that each belongs to."""
    groups: dict[str, list[Item]] = {}
    for item in entries:
        groups.setdefault(item.call, []).append(item)
    return list(groups.values())


type Coded = Callable[[str, str], str]


def _wants(
    group: list[Item],
    cwd: str,
    clean: Clean = clean_line,
    *,
    short: bool = True,
    coded: Coded | None = None,
) -> tuple[str, list[Item]]:
    """Return a call in a few words, and those of its items that the words do not cover."""
    first = next((item for item in group if item.what in _FIRST), group[0])
    rest = [item for item in group if item is not first]
    match first.what:
        case "command" if first.lines == 1 and len(first.text) <= ONE_LINE + 2:
            phrase = coded("run", first.text) if coded else f"run: {_line(first.text)}"
            return (phrase, rest) if short else ("run:", group)
        case "command" if first.lines == 1:
            return f"run this ({safe_text.count(first.size, 'character')})", group
        case "command":
            return f"run this ({safe_text.count(first.lines, 'line')})", group
        case "path" | "diff":
            verb = captions.VERBS.get(first.kind, "use")
            if "\n" in first.text:
                return f"{verb} {safe_text.count(first.lines, 'file')}", group
            rest = [first, *rest] if first.what == "diff" else rest
            path = captions.short_path(first.text, cwd, clean)
            return coded(verb, path) if coded else f"{verb} {path}", rest
        case "address" if first.lines == 1 and len(first.text) <= ONE_LINE + 2:
            verb = captions.VERBS.get(first.kind, "use")
            return coded(verb, first.text) if coded else f"{verb}: {_line(first.text)}", rest
        case links.KIND:
            place = links.host_of(first.text)
            return coded("send you to", place) if coded else f"send you to {place}", group
        case "tool" if go_asks.is_one("", (first.text,)):
            return "carry out its plan", rest
        case "tool":
            return f"use {clean(first.text)}", rest
    verb = "run something" if first.kind == "execute" else "use a tool"
    return f"{verb} it does not name", group


def _piece(item: Item, group: list[Item]) -> Piece:
    if item.part is not None:
        path = next((each.text for each in group if each.what == "path"), item.text)
        same = f"/{path}".endswith("/" + item.text.lstrip("/")) and len(group) <= 3
        old, new = item.part["old"], item.part["new"]
        part = item.part | {"old": _visible(old) if old else old, "new": _visible(new)}
        return Piece("diff", "" if same else item.text, part, item.call)
    if item.what == "plan":
        own = any(each.what == "tool" and each.text == go_asks.TOOL for each in group)
        title = go_asks.title_of(item.text) if own else ""
        return Piece("plan", item.text, call=item.call, title=title)
    if item.what == "said":
        return Piece("input", safe_text.shown(item.text).text)
    return Piece("input" if item.what == "input" else "code", item.text)


_visible = lru_cache(maxsize=4)(safe_text.visible)
"""A card is painted again and again."""


def _line(text: str) -> str:
    """Clean a line without collapsing its spaces: they may stand between quotes."""
    return safe_text.clean(text).strip().expandtabs(4)


def _cut(text: str) -> str:
    return text if len(text) <= ONE_LINE else text[:ONE_LINE].rstrip() + "…"
