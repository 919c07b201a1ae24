"""What commands print after their cards were written: a command may outlive its call."""

from collections.abc import Iterable

from rookery.core.blocks.document import Block, Document


class LateOutput:
    def __init__(self) -> None:
        self._sent: dict[str, int] = {}
        """Characters written, by terminal."""
        self._cut: dict[str, Document] = {}
        """Terminals whose last line is incomplete."""

    def written(self, terminals: Iterable[Block]) -> None:
        """A card shows them."""
        self._sent |= {each["id"]: len(each["text"]) for each in terminals}

    def take(self, document: Document, terminal: Block, *, rest: bool) -> str:
        """The lines not written yet; `rest`: also an incomplete one."""
        name, text = str(terminal["id"]), str(terminal["text"])
        sent = self._sent.get(name, 0)
        over = rest or terminal.get("exit") is not None or bool(terminal.get("signal"))
        end = max(sent, len(text) if over else text.rfind("\n") + 1)
        self._sent[name] = end
        self._cut.pop(name, None)
        if end < len(text):
            self._cut[name] = document
        return text[sent:end]

    def left(self) -> list[tuple[Document, Block]]:
        """Terminals with an incomplete line."""
        found = [(document, document.blocks.get(name)) for name, document in self._cut.items()]
        return [(document, block) for document, block in found if block is not None]
