"""A session of this machine. Every face on this machine sends its commands through this: it finds
how each is carried out."""

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self, override

from rookery.client.session import OnCall, SessionClient
from rookery.core.commands import Command
from rookery.core.json import Event, Json
from rookery.home import seen
from rookery.operations.catalogue.execution import execution_of

if TYPE_CHECKING:
    from rookery.client.attach import Attachment


class LocalSession(SessionClient):
    def __init__(
        self,
        home: str,
        session: str,
        client: str = "cli",
        *,
        offers: Sequence[str] = (),
        on_call: OnCall | None = None,
    ) -> None:
        super().__init__(home, session, client, offers=offers, on_call=on_call)
        self.on_link: Callable[[str], object] = lambda _: None

    @override
    def __enter__(self) -> Self:
        return self

    @override
    async def send(
        self,
        command: Json,
        *,
        row: Command | None = None,
        files: "Sequence[Attachment]" = (),
        wake: bool | None = None,
    ) -> Event:
        if files:  # the bytes go next to the log; the command names them
            from rookery.client.attach import stage

            staged = await asyncio.to_thread(stage, self.directory, files)
            command = {**command, "prompt": [*command["prompt"], *staged]}
        return await super().send(command, row=row or execution_of(command), wake=wake)

    def mark_seen(self, seq: int) -> None:
        seen.mark(self.directory, seq)

    def is_gone(self) -> bool:
        return not os.path.isdir(self.directory)

    def discard_unbegun(self) -> None:
        from rookery.client.create import discard_unbegun

        discard_unbegun(self.home, self.session)
