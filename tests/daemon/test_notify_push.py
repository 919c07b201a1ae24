"""Web Push: a receiver that decrypts with the subscriber's key, behind TLS, and the API."""

import base64
import datetime
import ipaddress
import json
import os
import ssl
import stat
import struct
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any
from urllib.parse import quote

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from rookery.client.config.edit import change
from rookery.core.settings.notify import Notify
from rookery.daemon.access.devices import Devices
from rookery.daemon.notify import push
from rookery.daemon.notify.events import ASK, News
from rookery.daemon.notify.keys import decode, encode, new_key, point, public_key
from rookery.daemon.notify.notifier import Notifier
from rookery.daemon.notify.subscriptions import Subscription, Subscriptions, fault_of
from rookery.daemon.notify.webhook import Undelivered
from tests.daemon.served import PATIENCE, Served

NEWS = News(ASK, "crow", "Build ✓", "demo", "/w", "Run it?", 12_000, 7)
PRIVATE = Notify(push_private=True)
STOP = threading.Event()


class Browser:
    """A subscriber, with its own key."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.public = point(self.key.public_key())
        self.auth = os.urandom(16)

    def subscription(self, endpoint: str, device: str = "") -> Subscription:
        return Subscription(endpoint, encode(self.public), encode(self.auth), device)

    def read(self, body: bytes) -> Any:
        """RFC 8291 and 8188, from the other end."""
        salt, (size, length) = body[:16], struct.unpack("!IB", body[16:21])
        sender, sealed = body[21 : 21 + length], body[21 + length :]
        assert len(sealed) <= size
        theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
        shared = self.key.exchange(ec.ECDH(), theirs)

        def derived(key: bytes, salt: bytes, info: bytes, length: int) -> bytes:
            return HKDF(SHA256(), length, salt, info).derive(key)

        base = derived(shared, self.auth, b"WebPush: info\0" + self.public + sender, 32)
        content_key = derived(base, salt, b"Content-Encoding: aes128gcm\0", 16)
        nonce = derived(base, salt, b"Content-Encoding: nonce\0", 12)
        opened = AESGCM(content_key).decrypt(nonce, sealed, None)
        assert opened[-1:] == b"\x02"
        return json.loads(opened[:-1])


class Service:
    """A push service on loopback."""

    def __init__(self, directory: Path) -> None:
        self.heard: Queue[tuple[str, dict[str, str], bytes]] = Queue()
        self.status = 201
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service.heard.put((self.path, dict(self.headers), body))
                self.send_response(service.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.certificate = _certificate(directory)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server.server_port}"
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self._thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()


def _certificate(directory: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "push")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path = directory / "push.pem"
    path.write_bytes(made.public_bytes(Encoding.PEM) + secret)
    return path


@pytest.fixture
def service(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Service]:
    found = Service(tmp_path_factory.mktemp("push"))
    monkeypatch.setenv("SSL_CERT_FILE", str(found.certificate))
    yield found
    found.close()


def test_encryption_matches_the_example_of_rfc_8291() -> None:
    to = Subscription(
        "https://push.example/x",
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "BTBZMqHH6r4Tts7J_aSIgg",
    )
    body = push.encrypted(
        b"When I grow up, I want to be a watermelon",
        to,
        own="yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
        salt=decode("DGv6ra1nlYgDCS1FRnbzlw"),
    )
    assert encode(body) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWA"
        "mS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxs"
        "j_Qulcy4a-fN"
    )


def test_a_push_can_be_decrypted_by_its_browser(service: Service) -> None:
    browser, key = Browser(), new_key()
    push.send_once(NEWS, browser.subscription(service.url + "/send/x?y=1"), key, PRIVATE)
    path, headers, body = service.heard.get(timeout=PATIENCE)
    assert path == "/send/x?y=1"
    assert headers["Content-Encoding"] == "aes128gcm"
    assert (headers["Topic"], headers["Urgency"]) == ("crow", "high")
    assert int(headers["TTL"]) > 0
    found = browser.read(body)
    assert (found["session"], found["heading"]) == ("crow", "Build ✓ needs you")
    assert "cwd" not in found
    assert b"Run it" not in body


def test_a_push_is_signed_with_the_daemons_key(service: Service) -> None:
    browser, key = Browser(), new_key()
    push.send_once(NEWS, browser.subscription(service.url + "/x"), key, PRIVATE)
    _, headers, _ = service.heard.get(timeout=PATIENCE)
    scheme, rest = headers["Authorization"].split(" ", 1)
    fields = dict(part.strip().split("=", 1) for part in rest.split(","))
    assert scheme == "vapid"
    assert fields["k"] == push.shown_key(key)
    said, _, signed = fields["t"].rpartition(".")
    raw = decode(signed)
    pair = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    public_key(fields["k"]).verify(pair, said.encode(), ec.ECDSA(SHA256()))
    claims = json.loads(decode(said.split(".")[1]))
    assert claims["aud"] == service.url
    assert claims["sub"].startswith("mailto:")


def test_an_expired_subscription_is_removed(home: Path, service: Service) -> None:
    kept = Subscriptions(str(home))
    kept.add(Browser().subscription(service.url + "/x"))
    service.status = 410
    push.send_to_all(NEWS, kept, PRIVATE, STOP)
    assert kept.all() == []


def test_a_logged_out_device_gets_no_push(home: Path, service: Service) -> None:
    devices, kept = Devices(str(home)), Subscriptions(str(home))
    device, _ = devices.add("phone")
    kept.add(Browser().subscription(service.url + "/phone", device.id))
    kept.add(Browser().subscription(service.url + "/own"))
    notifier = Notifier(str(home), kept, devices)
    notifier._push_to_all(NEWS, PRIVATE)
    assert {service.heard.get(timeout=PATIENCE)[0] for _ in range(2)} == {"/phone", "/own"}
    devices.revoke(device.id)
    notifier._push_to_all(NEWS, PRIVATE)
    assert service.heard.get(timeout=PATIENCE)[0] == "/own"
    assert service.heard.empty()
    assert len(kept.all()) == 1


@pytest.mark.parametrize(
    "endpoint",
    [
        *("http://push.example/x", "https://localhost/x", "https://127.0.0.1/x", "https://[::1]/x"),
        *("https://10.0.0.7/x", "https://169.254.169.254/x", "https://router.local/x"),
        *("https://[::ffff:127.0.0.1]/x", "https://[64:ff9b::7f00:1]/x", "https://host/x"),
        *("https://user:word@push.example/x", "https://x.localhost./x", "https://[x/", "nothing"),
    ],
)
def test_private_and_plain_endpoints_are_refused(endpoint: str) -> None:
    assert fault_of(endpoint, private=False)
    with pytest.raises(Undelivered):
        push.send_once(NEWS, Browser().subscription(endpoint), new_key(), Notify())


def test_a_host_name_leading_to_this_machine_is_refused(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checked where it connects, not only by its name."""
    port = service.server.server_port
    here = [(2, 1, 6, "", ("127.0.0.1", port))]
    monkeypatch.setattr(push.socket, "getaddrinfo", lambda *_, **__: here)
    endpoint = f"https://push.example:{port}/x"
    assert fault_of(endpoint, private=False) == ""
    with pytest.raises(Undelivered, match="private network"):
        push.send_once(NEWS, Browser().subscription(endpoint), new_key(), Notify())
    assert service.heard.empty()


def test_subscriptions_are_private_and_bounded(home: Path) -> None:
    kept = Subscriptions(str(home))
    for number in range(60):
        kept.add(Browser().subscription(f"https://push.example/{number}"))
    assert len(kept.all()) == 50
    assert kept.key() == kept.key()
    path = home / "daemon" / "push.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text('{"subscriptions": [3, {"endpoint": 4}], "key": "x"}')
    assert kept.all() == []
    assert kept.key() != "x"


def test_subscriptions_are_managed_through_the_api(daemon: Served) -> None:
    key = daemon.ask("GET", "/api/push/key").json()["key"]
    assert base64.urlsafe_b64decode(key + "=")[0] == 4
    assert daemon.ask("GET", "/api/push/key").json()["key"] == key
    browser = Browser()
    wanted = browser.subscription("https://push.example/x")
    body: dict[str, Any] = {
        "endpoint": wanted.endpoint,
        "expirationTime": None,
        "keys": {"p256dh": wanted.p256dh, "auth": wanted.auth},
    }
    place = "/api/push/subscriptions"
    assert daemon.ask("POST", place, body).status == 200
    assert daemon.ask("POST", place, body).status == 200
    (kept,) = Subscriptions(daemon.home).all()
    assert kept.device
    inside = {**body, "endpoint": "https://192.168.0.1/x"}
    refused = daemon.ask("POST", place, inside)
    assert (refused.status, refused.json()["error"]) == (409, "bad_subscription")
    change(daemon.home, {"notify.push_private": True})
    assert daemon.ask("POST", place, inside).status == 200
    bad = {**body, "keys": {"p256dh": "B" + "A" * 86, "auth": wanted.auth}}
    assert daemon.ask("POST", place, bad).status == 409
    assert daemon.ask("POST", place, {**body, "endpoint": "http://push.example/"}).status == 422
    gone = f"{place}?endpoint={quote(wanted.endpoint, safe='')}"
    assert daemon.ask("DELETE", gone).status == 200
    assert daemon.ask("DELETE", gone).status == 404
    assert daemon.ask("POST", place, body, token="").status == 401
