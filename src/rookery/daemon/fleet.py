"""The list of all sessions, kept up to date cheaply: a session's directory changes whenever its
head does, so one stat of each directory tells which heads to read again."""

import os
import threading
import time
from collections.abc import Mapping
from math import inf
from types import MappingProxyType
from typing import NamedTuple

from rookery.client.fleet import listed
from rookery.client.start import is_awake
from rookery.core.blocks.document import Block, Op
from rookery.core.clock_slip import is_snoozed
from rookery.core.header import Shown
from rookery.core.json import Json
from rookery.core.view.fleet import fleet_block
from rookery.daemon.trouble import Trouble
from rookery.home import paths

type Stamp = tuple[int, int]

FLEET = "fleet"
KEPT = 1000
"""Changes that a client which was away can still be told one by one."""


class Seen(NamedTuple):
    """The session list after a look: its document, and the ops that led to it."""

    seq: int = 0
    blocks: Mapping[str, Block] = MappingProxyType({})
    ops: tuple[tuple[int, list[Op]], ...] = ()
    """Of each look that found something, its number and what it changed."""


def _stamp(directory: str) -> Stamp:
    try:
        stat = os.stat(directory)
    except OSError:  # gone, or a link to nothing
        return 0, 0
    return stat.st_mtime_ns, stat.st_ino


class Fleet:
    """The sessions of a home and the document of their list. `look` may run in any thread, one at a
    time; it replaces what it produces and never mutates it, so that a sequence number and its
    document are always read together."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._stamps: dict[str, Stamp] = {}
        self._heads: dict[str, Json] = {}
        self._sorted: list[Json] = []
        self._shown = self._heads
        """The heads that the document was made of."""
        self._until = 0.0
        """When the first of them is no longer snoozed, in milliseconds since the epoch."""
        self._seen = Seen()
        self._looking = threading.Lock()
        self._trouble = Trouble("looking at a session")
        self.epoch = os.urandom(4).hex()
        """Numbers of another daemon's life mean nothing here."""

    @property
    def seq(self) -> int:
        return self._seen.seq

    @property
    def heads(self) -> list[Json]:
        """The heads, newest news first. The list stays the same object until a session changes; do
        not mutate it."""
        return self._sorted

    def head(self, session: str) -> Json | None:
        return self._heads.get(session)

    def look(self) -> Json | None:
        """Return the changes since the last look as ops on the session list's document, or None if
        there are none. Blocks."""
        with self._looking:
            self._read()
            before, self._seen = self._seen, self._changed_to()
            seen = self._seen
        return None if seen is before else self._page(seen.seq, seen.ops[-1][1])

    def _read(self) -> None:
        heads: dict[str, Json] = {}
        stamps: dict[str, Stamp] = {}
        place, failure = paths.sessions(self._home), None
        for name in paths.session_ids(self._home, self._heads):
            stamp, old = _stamp(f"{place}/{name}"), self._heads.get(name)
            try:
                head = self._head(name, old, changed=self._stamps.get(name) != stamp)
            except Exception as error:  # noqa: BLE001 - of this session; the others are looked at
                head, failure = old, error
            else:
                if head is not None and not head.get("damaged"):
                    stamps[name] = stamp  # else looked at again: its log may be about to come
            if head is not None:
                heads[name] = head
        self._trouble.note(failure)
        self._stamps = stamps
        if len(heads) != len(self._heads) or any(
            self._heads.get(name) is not head for name, head in heads.items()
        ):
            self._heads = heads
            self._sorted = sorted(heads.values(), key=lambda head: (-head["at"], head["id"]))

    def _head(self, name: str, old: Json | None, *, changed: bool) -> Json | None:
        """Return the current head of a session, or None if it has gone. Raises OSError if it cannot
        be read now."""
        if old is not None and not changed and not self._changed(old):
            return old
        head = listed(self._home, name)
        if old is not None and (head is None or head.get("damaged")):
            os.close(os.open(os.devnull, os.O_RDONLY))  # raises where no file at all can be opened
        return old if old == head else head

    def _changed(self, head: Json) -> bool:
        """Tell whether a worker came, went or died, which the session's directory does not show."""
        worker = head["worker"]
        if not head["awake"] and (worker is None or worker.get("ended")):
            return False
        directory = paths.session_dir(self._home, head["id"])
        return bool(is_awake(paths.socket_path(directory)) != head["awake"])

    def _changed_to(self) -> Seen:
        now = time.time() * 1000
        seen, blocks, ops = self._seen, dict[str, Block](), list[Op]()
        shown, self._shown = self._shown, self._heads
        if shown is self._heads and now < self._until:
            return seen
        snoozes = (head.get("snoozed", 0) for head in self._heads.values())
        self._until = min((end for end in snoozes if end > now), default=inf)
        for name, head in self._heads.items():
            snoozed, old = is_snoozed(Shown(head), now), seen.blocks.get(name)
            if old is not None and shown.get(name) is head and old["snoozed"] == snoozed:
                blocks[name] = old
                continue
            block = fleet_block(head, awake=head["awake"])
            block |= {"archived": head["archived"], "snoozed": snoozed}
            blocks[name] = block
            if old is None:
                ops.append(["put", block])
            elif old != block:
                changed = {key: value for key, value in block.items() if old.get(key) != value}
                ops.append(["set", name, changed])
        ops += [["drop", name] for name in seen.blocks if name not in blocks]
        if not ops:
            return seen
        seq = seen.seq + 1
        return Seen(seq, blocks, (*seen.ops[1 - KEPT :], (seq, ops)))

    def since(self, epoch: str, seq: int) -> Json | None:
        """Return all changes after `seq` as one message, or None if they are no longer kept."""
        seen = self._seen
        first = seen.ops[0][0] if seen.ops else seen.seq + 1
        if epoch != self.epoch or not first <= seq + 1 <= seen.seq + 1:
            return None
        return self._page(seen.seq, [op for n, ops in seen.ops if n > seq for op in ops])

    def _page(self, seq: int, ops: list[Op]) -> Json:
        return {"topic": FLEET, "epoch": self.epoch, "seq": seq, "ops": ops}

    def to_json(self) -> Json:
        seq, blocks, _ = self._seen
        place = {"topic": FLEET, "epoch": self.epoch, "seq": seq}
        return {**place, "blocks": list(blocks.values())}
