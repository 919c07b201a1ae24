"""What commands print after their cards were written: a command may go on behind its call, and its
agent tell of it."""

from collections.abc import Iterable

from rookery.core.blocks.document import Block, Document


class LateOutput:
    def __init__(self) -> None:
        self._sent: dict[str, int] = {}
        """Of each terminal, how many characters are written."""
        self._cut: dict[str, Document] = {}
        """Terminals whose last line has no end yet."""

    def written(self, terminals: Iterable[Block]) -> None:
        """They stand in a card."""
        self._sent |= {each["id"]: len(each["text"]) for each in terminals}

    def take(self, document: Document, terminal: Block, *, rest: bool) -> str:
        """The lines that are not written yet; `rest`: also one without an end."""
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
        """Terminals of which a piece was held back."""
        found = [(document, document.blocks.get(name)) for name, document in self._cut.items()]
        return [(document, block) for document, block in found if block is not None]
