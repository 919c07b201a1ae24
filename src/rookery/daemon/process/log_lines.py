"""What the daemon's log looks like."""

import copy
import logging
from typing import override


class Lines(logging.Formatter):
    """Of a foreign library one line for each message, without its traceback: a client can cause
    those again and again."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(name)s: %(message)s")

    @override
    def format(self, record: logging.LogRecord) -> str:
        if record.name.startswith("rookery"):
            return super().format(record)
        line = copy.copy(record)
        words = [record.getMessage()]
        if record.exc_info and (error := record.exc_info[1]) is not None:
            words.append(f"{type(error).__name__}: {error}")
        line.msg, line.args = " ".join(" ".join(words).split())[:1000], None
        line.exc_info = line.exc_text = line.stack_info = None
        return super().format(line)


def install() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(Lines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
