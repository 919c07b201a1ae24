"""Web Push: messages encrypted for one browser (RFC 8291), signed with the daemon's key (RFC 8292),
and handed to that browser's push service. Only https, and by default no private addresses."""

import http.client
import importlib.util
import json
import logging
import os
import socket
import ssl
import struct
import threading
import time
from typing import override
from urllib.parse import urlsplit

from rookery.agents.registry import missing_extra
from rookery.core.settings.notify import Notify
from rookery.daemon.notify import shapes
from rookery.daemon.notify.events import ASK, News
from rookery.daemon.notify.keys import (
    decode,
    encode,
    new_key,
    point,
    private_key,
    public_key,
    shown_key,
)
from rookery.daemon.notify.subscriptions import Subscription, Subscriptions, fault_of, is_public
from rookery.daemon.notify.webhook import PAUSES, TRY_TIMEOUT, Undelivered

RECORD = 4096
"""Bytes: what every push service takes."""
KEPT = 24 * 3600
"""Seconds for which a push service keeps it for a browser that is away."""
VALID = 12 * 3600
"""Seconds for which a signature is good."""
GONE = frozenset({404, 410})


def missing() -> str:
    """Return what has to be installed, or "" if nothing is missing."""
    if importlib.util.find_spec("cryptography") is not None:
        return ""
    return missing_extra("Web Push", "push")


def keys_fault(subscription: Subscription) -> str:
    """Return why the subscription's keys cannot be used, or ""."""
    try:
        public_key(subscription.p256dh)
        good = len(decode(subscription.auth)) == 16
    except ValueError:
        good = False
    return "" if good else "These are not the keys of a subscription."


# --- the message ---------------------------------------------------------------------------------


def encrypted(data: bytes, to: Subscription, *, own: str = "", salt: bytes = b"") -> bytes:
    """Encrypt a message according to RFC 8291. `own` and `salt` are new for each message, except in
    tests. Raises ValueError."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if len(data) > RECORD - 103:  # header 86, tag 16, delimiter 1
        raise ValueError("the message is too long")
    theirs, secret = public_key(to.p256dh), decode(to.auth)
    key, salt = private_key(own or new_key()), salt or os.urandom(16)
    mine = point(key.public_key())
    shared = key.exchange(ec.ECDH(), theirs)
    base = _derived(shared, secret, b"WebPush: info\0" + point(theirs) + mine, 32)
    content_key = _derived(base, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(base, salt, b"Content-Encoding: nonce\0", 12)
    header = salt + struct.pack("!IB", RECORD, len(mine)) + mine
    return header + AESGCM(content_key).encrypt(nonce, data + b"\x02", None)


def _derived(key: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), length, salt, info).derive(key)


def authorization(private: str, endpoint: str, contact: str, now: int) -> str:
    """Return the Authorization header of RFC 8292."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
    from cryptography.hazmat.primitives.hashes import SHA256

    parts = urlsplit(endpoint)
    claims = {"aud": f"https://{parts.netloc}", "exp": now + VALID, "sub": contact}
    head = {"typ": "JWT", "alg": "ES256"}
    signing_input = ".".join(encode(json.dumps(each).encode()) for each in (head, claims))
    r, s = decode_dss_signature(
        private_key(private).sign(signing_input.encode(), ec.ECDSA(SHA256()))
    )
    signed = encode(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
    return f"vapid t={signing_input}.{signed}, k={shown_key(private)}"


# --- on its way ----------------------------------------------------------------------------------


class _Connection(http.client.HTTPSConnection):
    """A connection to the address that was checked: the name could resolve to another one a moment
    later."""

    def __init__(self, host: str, port: int, *, private: bool) -> None:
        self._tls = ssl.create_default_context()
        super().__init__(host, port, timeout=TRY_TIMEOUT, context=self._tls)
        self._private = private

    @override
    def connect(self) -> None:
        last: OSError | None = None
        for family, kind, proto, _, address in socket.getaddrinfo(
            self.host, self.port, type=socket.SOCK_STREAM
        ):
            if not self._private and not is_public(str(address[0])):
                raise Undelivered("the push service is on a private network", 400)
            plain = socket.socket(family, kind, proto)
            try:
                plain.settimeout(TRY_TIMEOUT)
                plain.connect(address)
                self.sock = self._tls.wrap_socket(plain, server_hostname=self.host)
                return
            except OSError as error:
                plain.close()
                last = error
        raise last or OSError("the push service has no address")


def send_to_all(
    news: News, subscriptions: Subscriptions, settings: Notify, stopping: threading.Event
) -> None:
    """Send to all subscriptions and remove those that are gone. Raises Undelivered if Web Push is
    not installed or a delivery failed."""
    to = subscriptions.all()
    if not to:
        return
    if why := missing():
        raise Undelivered(why)
    key, failed = subscriptions.key(), ""
    for each in to:
        try:
            _send(news, each, key, settings, stopping)
        except Undelivered as error:
            if error.status in GONE:
                subscriptions.remove(each.endpoint)
            else:
                failed = str(error)
    if failed:
        raise Undelivered(failed)


def _send(
    news: News, to: Subscription, key: str, settings: Notify, stopping: threading.Event
) -> None:
    for pause in (*PAUSES, None):
        try:
            return send_once(news, to, key, settings)
        except Undelivered as error:
            if pause is None or not error.is_passing or stopping.wait(pause):
                raise
    return None


def send_once(news: News, to: Subscription, key: str, settings: Notify) -> None:
    """Send to one subscription, trying once. Raises Undelivered."""
    if why := fault_of(to.endpoint, private=settings.push_private):
        raise Undelivered(why, 400)
    parts = urlsplit(to.endpoint)
    shown = {key: value for key, value in shapes.plain(news).items() if key != "cwd"}
    try:
        body = encrypted(json.dumps(shown, ensure_ascii=False).encode("utf-8", "replace"), to)
    except ValueError as error:
        raise Undelivered(str(error), 400) from None
    headers = {
        "Authorization": authorization(key, to.endpoint, settings.push_contact, int(time.time())),
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(KEPT),
        "Urgency": "high" if news.kind == ASK else "normal",
    }
    if news.session:
        headers["Topic"] = news.session[:32]  # a newer one replaces it while the browser is away
    link = _Connection(parts.hostname or "", parts.port or 443, private=settings.push_private)
    try:
        place = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        link.request("POST", place, body, headers)
        status = link.getresponse().status
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Undelivered(str(error) or type(error).__name__) from None
    finally:
        link.close()
    if not 200 <= status < 300:
        logging.getLogger("rookery.daemon").info("push: %s answered %s", parts.hostname, status)
        raise Undelivered(f"the push service answered {status}", status)
