"""What a browser does to prove its key, by another implementation than Rookery's."""

import re

from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from rookery.daemon.access.tabs import PURPOSE
from tests.daemon.served import Answer, Served


class Key:
    def __init__(self) -> None:
        self._private = ec.generate_private_key(ec.SECP256R1())
        point = PublicFormat.UncompressedPoint
        self.public = self._private.public_key().public_bytes(Encoding.X962, point)

    def sign(self, message: bytes) -> bytes:
        r, s = utils.decode_dss_signature(self._private.sign(message, ec.ECDSA(SHA256())))
        return r.to_bytes(32) + s.to_bytes(32)

    def answer(self, challenge: str) -> str:
        return self.sign((PURPOSE + challenge).encode()).hex()


class Browser:
    """Logged in by a link."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.key = Key()
        code = served.own("POST", "/api/devices/link", {}).json()["link"].rpartition("=")[2]
        self.device: str = served.log_in(code=code, key=self.key.public.hex()).json()["device"]

    def challenge(self) -> str:
        answer = self.served.ask("GET", "/api/about", token="", Authorization="Rookery")
        assert answer.status == 401
        found = re.fullmatch(r'Rookery challenge="(.*)"', answer.headers["www-authenticate"])
        assert found
        return found[1]

    def prove(self, challenge: str, signature: str = "") -> Answer:
        """Asks with a proof of its key."""
        signed = signature or self.key.answer(challenge)
        proof = f"Rookery {self.device} {challenge} {signed}"
        return self.served.ask("GET", "/api/about", token="", Authorization=proof)

    def token(self) -> str:
        """Of a new tab."""
        answer = self.prove(self.challenge())
        assert answer.status == 200, answer.body
        return answer.headers["rookery-tab"]
