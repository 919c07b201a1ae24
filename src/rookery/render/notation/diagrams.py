"""Mermaid diagrams as text: flow charts, sequences and states become one line for each arrow."""

import re
from collections.abc import Iterator

MAX_SOURCE_LENGTH = 20_000
_FLOW = re.compile(r"(?:graph|flowchart)\b", re.IGNORECASE)
_SEQUENCE = "sequenceDiagram"
_STATES = "stateDiagram"
_ARROW = re.compile(
    r"\s*(?:--\s*([^-|>]+?)\s*--+>|==\s*([^=|>]+?)\s*==+>|<?(?:--+|==+|-\.+-)[>xo]?)"
    r"\s*(?:\|([^|]*)\|)?\s*"
)
_NODE = re.compile(r"([\w.-]+)\s*(?:[(\[{>]+\"?(.*?)\"?[)\]}]+)?(?::::\w+)?$", re.DOTALL)
_MESSAGE = re.compile(r"([^-:]+?)\s*(<?--?(?:>>?|[x)]))[+-]?\s*([^:]+?)\s*:\s*(.*)")
_NAMED = re.compile(r"(?:participant|actor)\s+(\S+)\s+as\s+(.+)")
_MOVE = re.compile(r"(\S+)\s*-->\s*([^\s:]+)\s*(?::\s*(.+))?")
_STATE = re.compile(r'state\s+"([^"]+)"\s+as\s+(\S+)')
_ASIDE = ("%%", "style ", "classDef ", "class ", "click ", "linkStyle ", "direction ", "end")


def readable(source: str) -> str | None:
    """Return the diagram as text, or None for a kind that is best read as its source."""
    lines = [line.strip().rstrip(";") for line in source[:MAX_SOURCE_LENGTH].split("\n")]
    lines = [line for line in lines if line and not line.startswith("%%")]
    if not lines or len(source) > MAX_SOURCE_LENGTH:
        return None
    if _FLOW.match(lines[0]):
        rows = list(_flow(lines[1:]))
    elif lines[0].startswith(_SEQUENCE):
        rows = list(_sequence(lines[1:]))
    elif lines[0].startswith(_STATES):
        rows = list(_states(lines[1:]))
    else:
        return None
    return "\n".join(rows) or None


def _flow(lines: list[str]) -> Iterator[str]:
    names: dict[str, str] = {}
    rows = list[tuple[list[str], list[str]]]()
    for line in lines:
        if line.startswith(_ASIDE):
            continue
        if line.startswith("subgraph"):
            rows.append(([line.removeprefix("subgraph").strip()], []))
            continue
        pieces = _ARROW.split(line)
        nodes = [[_known(each, names) for each in piece.split(" & ")] for piece in pieces[::4]]
        arrows = zip(pieces[1::4], pieces[2::4], pieces[3::4], strict=True)
        labels = [next((word for word in three if word), "") for three in arrows]
        for before, label, after in zip(nodes, labels, nodes[1:], strict=False):
            rows += [([one, other], [label]) for one in before for other in after]
    for ends, texts in rows:
        if not texts:
            yield f"{ends[0]}:"
            continue
        first, second = (names.get(each, each) for each in ends)
        yield f"{first} ─ {texts[0].strip()} → {second}" if texts[0] else f"{first} → {second}"


def _known(piece: str, names: dict[str, str]) -> str:
    """Return the node's name, and remember its label."""
    match = _NODE.match(piece.strip())
    if match is None:
        return piece.strip()
    name, label = match.groups()
    if label:
        names[name] = " ".join(label.replace("<br/>", " ").replace("<br>", " ").split())
    return name


def _sequence(lines: list[str]) -> Iterator[str]:
    names: dict[str, str] = {}
    for line in lines:
        if named := _NAMED.match(line):
            names[named.group(1)] = named.group(2)
        elif message := _MESSAGE.match(line):
            one, arrow, other, text = message.groups()
            sign = "⇢" if arrow.startswith("--") else "→"
            yield f"{names.get(one, one)} {sign} {names.get(other, other)}: {text}"
        elif not line.startswith(("participant", "actor", "activate", "deactivate", "autonumber")):
            yield line


def _states(lines: list[str]) -> Iterator[str]:
    names: dict[str, str] = {}
    for line in lines:
        if named := _STATE.match(line):
            names[named.group(2)] = named.group(1)
        elif move := _MOVE.match(line):
            one, other, label = move.groups()
            first = "(start)" if one == "[*]" else names.get(one, one)
            second = "(end)" if other == "[*]" else names.get(other, other)
            yield f"{first} ─ {label} → {second}" if label else f"{first} → {second}"
        elif not line.startswith((*_ASIDE, "}")):
            yield line.removeprefix("state ").replace(" {", ":")
