"""Verify the signatures of a browser's WebCrypto: ECDSA on the curve P-256 with SHA-256.

It is pure Python, since it is needed once per page and the extra with `cryptography` may not be
installed. It handles no secret, so its timing does not matter; a check takes about 3 ms."""

from hashlib import sha256

KEY_BYTES, SIGNATURE_BYTES = 65, 64
P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)

type Point = tuple[int, int]
type Jacobian = tuple[int, int, int]
"""x/z², y/z³; z is 0 at infinity."""
INFINITY: Jacobian = (1, 1, 0)


def is_key(key: bytes) -> bool:
    """Tell whether this is a public key as WebCrypto exports it (`raw`)."""
    if len(key) != KEY_BYTES or key[0] != 4:
        return False
    x, y = _point(key)
    return x < P and y < P and (y * y - (x * x - 3) * x - B) % P == 0


def verifies(key: bytes, signature: bytes, message: bytes) -> bool:
    """Tell whether the signature is valid. `key` must be a valid key; `signature` may be
    anything."""
    if len(signature) != SIGNATURE_BYTES:
        return False
    r, s = int.from_bytes(signature[:32]), int.from_bytes(signature[32:])
    if not (0 < r < N and 0 < s < N):
        return False
    inverse = pow(s, -1, N)
    digest = int.from_bytes(sha256(message).digest())
    x, _, z = _sum_of_multiples(digest * inverse % N, r * inverse % N, _point(key))
    return z != 0 and x * pow(z, -2, P) % P % N == r


def _point(key: bytes) -> Point:
    return int.from_bytes(key[1:33]), int.from_bytes(key[33:])


def _sum_of_multiples(of_g: int, of_q: int, q: Point) -> Jacobian:
    """Return of_g·G + of_q·Q, computing both products together bit by bit."""
    both = _plain(_add((*G, 1), q))
    total = INFINITY
    for bit in range(255, -1, -1):
        total = _double(total)
        has_g, has_q = of_g >> bit & 1, of_q >> bit & 1
        if has_g and has_q:
            total = _add(total, both) if both else total
        elif has_g or has_q:
            total = _add(total, G if has_g else q)
    return total


def _plain(point: Jacobian) -> Point | None:
    x, y, z = point
    if z == 0:
        return None
    return x * pow(z, -2, P) % P, y * pow(z, -3, P) % P


def _double(point: Jacobian) -> Jacobian:
    x, y, z = point
    if z == 0 or y == 0:
        return INFINITY
    square = y * y % P
    s = 4 * x * square % P
    zz = z * z % P
    slope = 3 * (x - zz) * (x + zz) % P
    doubled = (slope * slope - 2 * s) % P
    return doubled, (slope * (s - doubled) - 8 * square * square) % P, 2 * y * z % P


def _add(one: Jacobian, other: Point) -> Jacobian:
    x, y, z = one
    if z == 0:
        return (*other, 1)
    zz = z * z % P
    across = (other[0] * zz - x) % P
    up = (other[1] * zz * z - y) % P
    if across == 0:
        return INFINITY if up else _double(one)
    square = across * across % P
    cube = square * across % P
    base = x * square % P
    new_x = (up * up - cube - 2 * base) % P
    return new_x, (up * (base - new_x) - y * cube) % P, z * across % P
