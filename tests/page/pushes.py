"""What Chromium needs of the world for Web Push, on loopback: where a device gets an id and a
subscription its token, and the connection (MCS) over which messages come to it."""

import base64
import hashlib
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Condition, Thread
from typing import Any
from urllib.parse import parse_qsl

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

PATIENCE = 60.0
VERSION = b"\x29"
LOGIN_ANSWER, DATA = 3, 8
"""Tags of messages in MCS."""
TOKEN = "stand-in:1"


def varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number: int, value: bytes | str) -> bytes:
    """Of a protocol buffer: bytes, a text or a message."""
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def framed(tag: int, message: bytes) -> bytes:
    return bytes([tag]) + varint(len(message)) + message


class PushService:
    """Get one from `push_service`."""

    def __init__(self, certificate: Path) -> None:
        self.certificate = certificate
        self.registered: Mapping[str, str] = {}
        """What the browser said of its subscription."""
        self._browsers: list[ssl.SSLSocket] = []
        self._changed = Condition()
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        Thread(target=self._accept, daemon=True).start()

    @property
    def flags(self) -> list[str]:
        """Of a Chromium that takes this for the real one."""
        there = f"http://127.0.0.1:{self._http.server_port}"
        port = self._listener.getsockname()[1]
        known = x509.load_pem_x509_certificate(self.certificate.read_bytes()).public_key()
        key = known.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        pin = base64.b64encode(hashlib.sha256(key).digest()).decode()
        return [
            f"--gcm-checkin-url={there}/checkin",
            f"--gcm-registration-url={there}/register",
            f"--gcm-mcs-endpoint=https://127.0.0.1:{port}",
            f"--ignore-certificate-errors-spki-list={pin}",
        ]

    def deliver(self, body: bytes) -> None:
        """What a server sent for the subscription, to the browser that made it."""
        said = self.registered
        about = {"content-encoding": "aes128gcm", "subtype": said["X-subtype"]}
        rows = [field(7, field(1, name) + field(2, value)) for name, value in about.items()]
        named = field(3, said["sender"]) + field(5, said["app"]) + field(9, "1")
        message = framed(DATA, named + b"".join(rows) + field(21, body))
        with self._changed:
            assert self._changed.wait_for(lambda: self._browsers, PATIENCE), "no browser came"
            self._browsers[-1].sendall(message)

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):  # it is closed
            while True:
                plain, _ = self._listener.accept()
                Thread(target=self._log_in, args=(plain,), daemon=True).start()

    def _log_in(self, plain: socket.socket) -> None:
        """Until the browser hangs up, as it does once when it begins."""
        with suppress(OSError), self._context.wrap_socket(plain, server_side=True) as browser:
            assert browser.recv(1) == VERSION
            browser.sendall(VERSION + framed(LOGIN_ANSWER, field(1, "1")))
            with self._changed:
                self._browsers.append(browser)
                self._changed.notify_all()
            try:
                while browser.recv(65_536):
                    pass
            finally:
                with self._changed:
                    self._browsers.remove(browser)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                said = self.rfile.read(int(self.headers["content-length"]))
                if self.path == "/checkin":
                    ids = ((0x39, 42), (0x41, 24))
                    answer = b"\x08\x01" + b"".join(
                        bytes([tag]) + number.to_bytes(8, "little") for tag, number in ids
                    )
                else:
                    service.registered = dict(parse_qsl(said.decode()))
                    answer = f"token={TOKEN}".encode()
                self.send_response(200)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_said: Any) -> None:
                """To nobody."""

        return Handler


@contextmanager
def push_service(certificate: Path) -> Iterator[PushService]:
    """`certificate`: with its key, for 127.0.0.1."""
    found = PushService(certificate)
    try:
        yield found
    finally:
        found.close()
