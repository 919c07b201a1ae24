"""Keys for Web Push, on the curve P-256, in base64url as browsers encode them."""

import base64
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import (
        EllipticCurvePrivateKey,
        EllipticCurvePublicKey,
    )


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode(text: str) -> bytes:
    """Decode base64url. Raises ValueError."""
    bare = text.rstrip("=")
    return base64.b64decode(bare + "=" * (-len(bare) % 4), b"-_", validate=True)


def new_key() -> str:
    from cryptography.hazmat.primitives.asymmetric import ec

    number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
    return encode(number.to_bytes(32, "big"))


def is_key(text: str) -> bool:
    try:
        private_key(text)
    except ValueError:
        return False
    return True


def private_key(text: str) -> "EllipticCurvePrivateKey":
    """Parse a private key. Raises ValueError."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.derive_private_key(int.from_bytes(decode(text), "big"), ec.SECP256R1())


def public_key(text: str) -> "EllipticCurvePublicKey":
    """Parse a public key. Raises ValueError."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(text))


def point(key: "EllipticCurvePublicKey") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def shown_key(private: str) -> str:
    """Return the public key that a browser needs to subscribe."""
    return encode(point(private_key(private).public_key()))
