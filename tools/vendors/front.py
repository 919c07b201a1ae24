"""HTTPS before the scripted model, at an address that a proxy is asked for: `NO_PROXY` names this
machine's usual ones, and a sandbox whose network is `listed` has no other way."""

import asyncio
import ssl
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Self

HOST = "127.0.0.2"
PIECE = 64 * 1024


class Front:
    """Serves in `async with`; its certificate lies in `folder`."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self._model = port
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        assert self._server is not None
        return f"https://{HOST}:{self._server.sockets[0].getsockname()[1]}"

    @property
    def certificate(self) -> Path:
        return self.folder / "certificate.pem"

    def trusted(self) -> dict[str, str]:
        """By which Node, OpenSSL, Rust and Python take its certificate."""
        names = (
            "NODE_EXTRA_CA_CERTS",
            "SSL_CERT_FILE",
            "REQUESTS_CA_BUNDLE",
            "CODEX_CA_CERTIFICATE",
        )
        return dict.fromkeys(names, str(self.certificate))

    async def __aenter__(self) -> Self:
        self.folder.mkdir()
        away = self.folder.with_name(f"{self.folder.name}-keys")
        away.mkdir()
        await asyncio.to_thread(_certify, self.certificate, away)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(away / "own.pem", away / "own.key")
        self._server = await asyncio.start_server(self._serve, HOST, 0, ssl=context)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        # asyncio would print a cancelled one as an error.
        with suppress(OSError, asyncio.CancelledError):
            try:
                near = await asyncio.open_connection("127.0.0.1", self._model)
                ways = [_pass(reader, near[1]), _pass(near[0], writer)]
                both = [asyncio.create_task(way) for way in ways]
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
                for each in both:
                    each.cancel()
                near[1].close()
            finally:
                self._tasks.discard(task)
                writer.close()


def _certify(authority: Path, away: Path) -> None:
    """An authority, and what it signed: Rust takes no certificate that is both."""
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    new += ["-nodes", "-days", "30", "-addext"]
    first = ["basicConstraints=critical,CA:TRUE", "-subj", "/CN=authority"]
    first += ["-addext", "keyUsage=critical,keyCertSign"]  # Python 3.13 takes no other
    own = ["basicConstraints=CA:FALSE", "-addext", f"subjectAltName=IP:{HOST}", "-subj", "/CN=own"]
    own += ["-CA", str(authority), "-CAkey", str(away / "ca.key")]
    for words, key, out in (
        (first, away / "ca.key", authority),
        (own, away / "own.key", away / "own.pem"),
    ):
        command = [*new, *words, "-keyout", str(key), "-out", str(out)]
        subprocess.run(command, check=True, capture_output=True)


async def _pass(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Until one of them hangs up."""
    with suppress(OSError):
        while data := await source.read(PIECE):
            sink.write(data)
            await sink.drain()
