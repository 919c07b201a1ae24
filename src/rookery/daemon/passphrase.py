"""Hashing of the passphrase: salted, and slow to brute-force."""

import hashlib
import hmac
import os

SHORTEST = 8
_COST = {"n": 2**15, "r": 8, "p": 1, "maxmem": 64 * 1024 * 1024, "dklen": 32}


def hashed(secret: str) -> str:
    salt = os.urandom(16)
    return f"scrypt${salt.hex()}${_derived(secret, salt).hex()}"


def fits(secret: str, kept: str) -> bool:
    """Tell whether the passphrase matches the stored hash. Takes about 0.1 s for any input."""
    _, salt, digest = kept.split("$")
    return hmac.compare_digest(_derived(secret, bytes.fromhex(salt)), bytes.fromhex(digest))


def _derived(secret: str, salt: bytes) -> bytes:
    return hashlib.scrypt(secret.encode("utf-8", "surrogatepass"), salt=salt, **_COST)
