"""The base class of the widgets' messages."""

from typing import Any, dataclass_transform

from textual.message import Message


@dataclass_transform()
class Record(Message):
    """A message whose fields are its annotations. (A dataclass would cost start-up time.)"""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__()
        self.__dict__.update(zip(type(self).__annotations__, given, strict=False), **named)


class TasteChosen(Record):
    """Settings of the interface were changed with a key."""

    changes: dict[str, Any]
