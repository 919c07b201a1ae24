"""What the SDK writes down of a conversation, and of the agents below it: without secrets.

A provider may repeat a key in its error, a tool may print one: both are events, and those are kept.
"""

from typing import override

from openhands.sdk.conversation import state
from openhands.sdk.io import LocalFileStore

from rookery.agent.settings.secrets import KNOWN


class DiscreetStore(LocalFileStore):
    @override
    def write(self, path: str, contents: str | bytes) -> None:
        super().write(path, KNOWN.text(contents) if isinstance(contents, str) else contents)


def install() -> None:
    """From now on every conversation is kept so. Once is enough; twice does no harm."""
    state.LocalFileStore = DiscreetStore  # type: ignore[attr-defined]
