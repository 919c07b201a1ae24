"""The format of the daemon's log."""

import copy
import logging
from typing import override


class Lines(logging.Formatter):
    """Formats log records. Those of other libraries take one line each, without a traceback, since
    a client can cause them again and again."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(name)s: %(message)s")

    @override
    def format(self, record: logging.LogRecord) -> str:
        if record.name.startswith("rookery"):
            return super().format(record)
        line = copy.copy(record)
        texts = [record.getMessage()]
        if record.exc_info and (error := record.exc_info[1]) is not None:
            texts.append(f"{type(error).__name__}: {error}")
        line.msg, line.args = " ".join(" ".join(texts).split())[:1000], None
        line.exc_info = line.exc_text = line.stack_info = None
        return super().format(line)


def install() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(Lines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
