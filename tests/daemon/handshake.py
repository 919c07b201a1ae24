"""A WebSocket's opening handshake as plain bytes, so that a refusal can be read."""

import http.client

from tests.daemon.served import PATIENCE, Answer


def upgrade(netloc: str, path: str, **headers: str) -> Answer:
    """The daemon's answer to a client that wants to open a WebSocket; the connection is closed."""
    link = http.client.HTTPConnection(netloc, timeout=PATIENCE)
    asked = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    try:
        link.request("GET", path, headers=asked | headers)
        answer = link.getresponse()
        found = {key.lower(): value for key, value in answer.getheaders()}
        return Answer(answer.status, found, answer.read())
    finally:
        link.close()
