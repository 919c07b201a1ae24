"""All sessions, kept up to date at little cost: a session's directory changes whenever its head
does, so one look at each directory tells which heads to read again."""

import os
import threading
import time
from typing import Any

from rookery.client.fleet import head_of_session, unreadable
from rookery.client.start import is_awake
from rookery.core.blocks.document import Block, Op
from rookery.core.json import Json
from rookery.core.view.fleet import fleet_block, is_snoozed
from rookery.home import paths

type Stamp = tuple[int, int]

KEPT = 1000
"""Changes that a client which was away can still be told one by one."""


class Fleet:
    """`look` may run in any thread, one at a time; what it found is replaced, never changed."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._stamps: dict[str, Stamp] = {}
        self._heads: dict[str, Json] = {}
        self._blocks: dict[str, Block] = {}
        self._looking = threading.Lock()
        self.epoch = os.urandom(4).hex()
        """Numbers of another daemon's life mean nothing here."""
        self.seq = 0
        self._ops: list[tuple[int, list[Op]]] = []

    @property
    def heads(self) -> list[Json]:
        """Newest news first."""
        return sorted(self._heads.values(), key=lambda head: (-head["at"], head["id"]))

    @property
    def blocks(self) -> list[Block]:
        return list(self._blocks.values())

    def head(self, session: str) -> Json | None:
        return self._heads.get(session)

    def look(self) -> list[Op]:
        """What changed since the last look, as ops on the session list's document. Blocks."""
        with self._looking:
            self._read()
            return self._changes()

    def _read(self) -> None:
        heads: dict[str, Json] = {}
        stamps: dict[str, Stamp] = {}
        for name in paths.session_ids(self._home):
            directory = paths.session_dir(self._home, name)
            try:
                found = os.stat(directory)
            except OSError:
                continue
            stamps[name] = found.st_mtime_ns, found.st_ino
            old = self._heads.get(name)
            if old is None or self._stamps.get(name) != stamps[name] or self._changed(old):
                head = head_of_session(self._home, name)
                if head is None:
                    del stamps[name]  # looked at again: its log may be about to be written
                else:
                    heads[name] = head
            else:
                heads[name] = old
        self._heads, self._stamps = heads, stamps

    def _changed(self, head: Json) -> bool:
        """What its directory does not tell: a worker that came, went or died."""
        worker = head["worker"]
        if not head["awake"] and (worker is None or worker.get("ended")):
            return False
        directory = paths.session_dir(self._home, head["id"])
        return bool(is_awake(paths.socket_path(directory)) != head["awake"])

    def _changes(self) -> list[Op]:
        now = time.time() * 1000
        blocks: dict[str, Block] = {}
        ops: list[Op] = []
        for name, head in self._heads.items():
            block = fleet_block(head, awake=head["awake"])
            block |= {"archived": head["archived"], "snoozed": is_snoozed(head, now)}
            blocks[name] = block
            old = self._blocks.get(name)
            if old is None:
                ops.append(["put", block])
            elif old != block:
                changed = {key: value for key, value in block.items() if old.get(key) != value}
                ops.append(["set", name, changed])
        ops += [["drop", name] for name in self._blocks if name not in blocks]
        self._blocks = blocks
        if ops:
            self.seq += 1
            self._ops = [*self._ops[1 - KEPT :], (self.seq, ops)]
        return ops

    def since(self, epoch: str, seq: int) -> list[Op] | None:
        """What changed after that; None: it is not known any more."""
        if epoch != self.epoch or seq > self.seq:
            return None
        first = self._ops[0][0] if self._ops else self.seq + 1
        if seq + 1 < first:
            return None
        return [op for number, ops in self._ops if number > seq for op in ops]

    def damaged(self) -> list[Json]:
        """The heads of sessions that cannot be read."""
        return unreadable(self._home, self._heads.values())

    def to_json(self) -> dict[str, Any]:
        return {"topic": "fleet", "epoch": self.epoch, "seq": self.seq, "blocks": self.blocks}
