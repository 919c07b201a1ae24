"""A browser that does nothing but apply changes to what it has: what `assets/live.js` does, on a
tree of Python's."""

import re
from html.parser import HTMLParser
from typing import Any, override

VOID = {"br", "hr", "img", "input", "link", "meta"}


class Node:
    def __init__(self, name: str, attributes: dict[str, str | None]) -> None:
        self.name = name
        self.attributes = attributes
        self.inner: list[Node | str] = []
        self.parent: Node | None = None

    def add(self, child: "Node | str", at: int | None = None) -> None:
        if isinstance(child, Node):
            child.parent = self
        self.inner.insert(len(self.inner) if at is None else at, child)

    @property
    def nodes(self) -> list["Node"]:
        return [each for each in self.inner if isinstance(each, Node)]

    def remove(self) -> None:
        assert self.parent is not None
        self.parent.inner.remove(self)

    def all(self) -> "list[Node]":
        return [self, *(below for each in self.nodes for below in each.all())]

    def find(self, **attributes: str) -> "Node | None":
        wanted = {key.rstrip("_"): value for key, value in attributes.items()}
        found = (node for node in self.all() if wanted.items() <= node.attributes.items())
        return next(found, None)

    def shown(self) -> str:
        """The same for trees that look the same: blanks between blocks do not count."""
        inner, text = "", ""
        for each in [*self.inner, None]:
            if isinstance(each, str):
                text += each
                continue
            inner += text if text.strip() else ""
            text = ""
            inner += each.shown() if each else ""
        if self.name == "":
            return inner
        said = "".join(f' {key}="{value}"' for key, value in sorted(self.attributes.items()))
        return f"<{self.name}{said}>{inner}</{self.name}>"


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.top = self._at = Node("", {})

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, dict(attrs))
        self._at.add(node)
        if tag not in VOID:
            self._at = node

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self._at.name == tag, f"</{tag}> ends <{self._at.name}>"
        assert self._at.parent is not None
        self._at = self._at.parent

    @override
    def handle_data(self, data: str) -> None:
        self._at.add(data)


def parsed(html: str) -> Node:
    parser = _Parser()
    parser.feed(html)
    parser.close()
    assert parser.top is parser._at, f"<{parser._at.name}> is not closed"
    return parser.top


class Page:
    """What a browser has of the transcript."""

    def __init__(self, html: str) -> None:
        self.top = parsed(html)
        self.seq = 0

    @classmethod
    def of_screen(cls, html: str) -> "Page":
        """Of a session's screen."""
        page = cls("")
        found = parsed(html).find(id="transcript")
        assert found is not None
        page.seq = int(found.attributes["data-seq"] or 0)
        for unit in found.nodes:
            if unit.attributes.get("id") != "older":
                page.top.add(unit)
        return page

    def shown(self) -> str:
        return self.top.shown()

    def unit(self, name: str) -> Node | None:
        return self.top.find(id=f"b{name}")

    def apply(self, changes: list[Any]) -> None:
        for change in changes:
            getattr(self, f"_{change[0]}", lambda *_: None)(*change[1:])

    def _put(self, name: str, html: str, before: str | None, inside: str | None) -> None:
        (node,) = parsed(html).nodes
        assert node.attributes["id"] == f"b{name}"
        assert self.unit(name) is None, f"{name} is there already"
        container: Node | None = self.top
        if inside is not None:
            unit = self.unit(inside)
            assert unit is not None, f"{name} goes into {inside}, which is not there"
            if len(unit.nodes) == 1:
                unit.add(Node("div", {"class": "below"}))
            container = unit.nodes[1]
        following = self.unit(before) if before is not None else None
        assert before is None or following is not None, f"{before} is not there"
        at = None if following is None else container.inner.index(following)
        container.add(node, at)

    def _set(self, name: str, html: str) -> None:
        unit = self.unit(name)
        assert unit is not None, f"{name} is not there"
        (node,) = parsed(html).nodes
        unit.nodes[0].remove()
        unit.add(node, 0)

    def _drop(self, name: str) -> None:
        unit = self.unit(name)
        if unit is None:
            return
        above = unit.parent
        unit.remove()
        if above is not None and above.attributes.get("class") == "below" and not above.nodes:
            above.remove()

    def _tail_of(self, name: str) -> Node:
        unit = self.unit(name)
        assert unit is not None, f"{name} is not there"
        tail = unit.nodes[0].find(class_="tail")
        assert tail is not None, f"{name} has no tail"
        return tail

    def _more(self, name: str, html: str, tail: str | None) -> None:
        end = self._tail_of(name)
        above = end.parent
        assert above is not None
        for each in parsed(html).inner:
            above.add(each, above.inner.index(end))
        if tail is None:
            end.remove()
        else:
            self._tail(name, tail)

    def _tail(self, name: str, html: str) -> None:
        tail = self._tail_of(name)
        tail.inner = []
        for each in parsed(html).inner:
            tail.add(each)

    def _text(self, name: str, text: str) -> None:
        raw = next(n for n in self._tail_of(name).all() if n.attributes.get("class") == "raw")
        raw.add(text)

    def _lines(self, name: str, lost: int, cut: int, html: str, kept: int) -> None:
        output = self.top.find(id=f"o{name}")
        assert output is not None, f"{name} has no output"
        lines = output.find(class_="lines")
        assert lines is not None
        lines.inner = [] if cut < 0 else lines.inner[: len(lines.inner) - cut]
        for each in parsed(html).inner:
            lines.add(each)
        lines.inner = lines.inner[-kept:]
        if lost:
            lines.attributes["data-lost"] = str(lost) if lost > 0 else ""


def without_tags(html: str) -> str:
    return re.sub("<[^>]*>", "", html)
