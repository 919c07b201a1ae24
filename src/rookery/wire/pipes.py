"""Reading and writing descriptors of any kind in the event loop: asyncio's own pipe transports
refuse regular files, and mistake data that arrives on a two-way socket for a hang-up."""

import asyncio
import fcntl
import os
import stat
from collections import deque
from collections.abc import Callable
from contextlib import suppress

READ_SIZE = 256 * 1024
ROUNDS = 8
WRITE_SIZE = 1024 * 1024
FLUSH_AT = 64 * 1024
FULL = 64 * 1024
"""The capacity of a pipe."""


class PipeReader:
    """Hands what arrives to `on_data`, then calls `on_end` once. Owns the descriptor.

    `rest(late)` returns the seconds to wait after a read that left the pipe empty; the last wait
    was `late` seconds longer than intended. Without that, a program that writes endless lines one
    by one would wake us for each of them."""

    def __init__(
        self,
        fd: int,
        on_data: Callable[[bytes], None],
        on_end: Callable[[], None],
        rest: Callable[[float], float] | None = None,
    ) -> None:
        self._fd = fd
        self._rest = rest
        self._resting: asyncio.TimerHandle | None = None
        self._late = 0.0
        self._on_data = on_data
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._reading = False
        self._ended = False
        self._pollable = True
        self._polled = False
        self._soon: asyncio.Handle | None = None
        os.set_blocking(fd, False)
        self.resume()

    @property
    def ended(self) -> bool:
        return self._ended

    def resume(self) -> None:
        """Continue after a pause; a rest is not cut short."""
        if self._reading or self._ended or self._resting is not None:
            return
        if self._soon is not None:
            self._soon.cancel()
        self._reading = True
        self._poll()

    def _poll(self) -> None:
        if self._pollable and not self._polled:
            try:
                self._loop.add_reader(self._fd, self._ready)
                self._polled = True
            except PermissionError:  # a regular file or /dev/null: always ready, never polled
                self._pollable = False
        if not self._pollable:
            self._soon = self._loop.call_soon(self._ready)

    def pause(self) -> None:
        """Stop reading. What was read already has been handed over."""
        if self._polled:
            self._polled = False
            self._loop.remove_reader(self._fd)
        if self._soon is not None:
            self._soon.cancel()
        if self._resting is not None:
            self._resting.cancel()
            self._resting = None
        self._reading = False

    def take_now(self) -> None:
        """Hand over what has arrived by now, without waiting for the loop. At most as much as a
        pipe holds: a writer that never stops must not keep us here."""
        for _ in range(ROUNDS):
            if self._ended:
                return
            try:
                data = os.read(self._fd, READ_SIZE)
            except OSError:
                return
            if not data:
                return
            self._on_data(data)

    def close(self) -> None:
        if self._ended:
            return
        self.pause()
        self._ended = True
        os.close(self._fd)

    def _ready(self) -> None:
        try:
            data = os.read(self._fd, READ_SIZE)
        except (BlockingIOError, InterruptedError):
            self._poll()
            return
        except OSError:  # a pty whose other side is gone says EIO
            data = b""
        if not data:
            self.close()
            self._on_end()
            return
        try:
            self._on_data(data)
        finally:  # a bug in there is not the end of the reading
            if self._reading:
                self._go_on(len(data))

    def _go_on(self, size: int) -> None:
        late, self._late = self._late, 0.0
        rest = self._rest(late) if self._rest is not None and size < FULL else 0.0
        if rest > 0 and self._pollable:
            self.pause()
            self._resting = self._loop.call_later(rest, self._rested)
        else:
            self._poll()

    def _rested(self) -> None:
        """Read at once: a pipe that is worth a rest has data by now."""
        assert self._resting is not None
        self._late = self._loop.time() - self._resting.when()
        self._resting = None
        self._reading = True
        self._ready()

    def end_rest(self) -> None:
        """End a rest and read again now."""
        if self._resting is not None:
            self._resting.cancel()
            self._resting = None
            self.resume()


class PipeWriter:
    """Takes bytes at once and writes them in order as the other side reads. Owns the descriptor.

    Writes of one iteration of the loop go out together: a system call per message would wake the
    reader for each of them."""

    def __init__(self, fd: int, on_broken: Callable[[OSError], None]) -> None:
        self.broken = False
        """The other side reads no more, or we closed; what is written from now on is dropped."""
        self._fd = fd
        self._on_broken = on_broken
        self._loop = asyncio.get_running_loop()
        self._parts: deque[bytearray] = deque()
        """What waits, none of them empty. In parts, since one buffer that grows while it is written
        from is copied whole, and much can wait."""
        self.buffered = 0
        """Bytes that wait."""
        self._scheduled = False
        self._polled = False
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        os.set_blocking(fd, False)

    def write(self, data: bytes) -> None:
        if self.broken or not data:
            return
        if self._parts and len(self._parts[-1]) < FLUSH_AT:
            self._parts[-1] += data
        else:
            self._parts.append(bytearray(data))
        self.buffered += len(data)
        if self.buffered >= FLUSH_AT:
            self.flush()
        elif not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._flush_round)

    def flush(self) -> None:
        """Write as much as the other side takes now."""
        while self._parts and not self.broken:
            first = self._parts[0]
            try:
                with memoryview(first) as view:
                    written = os.write(self._fd, view[:WRITE_SIZE])
            except (BlockingIOError, InterruptedError):
                self._poll()
                break
            except OSError as error:
                self._break()
                self._on_broken(error)
                return
            del first[:written]
            self.buffered -= written
            if not first:
                self._parts.popleft()
        if not self._parts and self._polled:
            self._polled = False
            self._loop.remove_writer(self._fd)
        self._wake()

    async def drain(self, below: int) -> bool:
        """Wait until less than `below` bytes are buffered (at least 1). Return False if the pipe is
        broken."""
        if self.buffered >= below:
            self.flush()
        while self.buffered >= below and not self.broken:
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._waiters.append((below, waiter))
            await waiter
        return not self.broken

    def close(self) -> None:
        """Write what can be written without waiting, then close."""
        if self.broken:
            return
        self.flush()
        if not self.broken:
            self._break()

    def _flush_round(self) -> None:
        self._scheduled = False
        if not self._polled:
            self.flush()

    def _poll(self) -> None:
        if not self._polled:
            self._polled = True
            self._loop.add_writer(self._fd, self.flush)

    def _break(self) -> None:
        if self._polled:
            self._polled = False
            self._loop.remove_writer(self._fd)
        self.broken = True
        self._parts.clear()
        self.buffered = 0
        os.close(self._fd)
        self._wake()

    def _wake(self) -> None:
        if not self._waiters:
            return
        waiting, self._waiters = self._waiters, []
        for below, waiter in waiting:
            if waiter.done():
                continue
            if self.broken or self.buffered < below:
                waiter.set_result(None)
            else:
                self._waiters.append((below, waiter))


def take_stdio() -> tuple[int, int]:
    """Return private descriptors for stdin and stdout: (to read, to write).

    From now on 0 is empty and 1 is stderr, for us and for our children: no stray print or tool can
    corrupt or swallow a message."""
    reading, writing = private_copy(0, os.O_RDONLY), private_copy(1, os.O_WRONLY)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # we were started without a stderr
        os.dup2(null, 1)
    os.close(null)
    return reading, writing


def private_copy(fd: int, flags: int) -> int:
    """Return a descriptor that can be made non-blocking without affecting a terminal's other
    users."""
    if stat.S_ISCHR(os.fstat(fd).st_mode):
        with suppress(OSError):
            return os.open(os.ttyname(fd), flags | os.O_NOCTTY | os.O_CLOEXEC)
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
