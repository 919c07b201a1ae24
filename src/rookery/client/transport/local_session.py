"""A session of this machine."""

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self, override

from rookery.client.session import SessionClient
from rookery.core.json import Event, Json
from rookery.home import seen

if TYPE_CHECKING:
    from rookery.client.attach import Attachment


class LocalSession(SessionClient):
    def __init__(self, home: str, session: str, client: str) -> None:
        super().__init__(home, session, client)
        self.on_link: Callable[[str], object] = lambda _: None

    @override
    def __enter__(self) -> Self:
        return self

    @override
    async def send(
        self, command: Json, *, files: "Sequence[Attachment]" = (), wake: bool | None = None
    ) -> Event:
        if files:  # the bytes go next to the log; the command names them
            from rookery.client.attach import stage

            staged = await asyncio.to_thread(stage, self.directory, files)
            command = {**command, "prompt": [*command["prompt"], *staged]}
        return await super().send(command, wake=wake)

    def mark_seen(self, seq: int) -> None:
        seen.mark(self.directory, seq)

    def is_gone(self) -> bool:
        return not os.path.isdir(self.directory)

    def discard_unbegun(self) -> None:
        from rookery.client.create import discard_unbegun

        discard_unbegun(self.home, self.session)
