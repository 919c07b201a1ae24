"""Inside a sandbox: makes a port of its loopback interface lead out to the proxy, or to a model on
this machine; then runs the command.

    python -I -S forward.py SOCKET PORT COMMAND…

The command takes the place of this process; the forwarder is no child of it. Only the standard
library is used, and little of that before the command runs: every start waits for it."""

import errno
import os
import socket
import sys

MISSING = 127


def main(path: str, port: str, *argv: str) -> int:
    try:
        listener = socket.create_server(("127.0.0.1", int(port)), backlog=128)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return _run(argv)  # the network is this machine's own, where the port is what it leads to
    first = os.fork()
    if first == 0:
        if os.fork() == 0:
            _forward(listener, path)
        os._exit(0)
    os.waitpid(first, 0)
    listener.close()
    return _run(argv)


def _run(argv: tuple[str, ...]) -> int:
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
    return MISSING


def _forward(listener: socket.socket, path: str) -> None:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nothing, standard)
    import asyncio  # after the command has its start

    async def joined(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far, out = await asyncio.open_unix_connection(path)
        except OSError:
            writer.close()
            return
        try:
            await asyncio.gather(copied(reader, out), copied(far, writer))
        except OSError:
            return
        finally:
            out.close()
            writer.close()

    async def copied(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while piece := await source.read(65536):
            sink.write(piece)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()

    async def serve() -> None:
        server = await asyncio.start_server(joined, sock=listener)
        await server.serve_forever()

    asyncio.run(serve())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
