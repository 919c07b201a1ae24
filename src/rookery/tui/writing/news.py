"""What the engine room tells whoever helps to write."""

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from rookery.client.attach import Attachment


class PastRead(Message):
    """What was written before, oldest first."""

    def __init__(self, entries: list[str]) -> None:
        super().__init__()
        self.entries = entries


class FilesFound(Message):
    """The files that a few letters mean."""

    def __init__(self, query: str, names: list[str], of: int) -> None:
        super().__init__()
        self.query = query
        self.names = names
        self.of = of


class Attached(Message):
    """Files that go with the next prompt of a session; `pasted`: the words that named them."""

    def __init__(self, session: str, *attachments: "Attachment", pasted: str = "") -> None:
        super().__init__()
        self.session = session
        self.attachments = attachments
        self.pasted = pasted


class NotPasted(Message):
    """The clipboard gave no image, and why."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words


class Unattached(Message):
    """It cannot; `pasted`: the words are what was meant, where they are no file."""

    def __init__(self, words: str, pasted: str) -> None:
        super().__init__()
        self.words = words
        self.pasted = pasted


class ShellSaid(Message):
    """Output of a shell line; `code`: it has ended."""

    def __init__(self, text: str, code: int | None = None) -> None:
        super().__init__()
        self.text = text
        self.code = code


class Recapped(Message):
    """What was said in a session, in short."""

    def __init__(self, session: str, text: str) -> None:
        super().__init__()
        self.session = session
        self.text = text
